"""Write and read bundles: sessions with all that belongs to them in one file, to be carried to another machine.

    recollect bundle 1\\n
    a RECORDS block         what is inside: sessions, and every file with its size, time and SHA-256
    DATA blocks             the bytes of the files, one after the other, in pieces of at most a mebibyte
    a RECORDS block         {"end": true}: nothing was cut off

The blocks are those of packs (blocks.py), and each payload begins with its unpacked length.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from ..errors import DamagedData, Refused
from ..format.path_text import STRANGE_BYTES, to_path, to_text
from .blocks import DATA, HEADER, RECORDS, TRAILER, BadBlock, Stored, decompress, encode_block, read_block
from .selection import KEPT_FILES, is_kept_path
from .writer import encode_records

VERSION: Final = 1
BUNDLE_BLOCK: Final = 1 << 20


def magic(version: int = VERSION) -> bytes:
    return b"recollect bundle %d\n" % version


class BundledFile(Struct, frozen=True):
    path: str
    """Encoded as text (`format.path_text`) in the bundle; `BundleReader` returns it as the system's path."""
    size: int
    mtime_ns: int
    sha256: bytes


class BundledSession(Struct, frozen=True):
    session_id: str
    folder: str
    project: str | None = None
    title: str | None = None


class BundleHead(Struct, frozen=True):
    root: str
    """The root of the home that the bundle came from: paths inside the transcripts begin with it."""
    made: float
    sessions: list[BundledSession]
    files: list[BundledFile]


class BundleEnd(Struct, frozen=True):
    end: bool


class FileToBundle(Struct, frozen=True):
    """A file and a function that reads it. It is read twice and must not change in between."""

    path: str
    mtime_ns: int
    chunks: Callable[[], Iterator[bytes]]


def encode_bundle(
    root: str, made: float, sessions: Sequence[BundledSession], files: Sequence[FileToBundle]
) -> Iterator[bytes]:
    """Yield the bytes of a bundle. Raises ValueError if a file changed while it was read."""
    listed = []
    for file in files:
        digest, size = hashlib.sha256(), 0
        for chunk in file.chunks():
            digest.update(chunk)
            size += len(chunk)
        listed.append(BundledFile(to_text(file.path), size, file.mtime_ns, digest.digest()))
    yield magic()
    head = BundleHead(root, made, list(sessions), listed)
    yield encode_block(RECORDS, encode_records(msgspec.json.encode(head)))
    waiting = bytearray()
    for file, entry in zip(files, listed, strict=True):
        digest, size = hashlib.sha256(), 0
        for chunk in file.chunks():
            digest.update(chunk)
            size += len(chunk)
            waiting += chunk
            while len(waiting) >= BUNDLE_BLOCK:
                yield encode_block(DATA, encode_records(bytes(waiting[:BUNDLE_BLOCK])))
                del waiting[:BUNDLE_BLOCK]
        if (size, digest.digest()) != (entry.size, entry.sha256):
            raise ValueError(f"{file.path} was changed meanwhile")
    if waiting:
        yield encode_block(DATA, encode_records(bytes(waiting)))
    yield encode_block(RECORDS, encode_records(msgspec.json.encode(BundleEnd(True))))


# Read a bundle that anybody may have made: every limit is enforced while reading, and violations are refused.
# No length, size, path or count in a bundle is trusted. A bundle can name only places that a session's files have, no
# place twice, and must unpack to exactly the bytes that it announced, within the limits.

_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 1024
_DEEPEST: Final = 16


@dataclass(frozen=True)
class BundleLimits:
    """How large a bundle and its parts may be."""

    bytes: int = 16 << 30
    files: int = 100_000
    head: int = 64 << 20
    """Unpacked bytes of the list of its files."""
    block: int = 4 << 20
    """Bytes of one block, packed and unpacked."""
    ratio: int = 2_000
    """How many times larger than packed a block may be; applies to blocks that unpack to more than a mebibyte."""


