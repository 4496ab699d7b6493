"""What tells whether a file is still as a change left it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import Refused
from . import disk
from .kept import kept


def sha256_of(path: Path, offset: int = 0) -> str:
    """The hash of a file, or of what stands behind an offset."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def ensure_time(path: Path | str, mtime_ns: int) -> None:
    """Set a file's time where it is another."""
    now = kept(path)
    if now is not None and now.mtime_ns != mtime_ns:
        disk.set_times(Path(path), mtime_ns)


def was_changed(path: str, why: str) -> Refused:
    """Undoing would lose something; the journal knows what helps."""
    return Refused(f"cannot undo: {path}: {why}", slug="changed-since")
