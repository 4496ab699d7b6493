"""`recollect fork`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder, TranscriptBuilder


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude")


@pytest.fixture
def t(builder: HomeBuilder) -> TranscriptBuilder:
    t = builder.session("/w/app")
    t.user("one")
    first = t.assistant("two")
    t.user("three")
    t.assistant("four")
    t.rewind(first)
    t.user("five")
    t.assistant("six")
    return t


def said(capsys: pytest.CaptureFixture[str], root: Path, session: str) -> list[str]:
    return [message["text"] for message in run(capsys, root, "show", session, "--json").data["rows"]]


def test_the_new_id_is_printed(builder: HomeBuilder, t: TranscriptBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    root = builder.write()
    done = run(capsys, root, "fork", t.session_id)
    assert done.code == 0
    session = done.out.strip()
    assert (builder.session_path(t).parent / f"{session}.jsonl").exists()
    assert "undo 1" in done.err
    assert "4 messages" in done.err
    assert run(capsys, root, "undo").code == 0
    assert run(capsys, root, "thread", session).code == 3


def test_json(builder: HomeBuilder, t: TranscriptBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    root = builder.write()
    at = t.thread[2]
    data = run(capsys, root, "fork", t.session_id, "--at", at[:10], "--title", "Other", "--json").data
    assert (data["from"], data["at"], data["title"], data["rows"]) == (t.session_id, at, "Other", 3)
    assert data["left_out"]["rows"] == 3
    assert data["path"].endswith(f"{data['session_id']}.jsonl")
    assert (data["subagents"], data["tool_results"], data["file_backups"]) == ([], 0, 0)
    assert (data["change"], data["dry_run"]) == (1, False)
    assert run(capsys, root, "thread", data["session_id"]).out.split()[-1] == data["leaf"]


def test_a_branch_with_kept_uuids(
    builder: HomeBuilder, t: TranscriptBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    root = builder.write()
    session = run(capsys, root, "fork", t.session_id, "--branch", "1", "--keep-uuids").out.strip()
    assert run(capsys, root, "thread", session).out.split() == t.row_uuids[:4]


def test_a_dry_run_shows_the_plan_alone(
    builder: HomeBuilder, t: TranscriptBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    root = builder.write()
    before = tree_state(root)
    done = run(capsys, root, "fork", t.session_id, "--dry-run")
    assert done.code == 0
    assert done.out.startswith(f"would: Fork {t.session_id}")
    assert tree_state(root) == before
    assert run(capsys, root, "changes", "--json").data["rows"] == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--at", "nowhere"], 3),
        (["--branch", "7"], 3),
        (["--branch", "0"], 2),
        (["--at", "x", "--branch", "1"], 2),
        (["--title", " "], 6),
    ],
)
def test_what_cannot_be_done(
    arguments: list[str], code: int, builder: HomeBuilder, t: TranscriptBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    root = builder.write()
    before = tree_state(root)
    assert run(capsys, root, "fork", t.session_id, *arguments).code == code
    assert tree_state(root) == before


def test_damage_is_told(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/app")
    t.user("one")
    t.raw(b"broken")
    done = run(
        capsys, builder.write(), "fork", t.session_id, "--no-subagents", "--no-tool-results", "--no-file-history"
    )
    assert "left out: 1 damaged line" in done.err
