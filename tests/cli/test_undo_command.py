"""`recollect undo` and `recollect changes`: of the homes that are open, with a plan, and not under somebody's hands."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"

FOREIGN = b'{"type":"tag","tag":"x","sessionId":"%s"}\n' % S.encode()


def build(root: Path) -> Path:
    builder = HomeBuilder(root, version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("one")
    t.assistant("two")
    return builder.write()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "claude")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return build(tmp_path / "other")


def transcript(root: Path) -> Path:
    return next(root.glob(f"projects/*/{S}.jsonl"))


def write_as_somebody_else(root: Path, seconds_ago: float = 0.0) -> None:
    with transcript(root).open("ab") as stream:
        stream.write(FOREIGN)
    moment = time.time() - seconds_ago
    os.utime(transcript(root), (moment, moment))


class TestHomes:
    def test_undo_takes_the_newest_change_of_its_home(
        self, root: Path, other: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = tree_state(other)
        run(capsys, other, "rename", S, "There")
        run(capsys, root, "rename", S, "Here")
        changed = tree_state(root)
        assert run(capsys, other, "undo").code == 0
        assert tree_state(other) == before
        assert tree_state(root) == changed
        assert run(capsys, other, "undo").code == 3

    def test_a_change_of_another_home_is_refused_and_the_home_named(
        self, root: Path, other: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        number = str(run(capsys, root, "rename", S, "Here", "--json").data["change"])
        changed = tree_state(root)
        refused = run(capsys, other, "undo", number)
        assert refused.code == 6
        assert f"recollect --home {root} undo {number}" in refused.err
        assert tree_state(root) == changed

    def test_changes_of_the_open_homes_or_of_all(
        self, root: Path, other: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run(capsys, root, "rename", S, "Here")
        run(capsys, other, "rename", S, "There")
        rows = run(capsys, root, "changes", "--json").data["rows"]
        assert [row["home"] for row in rows] == [str(root)]
        shown = run(capsys, root, "changes").out
        assert shown.split()[:4] == ["number", "time", "state", "title"]
        everything = run(capsys, root, "changes", "--all-homes")
        assert str(root) in everything.out and str(other) in everything.out
        both = run(capsys, root, "--home", str(other), "changes").out
        assert str(root) in both and str(other) in both

    def test_what_is_said_to_type_undoes_it(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        before = tree_state(root)
        told = run(capsys, root, "rename", S, "Here").err
        command = told.split("`")[1].split()
        assert command[0] == "recollect"
        assert run(capsys, None, *command[1:]).code == 0
        assert tree_state(root) == before

    def test_a_usual_home_needs_no_name(self, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        build(own_home / ".claude")
        told = run(capsys, None, "rename", S, "Here")
        assert told.err == "change 1; `recollect undo 1` takes it back\n"


class TestDryRun:
    def test_it_names_every_step(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        size = transcript(root).stat().st_size
        run(capsys, root, "append", S, "--role", "user", "three")
        changed = tree_state(root)
        plan = run(capsys, root, "undo", "--dry-run")
        assert plan.out.splitlines()[1:] == [f"  cut {transcript(root)} to its {size:,} bytes before"]
        assert tree_state(root) == changed

    def test_steps_of_all_kinds_are_told_backwards(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = transcript(root)
        run(capsys, root, "todo", S, "add", "Write it")
        steps = run(capsys, root, "undo", "--dry-run", "--json").data["steps"]
        tasks = root / "tasks"
        assert steps == [
            f"remove {tasks / S / '.highwatermark'}",
            f"remove {tasks / S / '1.json'}",
            f"remove folder {tasks / S} if it is empty",
            f"remove folder {tasks} if it is empty",
        ]
        run(capsys, root, "delete", S, "--yes")
        assert f"bring {path} back" in run(capsys, root, "undo", "--dry-run", "--json").data["steps"]

    def test_what_cannot_be_undone_is_said_at_once(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(capsys, root, "rename", S, "Here")
        write_as_somebody_else(root)
        refused = run(capsys, root, "undo", "--dry-run")
        assert refused.code == 6
        assert refused.out == ""
        assert "somebody else wrote" in refused.err and "undo change" not in refused.err

    def test_the_hint_names_later_changes_where_there_are_some(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = run(capsys, root, "rename", S, "Here", "--json").data["change"]
        later = run(capsys, root, "tag", S, "x", "--json").data["change"]
        refused = run(capsys, root, "undo", str(first))
        assert refused.code == 6
        assert f"undo change {later} first" in refused.err


class TestSomebodyElseWroteJustNow:
    @pytest.mark.parametrize(
        "arguments", [("append", S, "--role", "user", "x"), ("rename", S, "Here"), ("tag", S, "y")], ids=lambda a: a[0]
    )
    def test_an_undo_waits(self, arguments: tuple[str, ...], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_as_somebody_else(root, 5)
        assert run(capsys, root, *arguments).code == 5
        assert run(capsys, root, *arguments, "--force").code == 0
        changed = tree_state(root)
        for more in ((), ("--dry-run",)):
            refused = run(capsys, root, "undo", *more)
            assert refused.code == 5
            assert "within the last minute" in refused.err and "try again" in refused.err
        assert tree_state(root) == changed

    def test_an_undo_does_not_wait_for_what_is_older(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_as_somebody_else(root, 70)
        before = tree_state(root)
        assert run(capsys, root, "append", S, "--role", "user", "x").code == 0
        assert run(capsys, root, "undo").code == 0
        assert tree_state(root) == before

    def test_nor_for_what_we_wrote(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        before = tree_state(root)
        run(capsys, root, "append", S, "--role", "user", "x")
        run(capsys, root, "append", S, "--role", "assistant", "y")
        assert run(capsys, root, "undo").code == 0
        assert run(capsys, root, "undo").code == 0
        assert tree_state(root) == before

    def test_a_session_that_went_on_at_its_new_place_is_not_moved_back(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run(capsys, root, "move", "/w/app", "/w/new", "--yes")
        write_as_somebody_else(root, 70)
        assert run(capsys, root, "undo").code == 6, "its last line is no longer the one that the move wrote"
        os.truncate(transcript(root), transcript(root).stat().st_size - len(FOREIGN))
        assert run(capsys, root, "undo").code == 5, "and somebody wrote just now"