class BundleReader:
    """Reads a bundle from a stream, once.

    Raises Refused if it is not a bundle or exceeds a limit, DamagedData if it is damaged.
    """

    def __init__(self, stream: BinaryIO, limits: BundleLimits | None = None) -> None:
        self._stream = stream
        self._limits = limits or BundleLimits()
        self._position = self._read_magic()
        self.head = self._read_head()
        self._buffer = b""

    def files(self) -> Iterator[tuple[BundledFile, Iterator[bytes]]]:
        """Yield each file with its bytes, in order. The bytes of one file must be read before the next is requested."""
        for file in self.head.files:
            yield file, self._bytes_of(file)
        if self._buffer:
            raise _lying("it holds more bytes than its files have")
        self._expect_end()

    # --- head ---------------------------------------------------------------------------------------------------------

    def _read_magic(self) -> int:
        own = magic()
        first_bytes = self._stream.read(len(own))
        if first_bytes == own:
            return len(own)
        words = first_bytes + self._stream.read(32)
        version = words.partition(b"\n")[0].removeprefix(b"recollect bundle ")
        if words.startswith(b"recollect bundle ") and version.isdigit() and int(version) > VERSION:
            raise Refused(
                f"this bundle has format {int(version)}; this Recollect knows up to {VERSION}",
                hint="use a newer Recollect", slug="bundle-from-the-future",
            )  # fmt: skip
        raise Refused("this is not a bundle of Recollect", slug="no-bundle")

    def _read_head(self) -> BundleHead:
        block = self._next_block(RECORDS, self._limits.head)
        try:
            head = msgspec.json.decode(self._unpacked(block, self._limits.head), type=BundleHead)
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            raise DamagedData(
                f"the list of files in the bundle cannot be read: {problem}", slug="bundle-damaged"
            ) from problem
        files = [msgspec.structs.replace(file, path=to_path(file.path)) for file in head.files]
        head = msgspec.structs.replace(head, files=files)
        self._check_head(head)
        return head

    def _check_head(self, head: BundleHead) -> None:
        limits = self._limits
        if len(head.files) > limits.files:
            raise _too_much(f"it holds {len(head.files):,} files, more than {limits.files:,}")
        total = 0
        seen: set[str] = set()
        for file in head.files:
            why = why_refused(file.path)
            if why is not None:
                raise Refused(f"the bundle names {file.path[:200]!r}: {why}", slug="bundle-refused")
            folded = unicodedata.normalize("NFC", file.path).casefold()
            if folded in seen:
                raise Refused(f"the bundle names {file.path[:200]!r} twice", slug="bundle-refused")
            seen.add(folded)
            if file.size < 0 or not -(1 << 62) < file.mtime_ns < 1 << 62:
                raise _lying(f"{file.path} has an impossible size or time")
            total += file.size
        folders = {parent for name in seen for parent in _parents(name)}
        if folders & seen:
            raise Refused("the bundle names a file and something below it", slug="bundle-refused")
        if total > limits.bytes:
            raise _too_much(f"it unpacks to {total:,} bytes, more than {limits.bytes:,}")

    # --- bytes --------------------------------------------------------------------------------------------------------

    def _bytes_of(self, file: BundledFile) -> Iterator[bytes]:
        digest, missing = hashlib.sha256(), file.size
        while missing:
            if not self._buffer:
                block = self._next_block(DATA, self._limits.block)
                self._buffer = self._unpacked(block, self._limits.block)
            part, self._buffer = self._buffer[:missing], self._buffer[missing:]
            missing -= len(part)
            digest.update(part)
            yield part
        if digest.digest() != file.sha256:
            raise DamagedData(f"{file.path} in the bundle has another SHA-256 than it says", slug="bundle-damaged")

    def _next_block(self, kind: bytes, limit: int) -> Stored:
        self._stream.seek(self._position)
        head = self._stream.read(HEADER)
        length = int.from_bytes(head[4:HEADER], "big")
        if len(head) == HEADER and length > limit:
            raise _too_much(f"a block of {length:,} bytes")
        try:
            block = read_block(self._stream, self._position, HEADER + length + TRAILER)
        except BadBlock as problem:
            raise DamagedData(f"the bundle, at byte {self._position:,}: {problem}", slug="bundle-damaged") from problem
        if block.kind != kind:
            raise _lying("its blocks do not come in their order")
        self._position = block.end
        return block

    def _unpacked(self, block: Stored, limit: int) -> bytes:
        length = int.from_bytes(block.payload[:8], "big")
        if length > limit:
            raise _too_much(f"a block that unpacks to {length:,} bytes")
        if not length:
            raise _lying("an empty block")
        if length > 1 << 20 and length > self._limits.ratio * len(block.payload):
            raise _too_much(f"a block that unpacks to {length // max(len(block.payload), 1):,} times its size")
        try:
            return decompress(block.payload[8:], length)
        except ValueError as problem:
            raise DamagedData(f"the bundle, at byte {block.offset:,}: {problem}", slug="bundle-damaged") from problem

    def _expect_end(self) -> None:
        block = self._next_block(RECORDS, self._limits.block)
        try:
            msgspec.json.decode(self._unpacked(block, self._limits.block), type=BundleEnd)
        except msgspec.MsgspecError as problem:
            raise _lying("it does not end as bundles do") from problem
        self._stream.seek(self._position)
        if self._stream.read(1):
            raise _lying("something follows behind its end")


def why_refused(path: str) -> str | None:
    """Return why a file must not be written to this path below a home; None if it may."""
    parts = path.split("/")
    if len(path.encode("utf-8", "surrogatepass")) > _LONGEST_PATH or len(parts) > _DEEPEST:
        return "the path is too long"
    if any(not STRANGE_BYTES.sub("", part).isprintable() or "\\" in part for part in parts):
        return "the path holds characters that no such path has"
    if any(part in ("", ".", "..") or part != part.strip() or part.endswith(".") for part in parts):
        return "the path is not plain"
    if any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST_NAME or ":" in part for part in parts):
        return "the path is not plain"
    if path in KEPT_FILES or not is_kept_path(parts):
        return "is not a place for a file of a session"
    return None


def _parents(path: str) -> Iterator[str]:
    place = path.rfind("/")
    while place > 0:
        yield path[:place]
        place = path.rfind("/", 0, place)


def _too_much(why: str) -> Refused:
    return Refused(f"the bundle asks too much: {why}", slug="bundle-refused", hint="nothing was unpacked into the home")


def _lying(why: str) -> Refused:
    return Refused(
        f"the bundle is not what it says: {why}", slug="bundle-refused", hint="nothing was unpacked into the home"
    )
