"""Take thinking blocks out of a line as a whole: their text is signed, and the API refuses a changed one with its old signature.

Seen with 2.1.326 and 2.1.197: a session resumes without the block. Every byte outside of the block stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from ..format.entries import REFUSED
from ..format.json_edit import Edit, Member, apply_edits, decode_text, elements, members
from ..format.line import RawLine
from ..format.salvage import salvage_line

REMOVED: Final = b'{"type":"text","text":"[thinking removed: it held a secret]"}'
"""What stands in the place of a thinking block that was alone in its row."""
_NAME: Final = b'"thinking"'
_DEEPEST: Final = 24
_raw: Final = msgspec.json.Decoder(msgspec.Raw).decode


def without_thoughts(line: bytes, holds: Callable[[str], bool]) -> tuple[bytes, int]:
    """Return the line without the thinking blocks whose text `holds` something, and how many there were.

    Of a line with damage, the objects that can be salvaged are looked at.
    """
    if _NAME not in line:
        return line, 0
    edits = [edit for start in _objects(line) for edit in _in_value(line, start, holds, 0)]
    return apply_edits(line, edits), sum(edit.text in (b"", REMOVED) for edit in edits)


def _objects(line: bytes) -> Iterator[int]:
    body = line.rstrip(b"\r\n")
    try:
        _raw(body)
    except REFUSED:
        for item in salvage_line(RawLine(body, 0, 1)).found:
            yield item.start
    else:
        yield 0


def _in_value(data: bytes, start: int, holds: Callable[[str], bool], depth: int) -> Iterator[Edit]:
    first = data[start : start + 1]
    if depth > _DEEPEST or first not in (b"{", b"["):
        return
    if first == b"{":
        for item in members(data, start) or ():
            if _NAME in data[item.value_start : item.value_end]:
                yield from _in_value(data, item.value_start, holds, depth + 1)
        return
    items = elements(data, start)
    going = [number for number, place in enumerate(items) if _is_thought(data, *place, holds)]
    if not going:
        for first_byte, last in items:
            if _NAME in data[first_byte:last]:
                yield from _in_value(data, first_byte, holds, depth + 1)
        return
    if len(going) == len(items):
        yield Edit(*items[0], REMOVED)
        yield from (Edit(items[number - 1][1], items[number][1], b"") for number in going[1:])
        return
    stays = next(number for number in range(len(items)) if number not in going)
    for number in going:  # each with the comma on the side of a block that stays
        if number < stays:
            yield Edit(items[number][0], items[number + 1][0], b"")
        else:
            yield Edit(items[number - 1][1], items[number][1], b"")


def _is_thought(data: bytes, start: int, end: int, holds: Callable[[str], bool]) -> bool:
    if data[start : start + 1] != b"{" or _NAME not in data[start:end]:
        return False
    found = {item.key: item for item in members(data, start) or ()}
    if _text(data, found.get("type")) != "thinking":
        return False
    return any(holds(text) for name in ("thinking", "text") if (text := _text(data, found.get(name))) is not None)


def _text(data: bytes, item: Member | None) -> str | None:
    return None if item is None else decode_text(data[item.value_start : item.value_end])
