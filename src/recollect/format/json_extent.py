"""How far a JSON value goes that may be cut off, wrong, or followed by something else: told by the fast decoder."""

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
    """Where a value is complete, or None; and how far it was read: to the end of the data where it is still open there."""

    end: int | None
    reached: int
    odd: bool = False
    """True where a more patient reader could go on: behind NaN, in a deep nesting, behind a control character in a string."""


def value_extent(data: bytes, start: int = 0, end: int | None = None) -> Extent:
    """Read the value that begins at `start`. Half surrogate pairs must have been taken out of the data before."""
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
    """Where the decoder gave up, by what it says: at the end of the data where they end too early. And whether that is odd."""
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
