"""Lock files between Recollect processes, and leases that tell whether another program has a file open.

Claude Code takes no lock, so Recollect asks the system. Linux grants a write lease only to the one process that has a file open,
and makes everybody who opens the file then wait until the lease ends. While Recollect holds a lease, no other program can write
half a line or lose one. The signal that announces a waiting process is set to one that is ignored by default. Systems without
leases cannot tell; the answer is then None.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CAN_LEASE = fcntl is not None and hasattr(fcntl, "F_SETLEASE") and hasattr(fcntl, "F_SETSIG")
_ALL, _WRITERS = (fcntl.F_WRLCK, fcntl.F_RDLCK) if _CAN_LEASE else (0, 0)
_ANNOUNCED_BY = int(getattr(signal, "SIGURG", 0))
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_ABANDONED_SECONDS = 86_400.0
_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.01

_process = os.getpid()
"""The number of this process, so that the system need not be asked for each lock."""


def _be_another_process() -> None:
    global _process
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_be_another_process)


def take_lease(fd: int, against: int = _ALL) -> bool | None:
    """Keep others from opening a file until `end_lease` or close.

    Returns False if another program has it open, and None if the system cannot tell.
    """
    if not _CAN_LEASE:
        return None
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, _ANNOUNCED_BY)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, against)
    except OSError as problem:
        return False if problem.errno == errno.EAGAIN else None
    return True


def end_lease(fd: int) -> None:
    if _CAN_LEASE:
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError:
            return


def is_being_written(path: Path | str) -> bool:
    """Whether a process has the file open for writing. This process must not have it open for writing itself."""
    fd = os.open(path, os.O_RDONLY | _NOFOLLOW | os.O_CLOEXEC)
    try:
        return take_lease(fd, _WRITERS) is False
    finally:
        os.close(fd)


def take_lock(path: str, seconds: float) -> Callable[[], None]:
    """Take a lock and return the function that releases it; it also ends with the process. Raises TimeoutError."""
    lock = LockFile(path)
    lock.take(seconds)
    return lock.close


class LockFile:
    """A lock that is taken many times: its file stays open in between. Threads of one process exclude each other, too."""

    def __init__(self, path: str, held_by: str = "") -> None:
        self.held_by = held_by
        """The sentence for the error when another process holds the lock."""
        self.path = path
        self.size: int | None = None
        """The size of the lock file when the lock was last taken; None where that is not known (Windows)."""
        self._fd: int | None = None
        self._process = _process
        self._threads = threading.Lock()
        self._unlock: Callable[[], None] | None = None

    def take(self, seconds: float) -> None:
        """Take the lock. Raises TimeoutError, and FileNotFoundError if its folder is missing."""
        if self._process != _process:  # the copy in a forked child: the open file is the parent's, with its lock
            self._fd, self._process, self._threads = None, _process, threading.Lock()
        if not self._threads.acquire(blocking=False) and not self._threads.acquire(timeout=seconds):
            raise TimeoutError
        try:
            if fcntl is None:
                self._unlock = _take_lock_on_windows(self.path, seconds)
                return
            while True:
                if self._fd is None:
                    self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | _NOFOLLOW | os.O_CLOEXEC, 0o600)
                if not _flock(self._fd):
                    _wait_for_lock(self._fd, seconds)
                info = os.fstat(self._fd)
                if info.st_nlink:
                    self.size = info.st_size
                    return
                self._close()  # the file was removed, and other processes lock a new one of its name
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        if self._unlock is not None:
            self._unlock()
        elif self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._threads.release()

    def close(self) -> None:
        """Close the file, which ends the lock if it is held."""
        if self._process == _process:  # a forked child must not end its parent's lock
            if self._unlock is not None:
                self._unlock()
            self._close()

    def _close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def _wait_for_lock(fd: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    wait = _FIRST_WAIT
    while True:
        time.sleep(wait)
        if _flock(fd):
            return
        if time.monotonic() >= end:
            raise TimeoutError
        wait = min(wait * 1.5, _LONGEST_WAIT)


def _flock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take_lock_on_windows(path: str, seconds: float) -> Callable[[], None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=seconds, poll_interval=_LONGEST_WAIT)
    except Timeout as problem:
        raise TimeoutError from problem
    return lock.release


def make_claimed_folder(path: Path, make: Callable[[Path], None]) -> int | None:
    """Make a folder and lock it. Returns a file descriptor: while it is open, nobody takes the folder for abandoned."""
    while True:
        make(path)
        if fcntl is None:
            return None
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            with contextlib.suppress(OSError):  # a file system without locks: `remove_if_abandoned` goes by age
                fcntl.flock(fd, fcntl.LOCK_EX)
            if path.exists():  # no other process removed it between the two calls
                return fd
            os.close(fd)


def remove_if_abandoned(path: Path, remove: Callable[[Path], None]) -> None:
    """Remove a claimed folder if its process is gone, or, where there are no locks, if it is a day old."""
    if fcntl is None:
        if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
            remove(path)
        return
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _flock(fd):
            remove(path)
    except OSError:
        if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
            remove(path)
    finally:
        os.close(fd)
