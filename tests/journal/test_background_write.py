"""Work behind the back of who makes the pieces: all of it, in order, and no problem is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import xxhash
from tests.faults.faulty import Fault, faulty_disk

from recollect.journal import disk
from recollect.journal.actions import Replace
from recollect.journal.changes import Journal
from recollect.journal.disk import WAITING, BackgroundWriter, Piece
from recollect.store.home import Home

MEGABYTE = 1 << 20


def test_every_piece_is_worked_on_in_order() -> None:
    seen: list[Piece] = []
    threads: set[str] = set()

    def work(piece: Piece) -> None:
        seen.append(piece)
        threads.add(threading.current_thread().name)

    pieces = [b"%d" % number for number in range(200)]
    with BackgroundWriter(work, at_once=20) as writer:
        for piece in pieces:
            writer.take(piece)
    assert seen == pieces
    assert threads == {threading.current_thread().name, "background-writer"}


def test_little_work_needs_no_thread() -> None:
    threads: set[str] = set()
    with BackgroundWriter(lambda _: threads.add(threading.current_thread().name)) as writer:
        for _ in range(100):
            writer.take(b"x" * 1000)
    assert threads == {threading.current_thread().name}


@pytest.mark.parametrize("at", [1, 3, 99])
def test_a_problem_comes_out(at: int) -> None:
    seen: list[Piece] = []

    def work(piece: Piece) -> None:
        if len(seen) == at:
            raise OSError("full")
        seen.append(piece)

    with pytest.raises(OSError, match="full"), BackgroundWriter(work, at_once=2) as writer:
        for _ in range(100):
            writer.take(b"x")
    assert len(seen) == at


def test_who_leaves_by_an_error_does_not_wait_for_all_the_rest() -> None:
    done: list[Piece] = []
    begun, go_on = threading.Event(), threading.Event()

    def work(piece: Piece) -> None:
        begun.set()
        assert go_on.wait(60)
        done.append(piece)

    with pytest.raises(KeyError), BackgroundWriter(work, at_once=0) as writer:
        for number in range(WAITING):
            writer.take(b"%d" % number)
        assert begun.wait(60)
        threading.Timer(0.2, go_on.set).start()  # while the block is being left
        raise KeyError("no more")
    assert done == [b"0"]


def large(number: int) -> Iterator[bytes]:
    for place in range(number):
        yield bytes([place % 251]) * MEGABYTE


def test_a_large_file_is_written_whole_and_hashed(tmp_path: Path) -> None:
    (tmp_path / "claude").mkdir()
    target = tmp_path / "claude" / "large"
    change = Journal(tmp_path / "data").change(Home(tmp_path / "claude"), "write", "Write")
    with change:
        change.write(target, large(40))
        record = change.commit()
    wanted = b"".join(large(40))
    assert target.read_bytes() == wanted
    (step,) = [item for item in record.actions if isinstance(item, Replace)]
    assert step.after_hash == xxhash.xxh3_128_hexdigest(wanted)


@pytest.mark.parametrize("kind", ["ENOSPC", "EIO", "short"])
@pytest.mark.parametrize("at", [2, 5, 9, 18, 22, 35, 43, 44])
def test_a_large_file_of_which_a_call_fails_is_not_there(tmp_path: Path, kind: str, at: int) -> None:
    """Call 1 opens; then 40 pieces are written, most of them by a thread, with two syncs among them and one at the end."""
    target = tmp_path / "large"
    with faulty_disk(Fault(at, kind)) as fault:
        if kind == "short" and at not in (18, 35, 44):  # after a short write the rest is written
            assert disk.write_new(target, large(40)) == 40 * MEGABYTE
            assert target.read_bytes() == b"".join(large(40))
        else:
            with pytest.raises(OSError):
                disk.write_new(target, large(40))
            assert not target.exists()
    assert len(fault.hit) == 1


def test_a_source_that_fails_leaves_no_file(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield from large(20)
        raise ValueError("unreadable")

    with pytest.raises(ValueError, match="unreadable"):
        disk.write_new(tmp_path / "large", chunks())
    assert not (tmp_path / "large").exists()
