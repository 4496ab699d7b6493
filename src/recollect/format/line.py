"""Read the lines of a transcript as bytes; describe damage as a value with its place.

The bytes of a line are never changed: joining the `RawLine.data` of a file gives the file back, whatever it holds.
A line ends at LF only, as in Claude Code; CR, U+2028 and the like are content.

Another tool may have written an object over several lines. Claude Code reads value after value, across line ends. Measured
with 2.1.326, in files of up to 5 MiB: bytes behind a value on its last line are skipped; for an invalid value, the line on
which it begins is skipped; for a value still open at the end of the file, everything from its start is skipped. In larger
files, and in 2.0.77, each line is read by itself. Here such an object is one `RawLine` in files of any size
(`read_entry_lines`), so that a growing file is read alike at every size; `RawLine.unread` marks bytes that Claude Code does
not read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import BinaryIO, Final

import msgspec
from msgspec import Struct

from .entries import REFUSED, whole_pairs

PIECE: Final = 4 << 20
"""How many bytes are read from a stream in one step, at most."""
HELD_LIMIT: Final = 128 << 20
"""A longer line is read in pieces, never into memory as a whole (no version of Claude Code can parse such a line either)."""

BOM: Final = b"\xef\xbb\xbf"


class RawLine(Struct, frozen=True, gc=False):
    """The bytes of one line with its line end, and their place. `number` counts from 1, `offset` from the start of the file.

    An object that was written over several lines is one `RawLine` too, see `join_lines`.
    """

    data: bytes
    offset: int
    number: int
    part: int = 0
    """The number of the piece, from 0 on, of a line longer than `HELD_LIMIT`; 0 for every other line."""
    more: bool = False
    """True on every piece but the last of a line longer than `HELD_LIMIT`."""
    lines: int = 1
    """How many lines of the file the bytes span: more than one for an object that was written over several lines."""
    unread: bool = False
    """True where Claude Code skips the bytes because of the lines around them, even if they are valid (see `join_lines`)."""
    unclosed: bool = False
    """True for lines at the end of a file that belong to an incomplete value: the rest may still be written."""

    @property
    def last_number(self) -> int:
        """The number of the last line of the file that the bytes span."""
        return self.number + self.lines - 1

    def number_at(self, place: int) -> int:
        """Return the number of the file's line that holds the byte at `place`."""
        return self.number if self.lines == 1 else self.number + self.data.count(b"\n", 0, place)

    @property
    def ending(self) -> bytes:
        return b"\n" if self.data.endswith(b"\n") else b""

    @property
    def body(self) -> bytes:
        """The line without its line end, a CR before that, and the byte order mark of the file."""
        data = self.data
        start = 3 if self.number == 1 and data.startswith(BOM) else 0
        return data[start:].rstrip(b"\r\n") if start or data[-1:] in b"\r\n" else data


class Damage(Struct, frozen=True, gc=False):
    """A defect at a place of a file. Damage is reported as a value, never as an exception, and never changes the file."""

    kind: str
    line: int
    offset: int
    length: int
    detail: str = ""

    @property
    def meaning(self) -> str:
        """What this kind of damage means, in words."""
        return DAMAGE_KINDS.get(self.kind, "")


#: What each kind of damage means, and whether Claude Code loses the line because of it.
DAMAGE_KINDS: Final[dict[str, str]] = {
    "torn": "an object that ends too early: Claude Code skips the line",
    "glued": "more than one object on a line: Claude Code reads the first one at most",
    "nul": "NUL bytes, as left by a crash: Claude Code skips the line",
    "not-json": "not JSON at all: Claude Code skips the line",
    "not-object": "JSON, but not an object: Claude Code skips the line",
    "encoding": "invalid UTF-8: Claude Code shows U+FFFD",
    "surrogate": "half of a surrogate pair: Claude Code shows U+FFFD",
    "nonstandard-number": "NaN or Infinity: Claude Code skips the line",
    "control-character": "a raw control character inside a string: Claude Code skips the line",
    "several-lines-unread": "an object over several lines in a file above 5 MiB: Claude Code skips its lines",
    "too-deep": "nested deeper than JSON readers go: kept as it is",
    "oversize": "a line too long to be held in memory: kept as it is, in pieces",
    "bom": "a byte order mark at the start: ignored",
    "crlf": "CR before the line feed: ignored",
    "blank": "an empty line: ignored",
    "several-lines": "an object over several lines: read like any other",
    "no-newline": "the last line has no line feed: it is complete nonetheless",
}

#: Kinds of damage without any effect; they are counted, but not shown as damage.
HARMLESS: Final = frozenset({"bom", "crlf", "blank", "several-lines", "no-newline"})


