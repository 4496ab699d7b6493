"""A journal that lost something: an undo brings back what was there, or nothing at all, and says which of the two."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.running import Ran, run, tree_state

from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"

Change = Callable[[pytest.CaptureFixture[str], Path], str]
Harm = Callable[[Path], None]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("one")
    t.assistant("two")
    helper = t.subagent("look")
    helper.user("what is there?")
    helper.finish("nothing")
    builder.history("one", project="/w/app", session_id=S)
    builder.file(f"todos/{S}-agent-{S}.json", b'[{"content":"a","status":"pending","id":"1"}]')
    return builder.write()


def data_folder() -> Path:
    return Path(os.environ["RECOLLECT_DATA_DIR"])


def kept_in_journal(name: str) -> Path:
    return next((data_folder() / "changes").glob(f"*/{name}"))


def file_in(copy: Path) -> Path:
    return next(path for path in copy.rglob("*.jsonl")) if copy.is_dir() else copy


def refused(capsys: pytest.CaptureFixture[str], root: Path) -> Ran:
    """What an undo answers that changes nothing, with and without --dry-run."""
    before = tree_state(root)
    plan, done = run(capsys, root, "undo", "--dry-run"), run(capsys, root, "undo")
    assert tree_state(root) == before
    assert plan == done
    return done


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def touched(path: Path) -> None:
    """Other bytes of the same length: only the time tells."""
    path.write_bytes(path.read_bytes()[::-1])


def replace_a_file(capsys: pytest.CaptureFixture[str], root: Path) -> str:
    assert run(capsys, root, "move", "/w/app", "/w/new", "--yes").code == 0
    return "old-*"


def remove_a_file(capsys: pytest.CaptureFixture[str], root: Path) -> str:
    assert run(capsys, root, "delete", S, "--yes").code == 0
    return next(path for path in kept_in_journal("done").parent.glob("removed-*") if path.is_file()).name


def remove_a_folder(capsys: pytest.CaptureFixture[str], root: Path) -> str:
    assert run(capsys, root, "delete", S, "--yes").code == 0
    return next(path for path in kept_in_journal("done").parent.glob("removed-*") if path.is_dir()).name


def append(capsys: pytest.CaptureFixture[str], root: Path) -> str:
    assert run(capsys, root, "rename", S, "Here").code == 0
    return "append-0"


@pytest.mark.parametrize("harm", [os.unlink, cut, touched], ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("change", [replace_a_file, remove_a_file, remove_a_folder], ids=lambda change: change.__name__)
def test_a_copy_that_is_not_what_was_there_is_not_brought_back(
    change: Change, harm: Harm, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harm(file_in(kept_in_journal(change(capsys, root))))
    told = refused(capsys, root)
    assert told.code == 4
    assert "the journal" in told.err and "nothing was changed" in told.err and "somebody else" not in told.err


@pytest.mark.parametrize("harm", [os.unlink, cut], ids=lambda harm: harm.__name__)
def test_bytes_that_were_appended(harm: Harm, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harm(kept_in_journal(append(capsys, root)))
    told = refused(capsys, root)
    assert told.code == 4
    assert "append-0" in told.err and "nothing was changed" in told.err and "cannot write" not in told.err


@pytest.mark.parametrize(("harm", "code"), [(os.unlink, 6), (cut, 4)], ids=["unlink", "cut"])
def test_the_note_of_a_writer(harm: Harm, code: int, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, root, "append", S, "--role", "user", "three")
    harm(kept_in_journal("grown.json"))
    told = refused(capsys, root)
    assert told.code == code
    assert "grown.json" in told.err and "nothing was changed" in told.err and "somebody else" not in told.err


def test_a_journal_that_is_no_folder(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data_folder().mkdir(parents=True)
    (data_folder() / "changes").write_bytes(b"")
    for command in (("changes",), ("undo",)):
        told = run(capsys, root, *command)
        assert told.code == 4
        assert str(data_folder() / "changes") in told.err and "a bug" not in told.err
