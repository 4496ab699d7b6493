"""Replace parts of the strings of a line, and keep every other byte of it.

The line is not decoded and encoded again: no JSON library gives back odd white space, escapes, the order of keys, keys that
stand twice, NaN or half a surrogate pair. Tokens are found in its bytes, one after the other and without recursion. Of a line
that is no JSON, the objects that can be salvaged are treated as such, and what lies between them as plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from ..format.entries import REFUSED
from ..format.line import BOM, RawLine
from ..format.salvage import is_utf8, salvage_line


class Replacement(NamedTuple):
    """Put `text` in the place of the code points from `start` up to `end` of a decoded string."""

    start: int
    end: int
    text: str


ChangeString = Callable[[str, str], Sequence[Replacement]]
"""Given the JSON pointer and the decoded text of a string: what to replace in it, in order and without overlap."""
ChangeText = Callable[[str, str], str | None]
"""Given the JSON pointer and the decoded text of a string: the whole new text, or None to keep it."""

_TOKEN: Final = re.compile(
    rb'"(?P<inside>(?:[^"\\]++|\\.)*+)(?P<close>"(?P<colon>[ \t\r\n]*+:)?+)?+|(?P<mark>[{}\[\],])', re.DOTALL
)
_STRUCTURE: Final = re.compile(rb"[\s{}\[\],:]++|(?:true|false|null|-?[0-9][0-9.eE+-]*+)(?![\w.])")
_PIECE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\.|[^\\]++", re.DOTALL)
_LOW_HALF: Final = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HALF_ESCAPE: Final = re.compile(rb"\\u[0-9a-fA-F]{0,3}\Z")
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_LONGEST_POINTER: Final = 4096
"""A pointer is not made longer than this, so that deep nesting and long keys cost no more than their length."""
_LONGEST_KEY: Final = 512

_raw: Final = msgspec.json.Decoder(msgspec.Raw).decode


def rewrite_line(line: bytes, change: ChangeText) -> bytes:
    """Return the line with the strings of its values changed. Object keys are never changed.

    Of a string that changes, the letters before the first and after the last difference keep their bytes.
    """

    def replacements(pointer: str, text: str) -> Sequence[Replacement]:
        new = change(pointer, text)
        return () if new is None or new == text else (_difference(text, new),)

    return rewrite_strings(line, replacements)


def rewrite_strings(
    line: bytes,
    change: ChangeString,
    *,
    change_key: ChangeString | None = None,
    plain_keys: Container[str] = (),
    shortest: int = 0,
) -> bytes:
    """Return the line with parts of its strings replaced; every byte outside of these parts is kept, also within the strings.

    `change_key` is given object keys, with the pointer of their value; without it they are passed over, as those of
    `plain_keys` are. What is no JSON is given to `change` as one text, undecoded, with an empty pointer. Strings of fewer than
    `shortest` bytes are passed over.
    """
    edits = list(_edits(line, change, change_key, plain_keys, shortest))
    if not edits:
        return line
    parts: list[bytes] = []
    place = 0
    for start, end, new in edits:
        parts += (line[place:start], new)
        place = end
    return b"".join([*parts, line[place:]])


def _edits(
    line: bytes, change: ChangeString, change_key: ChangeString | None, plain_keys: Container[str], shortest: int
) -> Iterator[tuple[int, int, bytes]]:
    for start, end, kind in _stretches(line):
        if kind == "text":
            new = _changed_text(line[start:end], change)
            if new is not None:
                yield start, end, new
        else:
            torn = kind == "torn"
            yield from _json_edits(line, start, end, change, change_key, plain_keys, torn=torn, shortest=shortest)


def _stretches(line: bytes) -> Iterator[tuple[int, int, str]]:
    """Divide a line into JSON, JSON that is torn off, and text that is neither. Line ends belong to none of them."""
    start = len(BOM) if line.startswith(BOM) else 0
    end = len(line)
    while end > start and line[end - 1] in b"\r\n":
        end -= 1
    try:
        _raw(memoryview(line)[start:end])
    except REFUSED:
        pass
    else:
        yield start, end, "json"
        return
    saved = salvage_line(RawLine(line[start:end], 0, 1))
    known = [(start + item.start, start + item.end, "json") for item in saved.found]
    known += [
        (start + item.offset, start + item.offset + item.length, "torn") for item in saved.damage if item.kind == "torn"
    ]
    place = start
    for first, last, kind in sorted(known):
        if first < place:
            continue
        if place < first:
            yield place, first, "text"
        yield first, last, kind
        place = last
    if place < end:
        yield place, end, "text"


def _json_edits(
    line: bytes,
    start: int,
    end: int,
    change: ChangeString,
    change_key: ChangeString | None,
    plain_keys: Container[str],
    *,
    torn: bool,
    shortest: int,
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the edits of the strings between two places. Knows of each open bracket its pointer, and the place in it."""
    prefixes: list[str] = [""]
    inside: list[int | str] = [""]  # of each open bracket: the key or the number of the value that is read
    seen = start
    for token in _TOKEN.finditer(line, start, end):
        if torn:
            yield from _stray_text(line, seen, token.start(), change)
            seen = token.end()
        raw, close, colon, mark = token.groups()
        if mark is None:
            if colon is None:
                if len(raw) < shortest:
                    continue
                asked = change
                rest = b"" if close is not None else _half_escape(raw)
                if rest:
                    raw = raw[: -len(rest)]
                text, is_escaped = _decoded(raw)
            else:
                text, is_escaped = _decoded(raw)
                inside[-1] = text
                if change_key is None or len(text) < shortest or text in plain_keys:
                    continue
                asked, rest = change_key, b""
            parts = asked(_pointer(prefixes, inside), text)
            if parts:
                new = _new_string(raw, list(_in_order(parts, len(text))), is_escaped)
                yield token.start(1), token.end(1), new + rest
        elif mark == b",":
            if isinstance(inside[-1], int):
                inside[-1] += 1
        elif mark in b"{[":
            prefixes.append(_pointer(prefixes, inside))
            inside.append(0 if mark == b"[" else "")
        elif len(inside) > 1:
            prefixes.pop()
            inside.pop()
    if torn:
        yield from _stray_text(line, seen, end, change)


