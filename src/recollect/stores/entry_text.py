"""Convert entries to JSON text and back. Entries that would not come back equal are refused before they are stored.

Refused are Python values that JSON cannot carry: NaN and the infinities; keys that are not strings; tuples, sets, bytes
and objects; integers of more than 4300 digits; nesting deeper than Python's own JSON goes (about a thousand); and both
halves of a surrogate pair as two characters (JSON has only the character they mean). Half of a pair alone, integers of
any usual size, NUL, U+2028 and every other text are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from ..errors import Refused
from ..format.line import BOM

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_decoder: Final = json.JSONDecoder()
_BETWEEN: Final = re.compile(r"[\s\x00]*")


@dataclass(frozen=True, slots=True)
class EntryText:
    """One entry as a line without its line feed. `digest` is set for a line that must not be stored twice."""

    line: bytes
    digest: bytes | None


def digest_of(line: bytes) -> bytes:
    return blake2b(line, digest_size=16).digest()


def encode_entries(entries: Iterable[Mapping[str, Any]]) -> list[EntryText]:
    """Encode all entries of a batch. Raises Refused before any of them is stored."""
    return [_encode(entry, number) for number, entry in enumerate(entries, 1)]


def _encode(entry: Mapping[str, Any], number: int) -> EntryText:
    if not isinstance(entry, dict):
        raise _not_json(number, f"it is a {type(entry).__name__}, no JSON object")
    try:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text = _LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
        same = json.loads(text) == entry
    except (TypeError, ValueError, RecursionError) as problem:
        raise _not_json(number, str(problem)) from problem
    if not same:
        raise _not_json(
            number, "it would come back different (a key that is not text, a tuple, a split surrogate pair)"
        )
    line = text.encode()
    # A row with an id that comes again is the same row (a batch resent after an error); a repeated state line is new.
    return EntryText(line, digest_of(line) if isinstance(entry.get("uuid"), str) else None)


def _not_json(number: int, why: str) -> Refused:
    return Refused(f"entry {number} of the batch is not JSON data: {why}", slug="not-json")


def decode_line(line: bytes) -> list[dict[str, Any]]:
    """Return the objects on a line: usually one, none for a torn line, several if another program joined lines."""
    text = line.removeprefix(BOM).decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except RecursionError:
        return []
    except ValueError:
        return list(_complete_objects(text))
    return [value] if isinstance(value, dict) else []


def _complete_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects from the start of the line on. Objects inside a torn one were never entries of their own."""
    position = 0
    while True:
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it matches at every position
        try:
            value, position = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def decode_lines(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the entries of some lines in order. A repeated line with an id is skipped."""
    seen: set[bytes] = set()
    for line in lines:
        line = line.rstrip(b"\r\n")
        if line in seen:
            continue
        for entry in decode_line(line):
            if isinstance(entry.get("uuid"), str):
                seen.add(line)
            yield entry
