"""The envelope of every line: who wrote what, when and where, and nothing of what was said. The fastest way through a file.

Lines are decoded many at a time, out of one buffer that is used again and again. Where anything in it is not plain, that part
is read line by line, the patient way: what comes out is the same. (But for an object that goes over several lines, which no
client writes: here it is one entry, elsewhere damage.)
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from mmap import mmap
from typing import BinaryIO, Final

import msgspec

from .decode import parse_lines
from .entries import REFUSED, Entry
from .line import RawLine, read_lines

BUFFER: Final = 1 << 19
"""How much is decoded at once: small enough to stay close to the processor. It grows for longer lines, up to `LONGEST`."""
LONGEST: Final = 4 << 20
_FEW: Final = 8 << 10
_MOST_SPARE: Final = 4

#: Buffers that nobody uses now: making one costs more than reading a small file into it.
_spare: list[mmap] = []


class Envelope(msgspec.Struct, gc=False):
    """What stands around the words of an entry; names and order as on disk."""

    parentUuid: str | None = None
    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None


_PLACE: Final = re.compile(r"\(byte (\d+)\)")
_decode_lines: Final = msgspec.json.Decoder(Envelope).decode_lines


def read_envelopes(stream: BinaryIO) -> Iterator[list[Envelope]]:
    """One for each entry of a file, in order, many at a time; `stream` is seekable, unbuffered, and at its start."""
    room = _spare.pop() if _spare else mmap(-1, 2 * BUFFER)
    try:
        yield from _batches(stream, room)
    finally:
        if len(_spare) < _MOST_SPARE:
            _spare.append(room)


def _batches(stream: BinaryIO, room: mmap) -> Iterator[list[Envelope]]:
    """What is read goes into the second half of the room, at the start of a page: the system copies that much faster.

    The beginning of a line that is not all there yet is put right before it, at the end of the first half.
    """
    view, half = memoryview(room), len(room) // 2
    start, offset = half, 0  # where the bytes begin that are still to be decoded, in the room and in the file
    while count := stream.readinto(view[half:]):  # type: ignore[attr-defined]  # BinaryIO does not know it
        stop = half + count
        end = room.rfind(b"\n", start, stop) + 1
        if end:
            yield from _decoded(view[start:end], offset == 0)
            offset += end - start
            start = end
        rest = stop - start
        if rest <= half:
            room.move(half - rest, start, rest)
            start = half - rest
        elif half < LONGEST:
            larger = mmap(-1, 2 * len(room))
            half = len(room)
            larger[half - rest : half] = view[start:stop]
            room, view, start = larger, memoryview(larger), half - rest
        else:
            length, found = _long_line(stream, offset)
            yield found
            offset += length
            stream.seek(offset)
            start = half
    if start < half:
        yield from _decoded(view[start:half], offset == 0)


def _decoded(piece: memoryview, first: bool) -> Iterator[list[Envelope]]:
    """What is in a few complete lines. `first`: whether they begin the file, where a mark may stand.

    Where the decoder says which byte it cannot read, the line around it is read patiently, and all others quickly again.
    """
    data = b""
    at = 0
    while at < len(piece):
        try:
            yield _decode_lines(piece[at:])
            return
        except REFUSED as problem:
            place = _PLACE.search(str(problem))
        data = data or bytes(piece)
        wrong = min(at + int(place[1]), len(data) - 1) if place else len(data)
        start = max(at, data.rfind(b"\n", at, wrong) + 1)
        stop = data.find(b"\n", wrong) + 1 or len(data)
        if not place or stop - start > (len(data) - at) // 2:
            yield from _in_halves(piece[at:], data[at:], first)
            return
        if start > at:
            yield from _decoded(piece[at:start], first)
        yield _patiently(data[start:stop], first and not start)
        at, first = stop, False


def _in_halves(piece: memoryview, data: bytes, first: bool) -> Iterator[list[Envelope]]:
    middle = data.rfind(b"\n", 0, len(data) // 2) + 1
    if len(data) <= _FEW or not middle:
        yield _patiently(data, first)
        return
    yield from _decoded(piece[:middle], first)
    yield from _decoded(piece[middle:], False)


def _patiently(data: bytes, first: bool) -> list[Envelope]:
    *whole, last = data.split(b"\n")
    lines = [line + b"\n" for line in whole] + ([last] if last else [])
    raw = (RawLine(line, 0, number) for number, line in enumerate(lines, 1 if first else 2))
    return [_envelope_of(item.entry) for item in parse_lines(raw, [])]


def _long_line(stream: BinaryIO, offset: int) -> tuple[int, list[Envelope]]:
    """The line that begins there: its length, and what is on it."""
    stream.seek(offset)
    length = 0
    pieces: list[RawLine] = []
    buffered = io.BufferedReader(stream, 1 << 20)  # type: ignore[type-var]  # any unbuffered stream will do
    try:
        for line in read_lines(buffered, offset=offset, number=2 if offset else 1):
            length += len(line.data)
            pieces.append(line if not line.more and not line.part else RawLine(b"", 0, 2, line.part, line.more))
            if not line.more:
                break
    finally:
        buffered.detach()
    return length, [_envelope_of(item.entry) for item in parse_lines(pieces, [])]


def _envelope_of(entry: Entry) -> Envelope:
    parent = entry.parentUuid if isinstance(entry.parentUuid, str) else None
    return Envelope(
        parent, entry.type, entry.uuid, entry.timestamp, entry.cwd, entry.sessionId, entry.version, entry.gitBranch
    )
