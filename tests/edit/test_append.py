"""A writer that stays open: what it appends is right whatever others do to the file, the lock or the process in between."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.append import SessionWriter
from recollect.errors import Refused, StoreBusy
from recollect.format.encode import RowContext, encode_line, row, user_message
from recollect.graph.thread import find_thread
from recollect.journal.changes import Journal
from recollect.journal.locks import LockFile
from recollect.store.home import Home
from recollect.store.read import read_transcript

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
CONTEXT = RowContext(SESSION, "/work/app")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "claude" / "projects" / "-work-app").mkdir(parents=True)
    return tmp_path


def writer_in(place: Path, *, lock_seconds: float = 10.0, sync: bool = False) -> SessionWriter:
    path = place / "claude" / "projects" / "-work-app" / f"{SESSION}.jsonl"
    journal = Journal(place / "data", lock_seconds=lock_seconds)
    return SessionWriter(journal, Home(place / "claude"), path, CONTEXT, sync=sync, force=True)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def foreign(parent: str | None, uuid: str = "11111111-1111-4111-8111-111111111111") -> bytes:
    return encode_line(row(CONTEXT, "user", uuid, parent, 4_000_000_000.0, user_message("not ours")))


def in_place(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def another_file(path: Path, change: Callable[[bytes], bytes]) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(change(path.read_bytes()))
    beside.replace(path)


@pytest.mark.parametrize("write", [in_place, another_file])
def test_what_somebody_else_wrote_is_hung_below(
    place: Path, write: Callable[[Path, Callable[[bytes], bytes]], None]
) -> None:
    with writer_in(place) as writer:
        first = writer.append_message("user", "one")
        writer.append_message("user", "two")
        write(writer.path, lambda old: old + foreign(writer.leaf))
        writer.append_message("user", "three")
        writer.append_message("user", "four")
    rows = rows_of(writer.path)
    assert [item["parentUuid"] for item in rows] == [None, *(item["uuid"] for item in rows[:-1])]
    assert rows[0]["uuid"] == first
    times = [item["timestamp"] for item in rows]
    assert times == sorted(set(times))


def test_a_line_that_was_taken_away_is_no_parent(place: Path) -> None:
    with writer_in(place) as writer:
        first = writer.append_message("user", "one")
        size = writer.path.stat().st_size
        writer.append_message("user", "two")
        os.truncate(writer.path, size)
        writer.append_message("user", "three")
    assert [item["parentUuid"] for item in rows_of(writer.path)] == [None, first]


def test_a_last_line_without_its_end_gets_one(place: Path) -> None:
    with writer_in(place) as writer:
        writer.append_message("user", "one")
        leaf = writer.append_message("user", "two")
        in_place(writer.path, lambda old: old + b'{"type":"user","torn')
        writer.append_message("user", "three")
    lines = writer.path.read_bytes().splitlines()
    assert lines[2] == b'{"type":"user","torn'
    assert json.loads(lines[3])["parentUuid"] == leaf


def test_a_file_that_is_gone_is_not_made_again(place: Path) -> None:
    with pytest.raises(StoreBusy) as caught, writer_in(place) as writer:
        writer.append_message("user", "one")
        writer.append_message("user", "two")
        writer.path.rename(place / "elsewhere.jsonl")
        writer.append_message("user", "three")
    assert caught.value.slug == "changed-meanwhile"
    assert not writer.path.exists()
    assert len(rows_of(place / "elsewhere.jsonl")) == 2


def test_entries_between_messages(place: Path) -> None:
    with writer_in(place) as writer:
        first = writer.append_message("user", "one")
        writer.append_entry({"type": "custom-title", "customTitle": "T", "sessionId": SESSION})
        second = writer.append_message("user", "two")
        writer.append_entry(json.loads(foreign(second)))
        writer.append_message("assistant", "three")
    rows = rows_of(writer.path)
    assert [item.get("parentUuid") for item in rows] == [None, None, first, second, rows[3]["uuid"]]
    assert rows[1]["customTitle"] == "T"


def test_behind_a_rewind_to_one_of_two_results_the_next_message_is_found(place: Path) -> None:
    """The other result is put back behind the checkpoint's row, but is no descendant of it."""
    with writer_in(place) as writer:
        writer.append_message("user", "start")
        blocks = [{"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {}} for n in (1, 2)]
        call = writer.append_message("assistant", blocks)
        first, _ = (writer.append_message("user", [_result(n)], parent=call) for n in (1, 2))
        writer.append_message("assistant", "seen")
        writer.append_entry({"type": "last-prompt", "sessionId": SESSION, "leafUuid": first, "explicit": True})
    with writer_in(place) as writer:
        written = writer.append_message("user", "SEE ME")
    sent = find_thread(read_transcript(writer.path, writer.home)).sent
    assert sent[-1].uuid == written
    assert {ident for row in sent for ident in row.tool_results} == {"toolu_1", "toolu_2"}


def _result(number: int) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "x"}


def test_threads_wait_for_each_other(place: Path) -> None:
    with writer_in(place) as writer:

        def append(name: str) -> None:
            for number in range(50):
                writer.append_message("user", f"{name} {number}")

        threads = [threading.Thread(target=append, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = rows_of(writer.path)
    assert len(rows) == 150
    assert [item["parentUuid"] for item in rows] == [None, *(item["uuid"] for item in rows[:-1])]


def is_refused_in_a_copy(writer: SessionWriter, then: Callable[[], None] = lambda: None) -> bool:
    """Whether a copy of this process cannot append, since somebody has the lock; `then` is what it does before its end."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            writer.append_message("user", "in between?")
        except StoreBusy:
            then()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
def test_a_writer_in_a_forked_process_has_a_lock_of_its_own(place: Path) -> None:
    writer = writer_in(place, lock_seconds=0.05)
    writer.append_message("user", "one")
    with writer.journal.locked(writer.home):
        assert is_refused_in_a_copy(writer)
    writer.journal.take(writer._lock)
    assert is_refused_in_a_copy(writer, writer._lock.close)
    with pytest.raises(StoreBusy), writer.journal.locked(writer.home):  # the child's end did not end the lock
        pass
    writer._lock.release()
    writer.append_message("user", "two")
    writer.close()
    assert len(rows_of(writer.path)) == 2


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be removed there")
def test_a_lock_file_that_was_removed_locks_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    kept_open, fresh = LockFile(str(path)), LockFile(str(path))
    kept_open.take(0.05)
    kept_open.release()
    path.unlink()
    kept_open.take(0.05)
    with pytest.raises(TimeoutError):
        fresh.take(0.05)
    kept_open.release()
    fresh.take(0.05)
    with pytest.raises(TimeoutError):
        kept_open.take(0.05)
    fresh.close()
    kept_open.take(0.05)
    kept_open.close()


def test_the_folder_of_locks_may_go_away_meanwhile(place: Path) -> None:
    with writer_in(place) as writer:
        writer.append_message("user", "one")
        shutil.rmtree(place / "data" / "locks")
        writer.append_message("user", "two")
        assert list((place / "data" / "locks").iterdir())
    assert len(rows_of(writer.path)) == 2


def test_who_died_before_closing_has_lost_no_line_and_left_nothing_half_done(place: Path) -> None:
    writer = writer_in(place)
    writer.append_message("user", "one")
    writer.append_message("user", "two")
    journal = Journal(place / "data")
    assert [(item.name, item.state) for item in journal.records()] == [("append", "done")]
    assert not journal.is_interrupted(writer.home)
    with journal.locked(writer.home):
        assert journal.recover(writer.home) == []
    assert [item["message"]["content"] for item in rows_of(writer.path)] == ["one", "two"]
    with pytest.raises(Refused, match="without closing"):
        journal.undo(journal.record(), writer.home)


def test_a_new_folder_is_part_of_what_is_undone(place: Path) -> None:
    (place / "claude" / "projects" / "-work-app").rmdir()
    with writer_in(place) as writer:
        writer.append_message("user", "one")
        writer.append_message("user", "two")
    journal = Journal(place / "data")
    journal.undo(journal.record(), writer.home)
    assert not writer.path.parent.exists()
    assert journal.records()[0].state == "undone"


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system takes no advice")
@pytest.mark.parametrize("refused", [False, True])
def test_advice_to_begin_writing_concerns_the_new_bytes_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    given: list[tuple[int, int]] = []

    def advise(fd: int, offset: int, length: int, advice: int) -> None:
        given.append((offset, length))
        if refused:
            raise OSError(errno.EINVAL, "not here")

    monkeypatch.setattr(os, "posix_fadvise", advise)
    with writer_in(place, sync=True) as writer:
        writer.append_message("user", "one")
        first = writer.path.stat().st_size
        writer.append_message("user", "two")
    if sys.platform == "linux":
        assert given == [(0, first), (first, writer.path.stat().st_size - first)]
    assert len(rows_of(writer.path)) == 2
