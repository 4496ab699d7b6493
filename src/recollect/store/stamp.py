"""A file's identity at a moment: enough to know that nobody changed it since."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from msgspec import Struct


class Stamp(Struct, frozen=True):
    size: int
    mtime_ns: int


def stamp_of(path: Path | str) -> Stamp | None:
    """What stands there now; None where nothing does. Of a link, what it leads to: a session's file may be one."""
    try:
        info = os.stat(path) if os.path.exists(path) else os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if problem.errno == errno.ELOOP:  # below links that lead to each other nothing stands
            return None
        raise
    return Stamp(info.st_size, info.st_mtime_ns)


def stamp_below(path: Path) -> Stamp | None:
    """The same of a file or, of a folder, of all files in it: their bytes together, and the newest of their times."""
    if path.is_symlink():  # taken out itself; whatever becomes of what it leads to
        info = os.lstat(path)
        return Stamp(info.st_size, info.st_mtime_ns)
    if not path.is_dir():
        return stamp_of(path)
    size = newest = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                info = os.lstat(os.path.join(folder, name))
            except OSError:  # not to be seen by us, and so neither later
                continue
            size, newest = size + info.st_size, max(newest, info.st_mtime_ns)
    return Stamp(size, newest)


def stamp_of_open(fd: int) -> Stamp:
    """The same of an open file."""
    info = os.fstat(fd)
    return Stamp(info.st_size, info.st_mtime_ns)
