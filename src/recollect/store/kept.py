"""A file's identity at a moment: enough to know that nobody changed it since."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct


class Kept(Struct, frozen=True):
    size: int
    mtime_ns: int


def kept(path: Path | str) -> Kept | None:
    """What stands there now; None where nothing does."""
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Kept(info.st_size, info.st_mtime_ns)


def kept_open(fd: int) -> Kept:
    """The same of an open file."""
    info = os.fstat(fd)
    return Kept(info.st_size, info.st_mtime_ns)
