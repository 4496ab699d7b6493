"""`recollect search`: what is printed, what leads on from there, and how little a search imports."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.index.search_scene import build_home, session
from tests.running import run, tree_state

from recollect.cli.main import main
from recollect.testing import HomeBuilder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = build_home(tmp_path / "claude").write()
    for folder, _, _ in os.walk(root):
        os.utime(folder, (1_700_000_000, 1_700_000_000))  # long ago, so that a search relies on their times
    return root


def test_text(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    ran = run(capsys, home, "search", "firewall")
    assert ran.code == 0
    heading, place, snippet = ran.out.splitlines()
    assert heading.split("  ")[0] == "10000000"
    assert heading.endswith("  w/app  Database trouble")
    assert "--line" in place
    assert "assistant" in place
    assert "«firewall»" in snippet
    assert ran.err == "1 match; 1 session shown\n"


def test_the_command_of_a_hit_shows_it(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    for words in ("connection", "giraffe", "badger", "trouble"):
        data = run(capsys, home, "search", words, "--json").data
        hits = [hit for row in data["rows"] for hit in row["hits"]]
        assert hits
        for hit in hits:
            command = shlex.split(hit["command"])
            assert command[0] == "recollect"
            ran = run(capsys, None, *command[1:], "--thinking", "--tools", "full", "--json")
            assert ran.code == 0, hit
            first = ran.data["rows"][0]
            if hit["uuid"] is not None:
                assert hit["uuid"] in first["uuids"]
                assert hit["line"] in first["lines"]


def test_json(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    data = run(capsys, home, "search", '"connection refused"', "--facets", "--json").data
    assert (data["total"], data["exact"], data["more"], data["mode"]) == (1, True, False, "words")
    (row,) = data["rows"]
    assert row["session_id"] == session(1)
    assert row["project"] == "/w/app"
    (hit,) = row["hits"]
    start, end = hit["marks"][0]
    assert hit["snippet"][start:end] == "connection refused"
    assert data["facets"]["projects"] == {"/w/app": 1}


def test_jsonl(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    ran = run(capsys, home, "search", "connection", "--sort", "date", "--jsonl")
    assert [json.loads(line)["session_id"][0] for line in ran.out.splitlines()] == ["3", "2", "1"]


def test_a_word_with_a_minus_is_no_option(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    data = run(capsys, home, "search", "connection", "-refused", "--json").data
    assert [row["session_id"][0] for row in data["rows"]] == ["2"]
    data = run(capsys, home, "search", "connection", "-project:app", "--json").data
    assert [row["session_id"][0] for row in data["rows"]] == ["3"]
    assert run(capsys, home, "search", "-h").out.startswith("Usage:")
    assert run(capsys, home, "search", "--limit", "1", "-h").out.startswith("Usage:")
    assert run(capsys, home, "search", "--no-such-option").code == 2


def test_a_pasted_command_line_is_text(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    ran = run(capsys, home, "search", "pytest", "-x", "--json")
    assert [hit["role"] for row in ran.data["rows"] for hit in row["hits"]] == ["assistant"]
    assert ran.data["excluded"] == []
    assert "-x was looked for as text" in ran.err
    assert "-h was looked for as text" in run(capsys, home, "search", "df", "-h").err


@pytest.mark.parametrize("slow", [(), ("--everything",)])
def test_what_is_left_out_is_said(capsys: pytest.CaptureFixture[str], home: Path, slow: tuple[str, ...]) -> None:
    ran = run(capsys, home, "search", "connection", "-refused", *slow, "--json")
    assert ran.data["excluded"] == ["-refused"]
    note = 'left out what fits refused; to find -refused itself: "connection -refused"'
    assert note in ran.data["notes"]
    assert ran.err.splitlines().count(note) == 1
    ran = run(capsys, home, "search", "--substring", "connection", "--where", "-project:site", "--json")
    assert ran.data["excluded"] == ["-project:site"]
    assert "left out what fits project:site" in ran.err


def test_nothing_found(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    ran = run(capsys, home, "search", "firewal")
    assert ran.code == 1
    assert ran.out == ""
    assert ran.err == "nothing found\nno entry has the word 'firewal'; there is firewall\n"
    assert run(capsys, home, "search", "connection", "--offset", "50").err == "no more\n"


def test_a_mistake(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    ran = run(capsys, home, "search", 'cats "dogs')
    assert ran.code == 7
    assert ran.err.splitlines() == [
        "recollect: cannot understand the query",
        '  cats "dogs',
        "       ^",
        "this quotation mark is never closed (at character 6) [bad-query]",
        'hint: for example: "dogs"',
    ]
    ran = run(capsys, home, "search", "role:robot", "--json")
    assert json.loads(ran.err)["error"]["place"] == [5, 10]


@pytest.mark.parametrize(
    ("arguments", "says", "found"),
    [
        (["--substring", "irewal"], "--substring reads every text", "1"),
        (["--regex", "f.rewall"], "--regex reads every text", "1"),
        (["--everything", "walrus"], "--everything reads all files", "3"),
        (["--substring", "--everything", "alrus"], "--everything reads all files", "3"),
        (["--substring", "connection", "--where", "project:site"], "--substring reads every text", "3"),
    ],
)
def test_slow_modes_say_so(
    capsys: pytest.CaptureFixture[str], home: Path, arguments: list[str], says: str, found: str
) -> None:
    ran = run(capsys, home, "search", *arguments)
    assert ran.code == 0
    assert says in ran.err.splitlines()[0]
    assert ran.out.startswith(found)


def test_modes_that_exclude_each_other(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert run(capsys, home, "search", "--substring", "--regex", "x").code == 2
    assert run(capsys, home, "search", "--substring", "--facets", "x").code == 2


def test_filters_in_where_hold_for_all_alternatives(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    data = run(capsys, home, "search", "firewall OR badger", "--where", "project:site", "--json").data
    assert [row["session_id"][0] for row in data["rows"]] == ["3"]


def test_nothing_dangerous_reaches_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    made = builder.session("/w/\x1b]0;x\x07app")
    made.user("before \x1b]52;c;aGk=\x07 \x1b[31mred\x1b[0m needle \u202e after \x9b1m")
    made.title("title \x1b[2J")
    ran = run(capsys, builder.write(), "search", "needle")
    assert ran.code == 0
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", ran.out) is None
    assert "«needle»" in ran.out


def test_an_empty_home(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    ran = run(capsys, tmp_path / "claude", "search", "anything")
    assert ran.code == 1
    assert ran.err.startswith("nothing found")


def test_what_was_added_is_found_at_once(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert run(capsys, home, "search", "armadillo").code == 1
    path = home / "projects" / "-w-app" / f"{session(1)}.jsonl"
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "An armadillo!"}}
    with path.open("ab") as stream:
        stream.write(json.dumps(line).encode() + b"\n")
    assert run(capsys, home, "search", "armadillo").code == 0
    path.unlink()
    assert run(capsys, home, "search", "armadillo").code == 1


def test_searching_changes_nothing_in_the_home(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    before = tree_state(home)
    run(capsys, home, "search", "connection")
    run(capsys, home, "search", "--regex", "connection")
    assert tree_state(home) == before


class TestWarmStart:
    """A search over an index that is up to date, or should be."""

    def test_a_status_that_is_not_known_yet_is_found_out(self, capsys: pytest.CaptureFixture[str], home: Path) -> None:
        assert main(["--home", str(home), "search", "connection"]) == 0
        path = home / "projects" / "-w-app" / f"{session(1)}.jsonl"
        line = {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "message": {"role": "user", "content": "An armadillo!"},
        }
        with path.open("ab") as stream:
            stream.write(json.dumps(line).encode() + b"\n")
        for words in ("armadillo", "armadillo -status:subagent"):
            (row,) = run(capsys, home, "search", words, "--json").data["rows"]
            assert row["session_id"] == session(1)

    @pytest.mark.parametrize("damage", ["catalogue", "words gone", "words broken"])
    def test_a_broken_index_is_made_anew(
        self, capsys: pytest.CaptureFixture[str], home: Path, own_home: Path, damage: str
    ) -> None:
        expected = run(capsys, home, "search", "connection", "--json").data["total"]
        index = own_home / "recollect" / "cache" / "index"
        if damage == "catalogue":
            for name in ("catalogue.sqlite-wal", "catalogue.sqlite-shm"):
                (index / name).unlink(missing_ok=True)
            (index / "catalogue.sqlite").write_bytes(b"this is no database, but it is long enough to look at" * 100)
        else:
            for path in (index / "words").iterdir():
                if damage == "words gone" or path.name == "meta.json":
                    path.unlink()
            if damage == "words broken":
                (index / "words" / "meta.json").write_bytes(b"{")
        assert run(capsys, home, "search", "connection", "--json").data["total"] == expected > 0

    def test_it_imports_nothing_that_reads_or_writes_transcripts(self, home: Path) -> None:
        """What is imported is most of the time that a search takes."""
        command = [sys.executable, "-m", "recollect", "--home", str(home), "search", "connection"]
        subprocess.run(command, check=True, capture_output=True)
        ran = subprocess.run(
            [command[0], "-X", "importtime", *command[1:]], check=True, capture_output=True, text=True, encoding="utf-8"
        )
        modules = {
            line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time")
        }
        assert "recollect.index.search.search" in modules
        heavy = {"msgspec", "rich", "platformdirs", "tempfile", "difflib", "zoneinfo", "asyncio"}
        rooms = tuple(
            f"recollect.{room}." for room in ("graph", "journal", "edit", "check", "watch", "vault", "analysis")
        )
        assert sorted(name for name in modules if name in heavy or name.startswith(rooms)) == []
