"""Rebuild what a vault holds from its commits: homes, files, their generations and snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..store.opening import FileStamp
from .manifest import Block, Commit, FileRecord, Piece, from_text

LOST = -1
"""The number of a block about which nothing is known."""


class Place(NamedTuple):
    """Where a block lies."""

    pack: int
    offset: int
    size: int
    raw: int


class Snapshot(NamedTuple):
    """A file at the moment of a commit: the first `size` bytes of its generation."""

    time: float
    generation: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def stamp(self) -> FileStamp:
        """The stamp of the file at that time, to check whether it is unchanged."""
        return self[2:6]


@dataclass
class Generation:
    """The bytes of a file for as long as it only grew."""

    number: int
    pieces: list[Piece] = field(default_factory=list)
    size: int = 0

    def replace_from(self, offset: int, pieces: list[Piece]) -> None:
        while self.size > offset:
            self.size -= self.pieces.pop().length
        if self.size < offset:  # the commit with the bytes before `offset` is lost
            self.pieces.append(Piece(LOST, 0, offset - self.size, b""))
        self.pieces.extend(pieces)
        self.size = offset + sum(piece.length for piece in pieces)


@dataclass
class KeptFile:
    """A file of a home, with all its generations and snapshots."""

    home: int
    path: str
    generations: dict[int, Generation] = field(default_factory=dict)
    looks: list[Snapshot] = field(default_factory=list)

    @property
    def last(self) -> Snapshot:
        return self.looks[-1]

    def at(self, time: float | None) -> Snapshot | None:
        """Return the last snapshot up to this time; None if the file was not known yet."""
        if time is None:
            return self.looks[-1]
        return next((look for look in reversed(self.looks) if look.time <= time), None)

    def pieces(self, look: Snapshot) -> Iterator[tuple[int, Piece]]:
        """Yield the pieces of a snapshot, each with its offset; the last one may reach beyond the snapshot's end."""
        offset = 0
        for piece in self.generations[look.generation].pieces:
            if offset >= look.size:
                return
            yield offset, piece
            offset += piece.length


@dataclass
class Contents:
    homes: dict[int, str] = field(default_factory=dict)
    files: dict[tuple[int, str], KeptFile] = field(default_factory=dict)
    blocks: dict[int, Place] = field(default_factory=dict)
    by_hash: dict[bytes, Piece] = field(default_factory=dict)
    next_block: int = 0
    next_commit: int = 1
    last_time: float | None = None
    era: int = 0

    def apply(self, commit: Commit) -> None:
        for number, block in enumerate(commit.blocks, commit.first_block):
            self.blocks[number] = _place(commit.pack, block)
        self.next_block = max(self.next_block, commit.first_block + len(commit.blocks))
        for home in commit.homes:
            self.homes[home.number] = from_text(home.root)
        for record in commit.files:
            self._see(commit.time, record)
        self.next_commit = max(self.next_commit, commit.number + 1)
        self.last_time = commit.time
        self.era = commit.era

    def _see(self, time: float, record: FileRecord) -> None:
        path = from_text(record.path)
        file = self.files.get((record.home, path))
        if file is None:
            file = self.files[(record.home, path)] = KeptFile(record.home, path)
        generation = file.generations.get(record.generation)
        if generation is None:
            generation = file.generations[record.generation] = Generation(record.generation)
        generation.replace_from(record.offset, record.pieces)
        for piece in record.pieces:
            self.by_hash.setdefault(piece.sha256, piece)
        for seen in record.before:
            file.looks.append(Snapshot(seen.time, record.generation, seen.size, seen.mtime_ns, 0, 0))
        if record.time is not None:
            time = record.time
        file.looks.append(
            Snapshot(time, record.generation, record.size, record.mtime_ns, record.ctime_ns, record.inode)
        )

    def home_number(self, root: str) -> int | None:
        return next((number for number, name in self.homes.items() if name == root), None)

    def files_of(self, home: int) -> dict[str, KeptFile]:
        return {path: file for (number, path), file in self.files.items() if number == home}

    def raw_bytes(self) -> int:
        """Return the number of bytes that can be restored, every generation counted once."""
        return sum(part.size for file in self.files.values() for part in file.generations.values())


def _place(pack: int, block: Block) -> Place:
    return Place(pack, block.offset, block.size, block.raw)
