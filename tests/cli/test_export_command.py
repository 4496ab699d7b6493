"""`recollect export`: the command line of exports."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from tests.running import Ran, run, tree_state

from recollect.export.formats import FORMATS
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.export_contract import build_export_home
from recollect.testing.toolcalls import bash

SECRET = "AKIA" + "Q3EGTZ2NV5KXW7RB"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    for number in (1, 2):
        session = builder.session(f"/w/app{number}", session_id=uuid_from("cli", number))
        session.user(f"Question {number}")
        session.call(bash("env", f"AWS_ACCESS_KEY_ID={SECRET}"))
        session.assistant(f"Answer {number}")
    return builder.write()


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


Capture = pytest.CaptureFixture[str]


def export(capsys: Capture, home: Path, *arguments: str) -> Ran:
    return run(capsys, home, "export", *arguments)


def test_a_file_and_what_is_told(home: Path, out: Path, capsys: Capture) -> None:
    ran = export(capsys, home, uuid_from("cli", 1), "--depth", "conversation", "-o", "talk.md")
    assert ran.code == 0
    assert ran.out == f"{out / 'talk.md'}\n"
    assert "1 session, 2 messages" in ran.err
    assert "left out: 1 tool call" in ran.err
    assert "redact" in ran.err
    assert "Left out" in (out / "talk.md").read_text()


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_changes_nothing_in_the_home(home: Path, out: Path, capsys: Capture, name: str) -> None:
    before = tree_state(home)
    assert export(capsys, home, uuid_from("cli", 1), "--format", name, "-o", f"talk.{name}").code == 0
    assert tree_state(home) == before


def test_json(home: Path, out: Path, capsys: Capture) -> None:
    data = export(capsys, home, uuid_from("cli", 1), "-o", "talk.md", "--json").data
    assert {"files", "bytes", "messages", "redacted", "left_out"} <= set(data)
    assert data["files"] == [str(out / "talk.md")]
    assert data["redacted"]["kinds"] == {"aws-access-key-id": 1}
    assert data["messages"] == 3


def test_stdout(home: Path, out: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    ran = export(capsys, home, uuid_from("cli", 1), "--depth", "conversation", "--last", "1", "-o", "-")
    assert ran.code == 0
    assert "Answer 1" in stream.buffer.getvalue().decode()
    assert list(out.iterdir()) == []


def test_redact_alone_takes_no_session_for_its_value(home: Path, out: Path, capsys: Capture) -> None:
    data = export(capsys, home, "--redact", uuid_from("cli", 1), "-o", "a.json", "--json").data
    assert data["redacted"]["profile"] == "personal"
    assert SECRET not in (out / "a.json").read_text()
    data = export(capsys, home, "--redact=all", uuid_from("cli", 1), "-o", "b.md", "--json").data
    assert data["redacted"]["profile"] == "all"
    data = export(capsys, home, "--no-redact", uuid_from("cli", 1), "-o", "c.md", "--json").data
    assert data["redacted"] is None
    assert SECRET in (out / "c.md").read_text()


def test_json_is_exported_with_a_warning(home: Path, out: Path, capsys: Capture) -> None:
    ran = export(capsys, home, uuid_from("cli", 1), "-f", "json")
    assert "note: json is the session as it is" in ran.err
    assert export(capsys, home, uuid_from("cli", 1), "-f", "json", "--no-redact").err.count("note:") == 0


def test_everything_into_a_folder(home: Path, out: Path, capsys: Capture) -> None:
    ran = export(capsys, home, "--all", "--into", "notes", "--front-matter")
    assert ran.code == 0
    assert len(list((out / "notes").glob("*.md"))) == 2
    assert "2 unchanged" in export(capsys, home, "--all", "--into", "notes", "--front-matter").err
    ran = export(capsys, home, "--project", "/w/app1", "--into", "one", "--json")
    assert ran.data["sessions"] == 1
    assert export(capsys, home, "--project", "/nowhere", "--into", "none").code == 3


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("last", "--all"), ("last", "-o", "a.md", "--into", "b"), ("last", "--redact", "--no-redact"),
        ("last", "-o", "-", "--json"), ("last", "--site", "x", "--format", "md"), ("last", "--depth", "deep"),
    ],
)  # fmt: skip
def test_usage(home: Path, out: Path, capsys: Capture, arguments: tuple[str, ...]) -> None:
    assert export(capsys, home, *arguments).code == 2
    assert list(out.iterdir()) == []


def test_refusals_have_their_exit_codes(home: Path, out: Path, capsys: Capture) -> None:
    (out / "mine.md").write_text("mine")
    ran = export(capsys, home, uuid_from("cli", 1), "-o", "mine.md")
    assert ran.code == 6
    assert "[exists]" in ran.err
    assert "hint: --force" in ran.err
    assert export(capsys, home, uuid_from("cli", 1), "-o", str(home / "a.md")).code == 6
    assert export(capsys, home, "no such session", "-o", "b.md").code == 3
    assert export(capsys, home, uuid_from("cli", 1), "--message", "ffffffff", "-o", "b.md").code == 3
    assert export(capsys, home, uuid_from("cli", 1), "--tz", "Mars/Base", "-o", "b.md").code == 7


def test_the_command_for_a_gist_is_only_printed(home: Path, out: Path, capsys: Capture) -> None:
    ran = export(capsys, home, uuid_from("cli", 1), "--gist", "-o", "my talk.md")
    assert ran.out.splitlines()[1] == f"gh gist create '{out / 'my talk.md'}'"


def test_times_are_those_of_the_zone(home: Path, out: Path, capsys: Capture) -> None:
    export(capsys, home, uuid_from("cli", 1), "-o", "utc.md")
    export(capsys, home, uuid_from("cli", 1), "-o", "tokyo.md", "--tz", "Asia/Tokyo")
    utc, tokyo = ((out / name).read_text() for name in ("utc.md", "tokyo.md"))
    assert "| times | `UTC` |" in utc
    assert "| times | `Asia/Tokyo` |" in tokyo
    assert utc.splitlines()[6] != tokyo.splitlines()[6]


def test_every_damaged_session_is_exported(tmp_path: Path, out: Path, capsys: Capture) -> None:
    home = build_export_home(tmp_path / "rich")
    for name in ("md", "jsonl"):
        ran = export(capsys, home, "--all", "--into", name, "-f", name, "--json")
        assert ran.code == 0, ran.err
        assert ran.data["sessions"] > 40
        assert json.loads((out / name / ".recollect-export.json").read_text())["recollect_export_folder"] == 1