def read_lines(stream: BinaryIO, *, offset: int = 0, number: int = 1) -> Iterator[RawLine]:
    """Yield the lines of a seekable stream from its current position (`offset` in the file), with bounded memory."""
    while True:
        data = stream.readline(PIECE)
        if not data:
            return
        if len(data) < PIECE or data.endswith(b"\n"):
            yield RawLine(data, offset, number)
            offset += len(data)
        else:
            length = _line_length(stream, len(data))
            stream.seek(offset)
            if length <= HELD_LIMIT:
                yield RawLine(stream.read(length), offset, number)
                offset += length
            else:
                yield from _pieces(stream, offset, length, number)
                offset += length
        number += 1


def _line_length(stream: BinaryIO, seen: int) -> int:
    """Return the length of the line of which the first `seen` bytes, without an LF, were read."""
    while True:
        data = stream.readline(PIECE)
        seen += len(data)
        if len(data) < PIECE or data.endswith(b"\n"):
            return seen


def _pieces(stream: BinaryIO, offset: int, length: int, number: int) -> Iterator[RawLine]:
    end = offset + length
    part = 0
    while offset < end:
        data = stream.read(min(PIECE, end - offset))
        if not data:  # the file was truncated during the read
            return
        yield RawLine(data, offset, number, part, more=offset + len(data) < end)
        offset += len(data)
        part += 1


_value: Final = msgspec.json.Decoder(msgspec.Raw).decode
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_TRAILING: Final = "JSON is malformed: trailing characters (byte "
_INVALID: Final = "JSON is malformed: invalid character (byte "
_TRUNCATED: Final = "Input data was truncated"
_LONGEST_WORD: Final = len("false")
"""In a word that is cut off, decoders name another place with a line end behind it than without."""
_BLANK: Final = b" \t\r\n"
_ODD: Final = frozenset([*range(0x20), *b"NI"])
"""Control characters, and the first letters of NaN and Infinity."""


class Extent(Struct, frozen=True, gc=False):
    """The end of a value, and how far the decoder got."""

    end: int | None
    """The end of the value; None where it is not complete or not valid."""
    reached: int
    """How far the value was read: to the end of the data where it is still open there."""
    odd: bool = False
    """True where a lenient reader could go on: behind NaN, in deep nesting, behind a control character in a string."""


def value_extent(data: bytes, start: int = 0, end: int | None = None) -> Extent:
    """Find the extent of the value that begins at `start`. The data must not hold half surrogate pairs."""
    stop = len(data) if end is None else end
    view = memoryview(data)[start:stop]
    try:
        _value(view)
    except REFUSED as problem:
        place, odd = failed_at(view, problem)
        if not str(problem).startswith(_TRAILING):
            return Extent(None, start + place, odd)
        stop = start + place
    return _ends_before(data, stop)


def _ends_before(data: bytes, stop: int) -> Extent:
    while data[stop - 1] in _BLANK:
        stop -= 1
    return Extent(stop, stop)


def extent_of_refused(data: bytes, problem: Exception, line_end: bool = False) -> Extent | None:
    """Find the extent of the object at the start of data that a decoder refused with this error.

    With `line_end`, the decoder read the line with its line end, and `data` come without it. None where the error does not
    tell: the decoder may have refused only a type, a number or a text, or did not get further than the line end did.
    """
    words = str(problem)
    if words == _TRUNCATED:
        return Extent(None, len(data))
    if words.startswith(_TRAILING):
        return _ends_before(data, int(words[len(_TRAILING) : -1]) - 1)
    if not words.startswith(_INVALID):
        return None
    place = int(words[len(_INVALID) : -1])
    if not line_end or place < len(data) - _LONGEST_WORD:
        return Extent(None, place, _is_odd(data, place))
    return Extent(None, len(data)) if place == len(data) else None


def failed_at(data: bytes | memoryview, problem: Exception) -> tuple[int, bool]:
    """Return where the decoder failed, by its message, and whether a lenient reader could go on (see `Extent.odd`).

    For data that end too early, the place is their end.
    """
    words = str(problem)
    if words == _TRUNCATED:
        return len(data), False
    found = _BYTE.search(words)
    if found is None:
        return len(data), True
    place = int(found[1])
    if words.startswith(_TRAILING):
        return place - 1, False
    return place, _is_odd(data, place)


def _is_odd(data: bytes | memoryview, place: int) -> bool:
    return (place < len(data) and data[place] in _ODD) or (place > 0 and data[place - 1] in _ODD)


