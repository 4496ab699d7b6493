"""Stamp a file at a moment: enough to detect that its bytes were rewritten since."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from msgspec import Struct


class Stamp(Struct, frozen=True):
    size: int
    mtime_ns: int


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the stamp of the file at this path; None if there is none. Links are followed: a transcript may be one."""
    try:
        info = os.stat(path) if os.path.exists(path) else os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if problem.errno == errno.ELOOP:  # links that lead to each other hold no file
            return None
        raise
    return Stamp(info.st_size, info.st_mtime_ns)


def stamp_below(path: Path) -> Stamp | None:
    """Return the stamp of a file or, for a folder, of all files in it: their bytes together and their newest time."""
    if path.is_symlink():  # the link itself is removed, not its target
        info = os.lstat(path)
        return Stamp(info.st_size, info.st_mtime_ns)
    if not path.is_dir():
        return stamp_of(path)
    size = newest = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                info = os.lstat(os.path.join(folder, name))
            except OSError:  # not readable now, and so not later either
                continue
            size, newest = size + info.st_size, max(newest, info.st_mtime_ns)
    return Stamp(size, newest)


def stamp_of_open(fd: int) -> Stamp:
    """Return the stamp of an open file."""
    info = os.fstat(fd)
    return Stamp(info.st_size, info.st_mtime_ns)
