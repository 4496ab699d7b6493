"""Who else is at a file right now? Linux can tell, with file leases; where a system cannot, the answer is None.

A write lease is granted only to a process that alone has the file open, and whoever opens it then waits until the lease
ends. So a client that opens, appends and closes can neither be cut off nor be interrupted within a line, without any
lock that it would have to know of. The signal that announces a waiting process is set to one that is ignored by default.
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
"""This one; known without asking the system again and again."""


def _be_another_process() -> None:
    global _process
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_be_another_process)


def take_lease(fd: int, against: int = _ALL) -> bool | None:
    """Keep others from opening the file until `end_lease` or close. False if somebody has it open, None if nobody can tell."""
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
    """Whether a process has the file open for writing; readers do not count. This process must not have it open so itself."""
    fd = os.open(path, os.O_RDONLY | _NOFOLLOW | os.O_CLOEXEC)
    try:
        return take_lease(fd, _WRITERS) is False
    finally:
        os.close(fd)


def take_lock(path: str, seconds: float) -> Callable[[], None]:
    """Take a lock that ends with the process that holds it, or when the answer is called. Raises TimeoutError."""
    lock = LockFile(path)
    lock.take(seconds)
    return lock.close


class LockFile:
    """Such a lock for who takes it again and again: its file stays open in between. For several threads, too."""

    def __init__(self, path: str, held_by: str = "") -> None:
        self.held_by = held_by
        """In words: who has it if it cannot be had."""
        self.path = path
        self.size: int | None = None
        """Of its file, when it was last taken; None where the system keeps that to itself."""
        self._fd: int | None = None
        self._process = _process
        self._threads = threading.Lock()
        self._unlock: Callable[[], None] | None = None

    def take(self, seconds: float) -> None:
        """Raises TimeoutError, and FileNotFoundError where its folder is missing."""
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
                self._close()  # somebody removed the file, and others lock a new one of its name
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
        if self._process == _process:  # the copy in a forked child must not
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
    """A new folder that is known to be in use for as long as the answer (a file descriptor) is open, whatever happens to us."""
    while True:
        make(path)
        if fcntl is None:
            return None
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            with contextlib.suppress(OSError):  # a file system without locks: age must tell
                fcntl.flock(fd, fcntl.LOCK_EX)
            if path.exists():  # nobody swept it away between the two calls
                return fd
            os.close(fd)


def remove_if_abandoned(path: Path, remove: Callable[[Path], None]) -> None:
    """Remove a claimed folder whose process is gone; where locks do not tell, one that is a day old."""
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
