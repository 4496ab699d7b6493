"""Who else is at a file right now? Linux can tell, with file leases; where a system cannot, the answer is None.

A write lease is granted only to a process that alone has the file open, and whoever opens it then waits until the lease
ends. So a client that opens, appends and closes can neither be cut off nor be interrupted within a line, without any
lock that it would have to know of. The signal that announces a waiting process is set to one that is ignored by default.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CAN_LEASE = fcntl is not None and hasattr(fcntl, "F_SETLEASE") and hasattr(fcntl, "F_SETSIG")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_ABANDONED_SECONDS = 86_400.0
_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.01


def take_lease(fd: int) -> bool | None:
    """Keep others from opening the file until `end_lease` or close. False if somebody has it open, None if nobody can tell."""
    return _lease(fd, write=True)


def end_lease(fd: int) -> None:
    if _CAN_LEASE:
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except OSError:
            return


def is_being_written(path: Path) -> bool:
    """Whether a process has the file open for writing; readers do not count. This process must not have it open so itself."""
    fd = os.open(path, os.O_RDONLY | _NOFOLLOW | os.O_CLOEXEC)
    try:
        return _lease(fd, write=False) is False
    finally:
        os.close(fd)


def _lease(fd: int, *, write: bool) -> bool | None:
    if not _CAN_LEASE:
        return None
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK if write else fcntl.F_RDLCK)
    except OSError as problem:
        return False if problem.errno == errno.EAGAIN else None
    return True


def take_lock(path: str, seconds: float) -> Callable[[], None]:
    """Take a lock that ends with the process that holds it, or when the answer is called. Raises TimeoutError."""
    if fcntl is None:
        return _take_lock_on_windows(path, seconds)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + seconds
        wait = _FIRST_WAIT
        while not _flock(fd):
            if time.monotonic() >= end:
                raise TimeoutError
            time.sleep(wait)
            wait = min(wait * 1.5, _LONGEST_WAIT)
    except BaseException:
        os.close(fd)
        raise
    return functools.partial(os.close, fd)


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
