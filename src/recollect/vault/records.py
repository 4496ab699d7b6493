"""What the manifest holds: one commit a line. A commit says which blocks it added and which files they belong to."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

VERSION: Final = 1


class Piece(Struct, frozen=True, array_like=True):
    """A range of a file's bytes: `length` bytes of the unpacked block, from `start`. Block -1 is lost."""

    block: int
    start: int
    length: int
    sha256: bytes


class Block(Struct, frozen=True, array_like=True):
    """Where a block stands in its commit's pack, and how long it is unpacked."""

    offset: int
    size: int
    raw: int


class Seen(Struct, frozen=True, array_like=True):
    """How long a file's generation was at an earlier time. Only a compaction writes these: before, each had a commit."""

    time: float
    size: int
    mtime_ns: int


class FileRecord(Struct, array_like=True):
    """A file as it was seen: from `offset` on, its generation's bytes are `pieces`; before, what they were."""

    home: int
    path: str
    """Relative to the home, with forward slashes."""
    generation: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    offset: int
    pieces: list[Piece]
    time: float | None = None
    """When it was seen, where that is not the time of the commit."""
    before: list[Seen] = []


class HomeRecord(Struct, frozen=True, array_like=True):
    number: int
    root: str


class Commit(Struct):
    """All that became lasting at once."""

    number: int
    time: float
    pack: int
    start: int
    """Where its blocks begin in the pack."""
    first_block: int
    blocks: list[Block] = []
    files: list[FileRecord] = []
    homes: list[HomeRecord] = []
    era: int = 0
    """How many times the vault was compacted: each time, its commits begin again with 1."""


_decode = msgspec.json.Decoder(Commit).decode


def encode_commit(commit: Commit) -> bytes:
    return msgspec.json.encode(commit)


def decode_commit(data: bytes) -> Commit:
    """Raises ValueError (msgspec's errors are)."""
    return _decode(data)
