"""Files that come back into a home: what stands there and is not older stays, and one undo takes all of it back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.edit.restore_files import FileToRestore, RestoreResult, plan_restore
from recollect.errors import DamagedData, Refused
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.testing import HomeBuilder

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
PATH = f"projects/-w-app/{SESSION}.jsonl"
DATA = b'{"type":"user"}\n{"type":"assistant"}\n'
THEN = 1_772_442_000_000_000_000


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    return Home(tmp_path / "claude")


def item(path: str = PATH, data: bytes = DATA, mtime_ns: int = THEN) -> FileToRestore:
    return FileToRestore(path, len(data), mtime_ns, lambda: iter([data[:10], data[10:]]))


def restore(home: Home, *items: FileToRestore) -> RestoreResult:
    journal = Journal(home.root.parent / "data")
    change, result = plan_restore(journal, home, items, title="Restore")
    with change:
        if result.files:
            change.commit()
    return result


def stands(home: Home, data: bytes, mtime_ns: int, path: str = PATH) -> Path:
    target = home.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    os.utime(target, ns=(mtime_ns, mtime_ns))
    return target


def test_a_lost_file_comes_back_with_its_time_and_goes_by_undo(home: Home) -> None:
    result = restore(home, item())
    target = home.root / PATH
    assert target.read_bytes() == DATA and target.stat().st_mtime_ns == THEN
    assert (result.files, result.bytes, result.as_dict()["left"]) == ([PATH], len(DATA), [])
    journal = Journal(home.root.parent / "data")
    journal.undo(journal.record(), home)
    assert not target.exists()


def test_an_older_file_is_replaced(home: Home) -> None:
    target = stands(home, b"old\n", THEN - 1)
    assert restore(home, item()).files == [PATH] and target.read_bytes() == DATA


@pytest.mark.parametrize(
    ("data", "age", "path", "why"),
    [
        (DATA, 0, PATH, None),
        (DATA + b"more\n", 5, PATH, "has grown since"),
        (b"other, and at least as long as it\n\n\n\n\n\n", 5, PATH, "a newer one stands there"),
        (b"short", 0, PATH, "a newer one stands there"),
        (b"{}\n", -5, "history.jsonl", "another one stands there"),
    ],
)
def test_what_stands_there_stays(home: Home, data: bytes, age: int, path: str, why: str | None) -> None:
    target = stands(home, data, THEN + age, path)
    result = restore(home, item(path))
    assert target.read_bytes() == data and result.files == []
    assert (result.same, result.left) == ((1, []) if why is None else (0, [{"path": path, "why": why}]))


def test_places_that_are_not_for_files_of_sessions(home: Home) -> None:
    (home.root / PATH).mkdir(parents=True)
    stands(home, b"a file", THEN, "projects/-w-file")
    wrong = ["../outside.jsonl", ".credentials.json", PATH, f"projects/-w-file/{SESSION}.jsonl"]
    result = restore(home, *(item(path) for path in wrong))
    whys = [left["why"] for left in result.left]
    assert whys[:3] == ["is not a place for a file of a session"] * 2 + ["something else stands there"]
    assert whys[3].endswith("-w-file is not a folder") and result.files == []


def test_a_damaged_copy_is_left_out_and_the_rest_comes_back(home: Home) -> None:
    def torn() -> Iterator[bytes]:
        yield DATA[:5]
        raise DamagedData("a block is lost", slug="vault-damaged")

    other = f"projects/-w-app/{SESSION}/tool-results/1.txt"
    result = restore(home, FileToRestore(PATH, 9, THEN, torn), item(other))
    assert result.damaged == [{"path": PATH, "why": "a block is lost"}] and result.files == [other]
    assert not (home.root / PATH).exists()


def test_a_session_in_use_is_not_written_over(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    t = builder.session("/w/app")
    t.user("Hello")
    builder.running(os.getpid(), t.session_id, t.cwd)
    home = Home(builder.write())
    path = next(home.projects.glob("*/*.jsonl"))
    result = restore(home, item(str(path.relative_to(home.root)), mtime_ns=path.stat().st_mtime_ns + 1))
    assert [left["why"] for left in result.left] == ["its session is in use"]


def test_an_error_while_planning_leaves_nothing_behind(home: Home) -> None:
    def refused() -> Iterator[bytes]:
        raise Refused("not now", slug="not-now")
        yield b""

    with pytest.raises(Refused):
        restore(home, item(), FileToRestore("history.jsonl", 1, THEN, refused))
    assert not (home.root / PATH).exists()
