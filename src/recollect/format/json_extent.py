"""Find the end of a JSON value that may be cut off, invalid, or followed by other bytes, with the fast decoder.

The place of an error is read from the decoder's message.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

from .entries import REFUSED

_value: Final = msgspec.json.Decoder(msgspec.Raw).decode
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_TRAILING: Final = "JSON is malformed: trailing characters"
_BLANK: Final = b" \t\r\n"


class Extent(NamedTuple):
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
    while data[stop - 1] in _BLANK:
        stop -= 1
    return Extent(stop, stop)


def failed_at(data: bytes | memoryview, problem: Exception) -> tuple[int, bool]:
    """Return where the decoder failed, by its message, and whether a lenient reader could go on (see `Extent.odd`).

    For data that end too early, the place is their end.
    """
    words = str(problem)
    if words == "Input data was truncated":
        return len(data), False
    found = _BYTE.search(words)
    if found is None:
        return len(data), True
    place = int(found[1])
    if words.startswith(_TRAILING):
        return place - 1, False
    return place, any(byte < 0x20 or byte in b"NI" for byte in data[max(place - 1, 0) : place + 1])