def _pointer(prefixes: list[str], inside: list[int | str]) -> str:
    prefix, part = prefixes[-1], inside[-1]
    if len(inside) == 1 or len(prefix) > _LONGEST_POINTER:
        return prefix
    if isinstance(part, str):
        if len(part) > _LONGEST_KEY:
            part = part[:_LONGEST_KEY]
        if "~" in part or "/" in part:
            part = part.replace("~", "~0").replace("/", "~1")
    return f"{prefix}/{part}"


def _stray_text(line: bytes, start: int, end: int, change: ChangeString) -> Iterator[tuple[int, int, bytes]]:
    """Yield the change of what stands between the strings of damaged JSON, if it is more than brackets and numbers."""
    if start < end and _STRUCTURE.sub(b"", line[start:end]):
        new = _changed_text(line[start:end], change)
        if new is not None:
            yield start, end, new


def _changed_text(data: bytes, change: ChangeString) -> bytes | None:
    text = data.decode("utf-8", "surrogateescape")
    parts = list(_in_order(change("", text), len(text)))
    return _put_together(text, [(item.start, item.end, _sayable(item.text)) for item in parts]) if parts else None


def _new_string(raw: bytes, parts: Sequence[Replacement], is_escaped: bool | None) -> bytes:
    """Return the new bytes between the quotes of a string."""
    written = raw.decode("utf-8", "surrogateescape")
    places = _places(written, parts) if is_escaped else [place for item in parts for place in (item.start, item.end)]
    if is_escaped is None:
        encoded = [_sayable(item.text).replace('"', "'") for item in parts]
    else:
        ascii_only = raw.isascii() and b"\\u" in raw
        encoded = [_encoded(item.text, ascii_only=ascii_only, bytes_too=not is_utf8(raw)) for item in parts]
    return _put_together(written, list(zip(places[::2], places[1::2], encoded, strict=True)))


def _half_escape(raw: bytes) -> bytes:
    """Return the beginning of an escape with which a string that is torn off ends."""
    half = _HALF_ESCAPE.search(raw, max(len(raw) - 5, 0))
    if half is None:
        return b""
    head = raw[: half.start() + 1]
    return half[0] if (len(head) - len(head.rstrip(b"\\"))) % 2 else b""


def _decoded(raw: bytes) -> tuple[str, bool | None]:
    """Decode what stands between quotes, and say whether it holds escapes; None where these are invalid: then as it stands."""
    text = raw.decode("utf-8", "surrogateescape")
    if "\\" not in text:
        return text, False
    try:
        value: str = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return text, None
    return value, True


def _encoded(text: str, *, ascii_only: bool, bytes_too: bool) -> str:
    """Encode a new text. Half a surrogate pair is written as an escape, unless it stands for a byte that was no text."""
    written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    if written.isascii():
        return written
    return _HALF_PAIR.sub(
        lambda half: half[0] if bytes_too and "\udc80" <= half[0] <= "\udcff" else f"\\u{ord(half[0]):04x}", written
    )


def _sayable(text: str) -> str:
    return text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)


def _put_together(text: str, parts: Sequence[tuple[int, int, str]]) -> bytes:
    pieces: list[str] = []
    place = 0
    for start, end, new in parts:
        pieces += (text[place:start], new)
        place = end
    return "".join([*pieces, text[place:]]).encode("utf-8", "surrogateescape")


def _in_order(parts: Sequence[Replacement], length: int) -> Iterator[Replacement]:
    """Yield the replacements by their place; one that overlaps an earlier one or lies outside of the text is left out."""
    place = 0
    for item in sorted(parts):
        if place <= item.start <= item.end <= length:
            yield item
            place = item.end


def _places(written: str, parts: Sequence[Replacement]) -> list[int]:
    """Return where the starts and ends of the replacements lie in a string as it is written, with its escapes."""
    wanted = [place for item in parts for place in (item.start, item.end)]
    found: list[int] = []
    count = place = 0
    while len(found) < len(wanted):
        piece = _PIECE.match(written, place)
        if piece is None:
            found += [len(written)] * (len(wanted) - len(found))
            break
        end = piece.end()
        is_escape = written[place] == "\\"
        if piece[1] is not None and piece[1][0] in "dD" and piece[1][1] in "89abAB":
            low = _LOW_HALF.match(written, end)
            end = low.end() if low is not None else end
        length = 1 if is_escape else end - place
        while len(found) < len(wanted) and wanted[len(found)] < count + length:
            found.append(place + (wanted[len(found)] - count))
        count, place = count + length, end
    return found


def _difference(old: str, new: str) -> Replacement:
    """Return the one replacement that makes the new text of the old one, without what both begin and end with."""
    shorter = min(len(old), len(new))
    first = _common(old, new, shorter)
    last = _common(old[::-1], new[::-1], shorter - first)
    return Replacement(first, len(old) - last, new[first : len(new) - last])


def _common(one: str, other: str, limit: int) -> int:
    """Return how many letters two texts begin with in common, at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
