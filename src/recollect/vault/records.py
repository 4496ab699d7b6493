"""Define the records of the manifest: a commit lists the blocks it added and the files they belong to."""

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
    """Where a block lies in its commit's pack, and its unpacked length."""

    offset: int
    size: int
    raw: int


class Seen(Struct, frozen=True, array_like=True):
    """An earlier size of a file's generation, written by compactions only: before, it had a commit of its own."""

    time: float
    size: int
    mtime_ns: int


class FileRecord(Struct, array_like=True):
    """A snapshot of a file: from `offset` on, its generation consists of `pieces`; before, it is unchanged."""

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
    """When the snapshot was taken, if not at the time of the commit."""
    before: list[Seen] = []


class HomeRecord(Struct, frozen=True, array_like=True):
    number: int
    root: str


class Commit(Struct):
    """Everything that became durable at once."""

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
    """How often the vault was compacted: each compaction numbers the commits from 1 again."""


_decode = msgspec.json.Decoder(Commit).decode


def encode_commit(commit: Commit) -> bytes:
    return msgspec.json.encode(commit)


def decode_commit(data: bytes) -> Commit:
    """Decode a commit. Raises ValueError (as msgspec's errors are)."""
    return _decode(data)
