"""Locks between processes and threads, and folders that belong to a living process."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recollect.errors import StoreBusy
from recollect.journal import locks
from recollect.journal.changes import Journal
from recollect.journal.locks import LockFile, make_claimed_folder, remove_if_abandoned, take_lock
from recollect.store.home import Home

_HOLD = """
import fcntl, sys
stream = open(sys.argv[1], "a")
fcntl.flock(stream, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


class Holder:
    """Another process that holds a lock until it is told to end."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", _HOLD, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"

    def end(self) -> None:
        self.process.communicate("\n")


def test_another_process_is_waited_for(tmp_path: Path) -> None:
    holder = Holder(tmp_path / "lock")
    with pytest.raises(TimeoutError):
        take_lock(str(tmp_path / "lock"), 0.05)
    threading.Timer(0.1, holder.end).start()
    release = take_lock(str(tmp_path / "lock"), 30)
    release()


def test_another_thread_is_waited_for(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "lock"))
    lock.take(1)
    with pytest.raises(TimeoutError):
        lock.take(0.01)
    threading.Timer(0.05, lock.release).start()
    lock.take(30)
    lock.release()
    lock.close()


def test_a_lock_whose_file_was_removed_is_taken_on_the_new_one(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "lock"))
    lock.take(1)
    lock.release()
    (tmp_path / "lock").unlink()
    lock.take(1)
    assert (tmp_path / "lock").exists()
    assert lock.size == 0
    lock.release()


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "none" / "lock"))
    for _ in range(2):  # the first try must not keep the second from being made
        with pytest.raises(FileNotFoundError):
            lock.take(0.01)


def test_a_forked_child_does_not_end_the_lock_of_its_parent(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "lock"))
    lock.take(1)
    program = "import os,sys; from recollect.journal.locks import take_lock\ntry:\n take_lock(sys.argv[1], 0.05)\n" \
              "except TimeoutError:\n sys.exit(3)"  # fmt: skip
    pid = os.fork()
    if pid == 0:
        lock.close()  # the copy in the child
        try:
            lock.take(0.05)  # an open file of its own, which finds the parent's lock
        except TimeoutError:
            os._exit(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path / "lock")]).returncode == 3
    lock.release()
    lock.close()


def test_a_home_that_another_process_changes_is_busy(tmp_path: Path) -> None:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    journal, home = Journal(tmp_path / "data", lock_seconds=0.05), Home(tmp_path / "claude")
    with journal.locked(home):
        (path,) = (tmp_path / "data" / "locks").iterdir()
    holder = Holder(path)
    with pytest.raises(StoreBusy) as busy, journal.locked(home):
        raise AssertionError("held by two")
    holder.end()
    assert busy.value.slug == "locked"
    assert str(home.root) in str(busy.value)


def test_a_folder_in_use_stays_and_an_abandoned_one_goes(tmp_path: Path) -> None:
    removed: list[Path] = []
    claim = make_claimed_folder(tmp_path / "mine", os.mkdir)
    assert claim is not None
    remove_if_abandoned(tmp_path / "mine", removed.append)
    assert removed == []
    os.close(claim)
    remove_if_abandoned(tmp_path / "mine", removed.append)
    assert removed == [tmp_path / "mine"]


def test_a_folder_that_is_swept_away_before_it_is_locked_is_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(path: Path) -> None:
        made.append(path)
        if len(made) > 1:
            os.mkdir(path)

    claim = make_claimed_folder(tmp_path / "mine", make)
    assert claim is not None
    os.close(claim)
    assert len(made) == 2


@pytest.mark.parametrize("days", [0, 2])
def test_without_locks_the_age_of_a_folder_tells(tmp_path: Path, days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> None:
        raise OSError("no locks here")

    claim = make_claimed_folder(tmp_path / "mine", os.mkdir)
    moment = time.time() - days * 86_400
    os.utime(tmp_path / "mine", (moment, moment))
    removed: list[Path] = []
    monkeypatch.setattr(fcntl, "flock", unsupported)
    remove_if_abandoned(tmp_path / "mine", removed.append)
    other = make_claimed_folder(tmp_path / "other", os.mkdir)
    monkeypatch.setattr(locks, "fcntl", None)
    remove_if_abandoned(tmp_path / "mine", removed.append)
    assert make_claimed_folder(tmp_path / "third", os.mkdir) is None
    assert len(removed) == (2 if days else 0)
    for fd in (claim, other):
        os.close(fd or 0)


def test_without_leases_nobody_can_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(locks, "_CAN_LEASE", False)
    with open(tmp_path / "file", "ab") as stream:
        assert locks.take_lease(stream.fileno()) is None
        locks.end_lease(stream.fileno())
        assert not locks.is_being_written(tmp_path / "file")
