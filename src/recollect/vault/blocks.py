"""Read and write packs: files of blocks, one after the other, without a byte between them.

    recollect pack 1\\n                      the first line of every pack
    KIND (4 bytes) LENGTH (8 bytes, big endian) PAYLOAD SHA-256 (32 bytes, of all before it in this block)

A block of kind DATA holds bytes of files, one after the other, as one zstd frame. A block of kind RECORDS ends every
commit and holds the manifest's line about it: a manifest that is damaged or lost is rebuilt from the packs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType


LEVEL: Final = 3
_module: ModuleType | None = None


def _zstd() -> Any:
    global _module
    if _module is None:
        try:
            from compression import zstd  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            from backports import zstd  # type: ignore[no-redef, unused-ignore]
        _module = zstd
    return _module


def compress(data: bytes | bytearray) -> bytes:
    packed: bytes = _zstd().compress(data, LEVEL)
    return packed


def decompress(data: bytes, length: int) -> bytes:
    """Return the bytes of one frame, which must be exactly `length`; no more are ever unpacked. Raises ValueError."""
    zstd = _zstd()
    try:
        unpacker = zstd.ZstdDecompressor()
        raw: bytes = unpacker.decompress(data, length + 1)
        while len(raw) <= length and not unpacker.eof and not unpacker.needs_input:
            more: bytes = unpacker.decompress(b"", length + 1 - len(raw))
            if not more:
                break
            raw += more
    except (zstd.ZstdError, EOFError, MemoryError) as problem:
        raise ValueError(f"cannot be unpacked: {problem}") from problem
    if len(raw) != length or not unpacker.eof or unpacker.unused_data:
        raise ValueError("unpacks to another length than it says")
    return raw


DATA: Final = b"RCD1"
RECORDS: Final = b"RCR1"
MAGIC: Final = b"recollect pack 1\n"
HEADER: Final = 12
TRAILER: Final = 32
LONGEST: Final = 1 << 30
"""No block is longer than this: a header that claims so is damaged."""


class BadBlock(ValueError):
    """A damaged block. Callers that read blocks handle it; users never see it."""


class Stored(NamedTuple):
    """A block as it lies in a pack."""

    kind: bytes
    offset: int
    size: int
    """With header and hash."""
    payload: bytes

    @property
    def end(self) -> int:
        return self.offset + self.size


def encode_block(kind: bytes, payload: bytes) -> bytes:
    head = kind + len(payload).to_bytes(8, "big")
    digest = hashlib.sha256(head)
    digest.update(payload)
    return b"".join((head, payload, digest.digest()))


def read_block(stream: BinaryIO, offset: int, size: int | None = None) -> Stored:
    """Read the block at a place of a pack and check its hash. Raises BadBlock."""
    stream.seek(offset)
    head = stream.read(HEADER)
    length = int.from_bytes(head[4:12], "big")
    if len(head) < HEADER or head[:4] not in (DATA, RECORDS):
        raise BadBlock("does not begin as a block")
    if length > LONGEST or (size is not None and HEADER + length + TRAILER != size):
        raise BadBlock("says that it has another length")
    rest = stream.read(length + TRAILER)
    if len(rest) < length + TRAILER:
        raise BadBlock("is cut off")
    payload = rest[:length]
    digest = hashlib.sha256(head)
    digest.update(payload)
    if digest.digest() != rest[length:]:
        raise BadBlock("has another SHA-256 than it had")
    return Stored(head[:4], offset, HEADER + length + TRAILER, payload)


def walk_blocks(stream: BinaryIO, offset: int = len(MAGIC)) -> Iterator[Stored]:
    """Yield the good blocks of a pack in order. After a bad block, it continues where the next good one begins."""
    end = stream.seek(0, os.SEEK_END)
    while offset < end:
        try:
            block = read_block(stream, offset)
        except BadBlock:
            following = _next_mark(stream, offset + 1, end)
            if following is None:
                return
            offset = following
            continue
        yield block
        offset = block.end


def _next_mark(stream: BinaryIO, offset: int, end: int) -> int | None:
    step = 1 << 20
    while offset < end:
        stream.seek(offset)
        data = stream.read(step + 3)
        places = [place for kind in (DATA, RECORDS) if (place := data.find(kind)) >= 0]
        if places:
            return offset + min(places)
        offset += step
    return None


def pack_name(number: int) -> str:
    return f"{number:08d}.pack"


def pack_numbers(folder: Path) -> list[int]:
    """Return the numbers of the packs in a folder, in order."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(
        int(name[:8])
        for name in names
        if len(name) == 13 and name.endswith(".pack") and name.isascii() and name[:8].isdigit()
    )
