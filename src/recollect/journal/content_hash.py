"""What tells whether a file is still as a change left it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import DamagedData, Refused
from ..store.stamp import stamp_of
from . import disk

if TYPE_CHECKING:  # imported by who needs it
    from xxhash import xxh3_128

_Piece = TypeVar("_Piece", bytes, bytes | memoryview)


def new_hash() -> xxh3_128:
    """For what a change writes. It tells chance and other programs from what was written, not forgers: see decision 0040."""
    from xxhash import xxh3_128

    return xxh3_128()


def hashed(chunks: Iterable[_Piece], digest: xxh3_128) -> Iterator[_Piece]:
    """The same pieces; the hash is complete when the last one was taken."""
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def hash_of(path: Path, offset: int = 0) -> str:
    """The hash of a file, or of what stands behind an offset."""
    digest = new_hash()
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def ensure_time(path: Path | str, mtime_ns: int) -> None:
    """Set a file's time where it is another."""
    now = stamp_of(path)
    if now is not None and now.mtime_ns != mtime_ns:
        disk.set_times(Path(path), mtime_ns)


def damaged_copy(path: str, copy: Path, why: str) -> DamagedData:
    """Undoing would bring back something else than what was there: what the journal kept of it is not to be trusted."""
    return DamagedData(
        f"cannot undo: {path}: what the journal keeps of it {why}: {copy}", slug="damaged-journal",
        hint="nothing was changed; the journal itself lost it, so this change cannot be undone",
    )  # fmt: skip


def was_changed(path: str, why: str) -> Refused:
    """Undoing would lose something; the journal knows what helps."""
    return Refused(f"cannot undo: {path}: {why}", slug="changed-since")
