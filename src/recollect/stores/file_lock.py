"""Lock an open file against other processes and threads until the file is closed."""

from __future__ import annotations

import os
import sys
import time
from typing import Final

from ..errors import StoreBusy

_FIRST_PAUSE: Final = 0.001
_LONGEST_PAUSE: Final = 0.05

if sys.platform == "win32":
    import msvcrt

    _FAR_OUT: Final = 1 << 62
    """Windows locks bytes, and a locked byte cannot be read: so the lock is on a byte beyond the end of any file."""

    def _try_lock(fd: int) -> None:
        os.lseek(fd, _FAR_OUT, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _try_lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_file(fd: int, path: str, wait: float) -> None:
    """Take the lock. Raises StoreBusy after `wait` seconds."""
    deadline = time.monotonic() + wait
    pause = _FIRST_PAUSE
    while True:
        try:
            _try_lock(fd)
            return
        except (BlockingIOError, PermissionError):
            if time.monotonic() + pause > deadline:
                raise StoreBusy(
                    f"another process holds {path} for more than {wait:g} s",
                    hint="try again when it has finished",
                    slug="store-busy",
                ) from None
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