SMALL_FILE: Final = 5 << 20
"""Up to this size Claude Code reads value after value, above it line by line. Longer values over lines are not joined."""
_MOST_LINES: Final = 1 << 18
"""The largest number of lines held in memory."""
_PATIENCE: Final = 16
"""How many times its own length a run of lines is read, at most, to find values that begin inside an invalid one."""
_OPENS: Final = frozenset(b"{[,:")
"""If a line ends with one of these bytes, its value may go on with any byte on the next line."""
_GOES_ON: Final = frozenset(b",:}]\n")
"""If a line begins with one of these bytes (or is blank), it may continue a value whatever the line before ended with."""


def read_entry_lines(
    stream: BinaryIO, *, offset: int = 0, number: int = 1, size: int | None = None
) -> Iterator[RawLine]:
    """Yield the lines of a transcript as `read_lines` does, but each object over several lines as one `RawLine`.

    `size` is the size of the whole file; by default it is determined from the stream.
    """
    if size is None:
        position = stream.tell()
        size = stream.seek(0, 2)
        stream.seek(position)
    return join_lines(read_lines(stream, offset=offset, number=number), small=size <= SMALL_FILE)


def join_lines(lines: Iterable[RawLine], *, small: bool) -> Iterator[RawLine]:
    """Join the lines of each object that spans several. `small` means that the file is not larger than `SMALL_FILE`.

    Lines at the end that belong to a value which is not closed yet are not joined, but marked as `unclosed`.
    """
    stretch: list[RawLine] = []
    length = 0
    last = 0
    """The last byte of `stretch` that is not blank."""
    for line in lines:
        data = line.data
        if stretch:
            first = data[0]
            if first in _BLANK:
                first = (data.lstrip(_BLANK)[:1] or b"\n")[0]
            if (last in _OPENS or first in _GOES_ON) and not line.more and not line.part:
                length += len(data)
                if length <= SMALL_FILE and len(stretch) < _MOST_LINES:
                    stretch.append(line)
                    if first != 0x0A:
                        last = _last_byte(data)
                    continue
            if len(stretch) == 1:
                yield stretch[0]
            else:
                yield from _resolved(stretch, small=small, at_end=False)
            stretch = []
        last = _last_byte(data)
        if last == 0x0A or line.more or line.part or len(data) > SMALL_FILE:
            yield line
        else:
            stretch, length = [line], len(data)
    if stretch:
        yield from _resolved(stretch, small=small, at_end=True)


def _last_byte(data: bytes) -> int:
    """Return the last byte that is not blank; a line feed for a blank line."""
    before_end = data[-2:]
    if before_end[-1] == 0x0A and before_end[0] > 0x20:
        return before_end[0]
    return (data.rstrip(_BLANK)[-1:] or b"\n")[0]


def _resolved(stretch: list[RawLine], *, small: bool, at_end: bool) -> Iterator[RawLine]:
    """Find the values in a run of lines and join their lines. With `at_end`, the last value may still be incomplete."""
    data = whole_pairs(stretch[0].data if len(stretch) == 1 else b"".join([line.data for line in stretch]))
    stops = list(accumulate(len(line.data) for line in stretch))
    patience = _PATIENCE * len(data) + 4096
    place = 0
    while place < len(stretch):
        start = stops[place - 1] if place else 0
        if place == 0 and stretch[0].number == 1 and data.startswith(BOM):
            start = len(BOM)
        if patience < 0 or not stretch[place].data.strip(_BLANK):
            yield stretch[place]
            place += 1
            continue
        extent = value_extent(data, start)
        patience -= extent.reached - start
        if extent.end is not None:
            behind = bisect_left(stops, extent.end) + 1
            yield from _value_lines(stretch[place:behind], small=small)
            place = behind
        elif extent.reached == len(data) and at_end and not extent.odd:
            for line in stretch[place:]:
                yield RawLine(line.data, line.offset, line.number, unread=small, unclosed=True)
            return
        else:
            yield stretch[place]
            place += 1


def _value_lines(lines: list[RawLine], *, small: bool) -> Iterator[RawLine]:
    """Yield the lines of a complete value, joined to one `RawLine` if the value is an object.

    Other values stay apart and are marked: Claude Code reads no entry inside them.
    """
    first = lines[0]
    if len(lines) == 1:
        yield first
    elif first.data.removeprefix(BOM).lstrip(_BLANK)[:1] == b"{":
        data = b"".join([line.data for line in lines])
        yield RawLine(data, first.offset, first.number, lines=len(lines), unread=not small)
    else:
        for line in lines:
            yield RawLine(line.data, line.offset, line.number, unread=small)
