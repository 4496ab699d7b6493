"""Read and write the manifest: one line per commit, append-only, each with a SHA-256 over itself and the line before.

CHECK END JSON\\n        CHECK = SHA-256(CHECK of the line before, END, JSON); END = where the commit ends in its pack
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from ..journal import disk
from ..store.opening import FileStamp

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


_CHECK: Final = 64
_SURROGATES: Final = 0xDC00


@dataclass
class BadLine:
    """A damaged line of the manifest."""

    number: int
    offset: int
    length: int


@dataclass
class Manifest:
    """The parsed manifest and its damage."""

    commits: list[tuple[Commit, int]] = field(default_factory=list)
    """Each with the offset in its pack where it ends."""
    bad: list[BadLine] = field(default_factory=list)
    size: int = 0
    """Bytes of the complete lines."""
    torn: int = 0
    """Bytes after the complete lines: a line that was never finished."""
    last_check: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the manifest holds every commit from the first to its last."""
        numbers = [commit.number for commit, _ in self.commits]
        return not self.bad and numbers == list(range(1, len(numbers) + 1))


def read_manifest(path: Path) -> Manifest:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    manifest = Manifest()
    offset = number = 0
    while (end := data.find(b"\n", offset)) >= 0:
        number += 1
        line = data[offset:end]
        commit = decode_line(line, manifest.last_check)
        if commit is None:
            manifest.bad.append(BadLine(number, offset, end + 1 - offset))
        else:
            manifest.commits.append(commit)
        manifest.last_check = line[:_CHECK].decode("latin-1")
        offset = end + 1
    manifest.size, manifest.torn = offset, len(data) - offset
    return manifest


def decode_line(line: bytes, before: str) -> tuple[Commit, int] | None:
    """Decode a line that follows the line with the check `before`; return None if it is damaged."""
    if _check(before.encode("latin-1"), line[_CHECK + 1 :]) != line[:_CHECK] or line[_CHECK : _CHECK + 1] != b" ":
        return None
    end, _, body = line[_CHECK + 1 :].partition(b" ")
    try:
        return decode_commit(body), int(end)
    except ValueError:
        return None


def encode_line(commit: Commit, end: int, before: str) -> tuple[bytes, str]:
    """Return the line of a commit and its check."""
    body = b"%d %s" % (end, encode_commit(commit))
    check = _check(before.encode("latin-1"), body)
    return check + b" " + body + b"\n", check.decode()


def encode_lines(commits: Iterable[tuple[Commit, int]]) -> bytes:
    """Return the bytes of a whole manifest."""
    lines, check = [], ""
    for commit, end in commits:
        line, check = encode_line(commit, end, check)
        lines.append(line)
    return b"".join(lines)


def _check(before: bytes, body: bytes) -> bytes:
    digest = hashlib.sha256(before)
    digest.update(body)
    return digest.hexdigest().encode()


def to_text(path: str) -> str:
    """Encode a path of any bytes as text for JSON: a byte that is not UTF-8 becomes NUL and two hex digits."""
    if path.isascii():
        return path
    return "".join(f"\x00{ord(char) - _SURROGATES:02x}" if "\udc80" <= char <= "\udcff" else char for char in path)


def from_text(text: str) -> str:
    if "\x00" not in text:
        return text
    first, *rest = text.split("\x00")
    return first + "".join(chr(_SURROGATES + int(part[:2], 16)) + part[2:] for part in rest)


T = TypeVar("T", bound=Struct)


def read_note(path: Path, kind: type[T]) -> T | None:
    """Return the content of a small file of the vault: a line of JSON and its SHA-256. None if it is missing or damaged."""
    try:
        line, digest, rest = path.read_bytes().split(b"\n")
        if rest or hashlib.sha256(line).hexdigest().encode() != digest:
            return None
        return msgspec.json.decode(line, type=kind)
    except (OSError, ValueError):
        return None


def write_note(path: Path, note: Struct) -> None:
    """Replace a small file of the vault atomically. Raises OSError; then the file is unchanged."""
    line = msgspec.json.encode(note)
    fresh = path.with_name(f"{path.name}.new")
    disk.remove_if_there(fresh)
    disk.write_new(fresh, [line + b"\n" + hashlib.sha256(line).hexdigest().encode() + b"\n"])
    disk.replace(fresh, path)


# Rebuild what a vault holds from its commits: homes, files, their generations and snapshots.

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
