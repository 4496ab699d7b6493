"""Hash the content of files, to know later whether a file still holds what was read or written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # imported when the first hash is made
    from xxhash import xxh3_128

_Piece = TypeVar("_Piece", bytes, bytes | memoryview)


def new_hash() -> xxh3_128:
    """Return an empty hash to update. It shows changes by chance and by other programs, not forgeries: see decision 0040."""
    from xxhash import xxh3_128

    return xxh3_128()


def hashed(chunks: Iterable[_Piece], digest: xxh3_128) -> Iterator[_Piece]:
    """Yield the pieces unchanged and add each to `digest`, which is complete after the last one."""
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def hash_of(path: Path, offset: int = 0) -> str:
    """Return the hash of a file, or of its bytes from `offset` on."""
    digest = new_hash()
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
