"""Objects that some other tool wrote over several lines, as Claude Code reads them: one value after the other, across line ends.

Measured with 2.1.326, in files of up to 5 MiB: what stands behind a value on its last line is passed over; a value that fails
costs the line it begins on; one that is still open at the end of the file costs everything from its start. Above that size,
and in 2.0.77, each line is read by itself. Here an object over several lines is one `RawLine` in files of any size, so that
a file that grows is read alike at every size; whether Claude Code reads it stands beside it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import BinaryIO, Final

from .entries import whole_pairs
from .json_extent import value_extent
from .line import BOM, RawLine, read_lines

SMALL_FILE: Final = 5 << 20
"""Up to this size Claude Code reads value after value, above it line after line. No value over several lines is longer."""
_MOST_LINES: Final = 1 << 18
"""So many lines are held at once, at most."""
_PATIENCE: Final = 16
"""How many times its own length a stretch of lines is read in search of values that begin inside one that fails."""
_BLANK: Final = b" \t\r\n"
_OPENS: Final = frozenset(b"{[,:")
"""Behind these at the end of a line, a value may go on with whatever begins the next line."""
_GOES_ON: Final = frozenset(b",:}]\n")
"""Where one of these begins a line (or nothing stands on it), a value may go on behind whatever ended the line before."""


def read_entry_lines(
    stream: BinaryIO, *, offset: int = 0, number: int = 1, size: int | None = None
) -> Iterator[RawLine]:
    """Read the lines of a transcript as `read_lines` does, with each object over several lines as one of them.

    `size` is that of the whole file; it is looked up where it is not given.
    """
    if size is None:
        position = stream.tell()
        size = stream.seek(0, 2)
        stream.seek(position)
    return join_lines(read_lines(stream, offset=offset, number=number), small=size <= SMALL_FILE)


def join_lines(lines: Iterable[RawLine], *, small: bool) -> Iterator[RawLine]:
    """Join the lines of each object that is spread over several. `small`: the file is no larger than `SMALL_FILE`.

    Lines at the end that belong to a value which is not closed yet are marked as such, and stay apart.
    """
    stretch: list[RawLine] = []
    length = 0
    last = 0
    """The last byte of the stretch that is not blank."""
    for line in lines:
        data = line.data
        if stretch:
            first = _first_byte(line)
            if (first in _GOES_ON or last in _OPENS) and not line.more and not line.part:
                length += len(data)
                if length <= SMALL_FILE and len(stretch) < _MOST_LINES:
                    stretch.append(line)
                    if first != 0x0A:
                        last = _last_byte(data)
                    continue
            yield from stretch if len(stretch) == 1 else _resolved(stretch, small=small, at_end=False)
            stretch = []
        last = _last_byte(data)
        if line.more or line.part or len(data) > SMALL_FILE or last == 0x0A:
            yield line
        else:
            stretch, length = [line], len(data)
    if stretch:
        yield from _resolved(stretch, small=small, at_end=True)


def _first_byte(line: RawLine) -> int:
    """The first byte that is not blank; a line feed where there is none."""
    first = line.data[0]
    return first if first not in _BLANK else (line.data.lstrip(_BLANK)[:1] or b"\n")[0]


def _last_byte(data: bytes) -> int:
    if data[-2:] == b"}\n":
        return 0x7D
    return (data.rstrip(_BLANK)[-1:] or b"\n")[0]


def _resolved(stretch: list[RawLine], *, small: bool, at_end: bool) -> Iterator[RawLine]:
    """Tell the values of some lines apart. No value goes on behind them, except where they are `at_end` of what there is."""
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
        end, reached, odd = value_extent(data, start)
        patience -= reached - start
        if end is not None:
            behind = bisect_left(stops, end) + 1
            yield from _value_lines(stretch[place:behind], small=small)
            place = behind
        elif reached == len(data) and at_end and not odd:
            for line in stretch[place:]:
                yield RawLine(line.data, line.offset, line.number, unread=small, unclosed=True)
            return
        else:
            yield stretch[place]
            place += 1


def _value_lines(lines: list[RawLine], *, small: bool) -> Iterator[RawLine]:
    """The lines of a whole value: one, if it is an object. Of anything else the client reads nothing that stands inside."""
    first = lines[0]
    if len(lines) == 1:
        yield first
    elif first.data.removeprefix(BOM).lstrip(_BLANK)[:1] == b"{":
        data = b"".join([line.data for line in lines])
        yield RawLine(data, first.offset, first.number, lines=len(lines), unread=not small)
    else:
        for line in lines:
            yield RawLine(line.data, line.offset, line.number, unread=small)
