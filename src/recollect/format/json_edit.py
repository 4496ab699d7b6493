"""Change single strings inside JSON text and leave every other byte as it is.

The text is not decoded and encoded again, because no JSON library reproduces the same bytes. A scanner finds the places of
strings and members, an `Edit` describes a replacement of bytes, and `apply_edits` makes the replacements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

_STRING: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKENS: Final = re.compile(_STRING + rb"|[{}\[\]]", re.DOTALL)
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_PLAIN: Final = re.compile(rb"[^,\]}\s]*")
_OPENING: Final = b"{["


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes from `start` up to `end` by `text`."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class StringToken:
    """The place of a string, quotes included, and its decoded text. `is_key` is True where a colon follows."""

    start: int
    end: int
    text: str
    is_key: bool


@dataclass(frozen=True, slots=True)
class Member:
    """One ``"key": value`` of an object."""

    key: str
    key_start: int
    key_end: int
    value_start: int
    value_end: int


def encode_value(value: Any) -> bytes:
    """Encode JSON as Claude Code does: compact, with plain characters, but half surrogate pairs as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def encode_text(text: str) -> bytes:
    """Encode a JSON string, see `encode_value`."""
    return encode_value(text)


def decode_text(token: bytes) -> str | None:
    """Decode a JSON string given with its quotes; None where it is not a valid one."""
    try:
        if b"\\" not in token and _STRINGS.fullmatch(token):
            return token[1:-1].decode()
        value = json.loads(token.decode(), strict=False)
    except (ValueError, UnicodeDecodeError):
        return None
    return value if isinstance(value, str) else None


def string_tokens(data: bytes, *, limit: int | None = None) -> Iterator[StringToken]:
    """Yield every string of valid JSON; strings longer than `limit` bytes are skipped."""
    for match in _STRINGS.finditer(data):
        if limit is not None and match.end() - match.start() > limit:
            continue
        text = decode_text(match.group())
        if text is not None:
            after = _skip_space(data, match.end())
            yield StringToken(match.start(), match.end(), text, data[after : after + 1] == b":")


def values_of(data: bytes, key: str) -> Iterator[StringToken]:
    """Yield the string values of this key, at any depth."""
    pattern = re.compile(rb"(?<!\\)" + re.escape(encode_text(key)) + rb"\s*:\s*(" + _STRING + rb")", re.DOTALL)
    for match in pattern.finditer(data):
        text = decode_text(match[1])
        if text is not None:
            yield StringToken(match.start(1), match.end(1), text, False)


def members(data: bytes, start: int = 0) -> list[Member] | None:
    """Return the members of the object at `start`, after white space; None where there is no object.

    The text must be valid JSON.
    """
    place = _skip_space(data, start)
    if data[place : place + 1] != b"{":
        return None
    found: list[Member] = []
    place = _skip_space(data, place + 1)
    while data[place : place + 1] == b'"':
        key = _STRINGS.match(data, place)
        if key is None:
            return None
        colon = _skip_space(data, key.end())
        value = _skip_space(data, colon + 1)
        end = _end_of_value(data, value)
        found.append(Member(decode_text(key.group()) or "", place, key.end(), value, end))
        place = _skip_space(data, end)
        if data[place : place + 1] != b",":
            break
        place = _skip_space(data, place + 1)
    return found


def member(data: bytes, key: str, start: int = 0) -> Member | None:
    """Return the last member with this key, which is the one that counts; None where there is none."""
    return next((item for item in reversed(members(data, start) or []) if item.key == key), None)


def elements(data: bytes, start: int = 0) -> list[tuple[int, int]]:
    """Return where the elements of the array at `start` begin and end; none where there is no array."""
    place = _skip_space(data, start)
    if data[place : place + 1] != b"[":
        return []
    found: list[tuple[int, int]] = []
    place = _skip_space(data, place + 1)
    while place < len(data) and data[place : place + 1] != b"]":
        end = _end_of_value(data, place)
        found.append((place, end))
        place = _skip_space(data, end)
        if data[place : place + 1] != b",":
            break
        place = _skip_space(data, place + 1)
    return found


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the text with the edits applied. Edits must not overlap."""
    parts: list[bytes] = []
    place = 0
    for edit in sorted(edits, key=lambda item: item.start):
        parts += (data[place : edit.start], edit.text)
        place = edit.end
    return b"".join([*parts, data[place:]])


def _skip_space(data: bytes, place: int) -> int:
    if data[place : place + 1] > b" ":
        return place
    match = _SPACE.match(data, place)
    return match.end() if match else place


def _end_of_value(data: bytes, start: int) -> int:
    """Return the end of the value that begins at `start`."""
    first = data[start : start + 1]
    if first == b'"':
        match = _STRINGS.match(data, start)
        return match.end() if match else len(data)
    if first not in (b"{", b"["):
        plain = _PLAIN.match(data, start)
        return plain.end() if plain else len(data)
    depth = 0
    for token in _TOKENS.finditer(data, start):
        mark = token.group()
        if len(mark) == 1:
            depth += 1 if mark in _OPENING else -1
            if depth == 0:
                return token.end()
    return len(data)
