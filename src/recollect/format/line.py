"""Read the lines of a transcript as bytes; describe damage as a value with its place.

The bytes of a line are never changed: joining the `RawLine.data` of a file gives the file back, whatever it holds.
A line ends at LF only, as in Claude Code; CR, U+2028 and the like are content.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct

PIECE: Final = 4 << 20
"""How many bytes are read from a stream in one step, at most."""
HELD_LIMIT: Final = 128 << 20
"""A longer line is read in pieces, never into memory as a whole (no version of Claude Code can parse such a line either)."""

BOM: Final = b"\xef\xbb\xbf"


class RawLine(Struct, frozen=True, gc=False):
    """The bytes of one line with its line end, and their place. `number` counts from 1, `offset` from the start of the file.

    An object that was written over several lines is one `RawLine` too, see `several_lines`.
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
    """True where Claude Code skips the bytes because of the lines around them, even if they are valid (see `several_lines`)."""
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
    "torn": "an object that ends too early: the client skips the line",
    "glued": "more than one object on a line: the client reads the first one at most",
    "nul": "NUL bytes, as left by a crash: the client skips the line",
    "not-json": "no JSON at all: the client skips the line",
    "not-object": "JSON, but no object: the client skips the line",
    "encoding": "invalid UTF-8: the client shows U+FFFD",
    "surrogate": "half of a surrogate pair: the client shows U+FFFD",
    "nonstandard-number": "NaN or Infinity: the client skips the line",
    "control-character": "a raw control character inside a string: the client skips the line",
    "several-lines-unread": "an object over several lines in a file above 5 MiB: the client skips its lines",
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
