"""The slow path: what can be had from a line that the fast decoder refuses.

Every complete object on the line is found, also when two are glued together, when NUL bytes stand between them, or
when one was torn off and the next one begun in the middle of it. What cannot be read stays as `Damage` with its place.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from .entries import REFUSED, Entry, entry_from_fields, loads_leniently, whole_pairs
from .line import Damage, RawLine

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^"{}\[\]:,\s]++|\s++|"', re.DOTALL)
_NULS: Final = re.compile(rb"\x00+")
# Where an entry may begin inside a torn one: the names that clients write first or that only entries carry.
_ENTRY_START: Final = re.compile(
    rb'\{\s*"(?:parentUuid|type|uuid|sessionId|leafUuid|messageId|isSidechain|logicalParentUuid|summary|timestamp)"\s*:'
)
_ENTRY_MARKS: Final = (b"uuid", b"sessionId", b"parentUuid", b"leafUuid", b"messageId", b"summary", b"timestamp")
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_NOT_SPACE: Final = re.compile(rb"[^ \t\r\n]")  # a form feed or a no-break space is no space to JSON
_PIECE: Final = 1 << 20
LARGE: Final = 32 << 20
"""A line above this that is no plain JSON is not decoded as a whole: its fields are told apart, the largest left on disk."""
_PATIENCE: Final = 16
"""How many times its own length a torn line is gone through in search of entries that begin inside it."""


@dataclass(slots=True)
class Found:
    """An object found on a line: its view, its span inside the line, and whether the client reads it too."""

    entry: Entry
    start: int
    end: int
    client_reads: bool


@dataclass(slots=True)
class Salvage:
    found: list[Found] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)


def has_lone_surrogate(body: bytes) -> bool:
    """Whether an escape in the text stands for half of a surrogate pair."""
    if b"\\ud" not in body and b"\\uD" not in body:
        return False
    high_ends = -1
    for escape in _ESCAPE.finditer(body):
        code = int(escape[1], 16) if escape[1] else 0
        if 0xDC00 <= code <= 0xDFFF:
            if high_ends != escape.start():
                return True
            high_ends = -1
        elif high_ends >= 0:
            return True
        elif 0xD800 <= code <= 0xDBFF:
            high_ends = escape.end()
    return high_ends >= 0


def salvage_line(line: RawLine) -> Salvage:
    """Everything readable on a line that is not one plain object. A byte order mark was taken off before."""
    result = Salvage()

    def note(kind: str, start: int, end: int, detail: str = "") -> None:
        result.damage.append(Damage(kind, line.number, line.offset + start, end - start, detail))

    if len(line.data) > LARGE:  # not copied, not even to take the line's ending away
        _skim_large(result, line.data, note)
        return result
    body = line.data.rstrip(b"\r\n")
    if not body.strip():
        return result
    if _taken_quickly(result, body, note):
        return result
    clean = _plain_value(body)
    if clean is not None:
        _take_whole(result, body, clean, note)
        return result
    position = 0
    pieces: list[tuple[int, int]] = []
    for run in _NULS.finditer(body):
        note("nul", run.start(), run.end(), f"{run.end() - run.start()} NUL bytes")
        pieces.append((position, run.start()))
        position = run.end()
    pieces.append((position, len(body)))
    for start, end in pieces:
        if body[start:end].strip():
            # The client reads the first value on a line; NULs before it hide it, NULs behind it do not matter.
            _scan(result, body, start, end, note, client_reads_first=start == 0)
    if not body.isascii() and not is_utf8(body):
        note("encoding", 0, len(body), "invalid UTF-8")
    return result


_ENDS_INSIDE: Final = re.compile(rb"\}[ \t\r\n]*(?:\{|\Z)")


def _taken_quickly(result: Salvage, body: bytes, note: Any) -> bool:
    """Take the two most common lines by the fast decoder: an object with a field of another type, and one cut at its end."""
    if body[:1] != b"{":
        return False
    text = whole_pairs(body)
    try:
        fields = _split(text)
    except REFUSED as problem:
        if str(problem) != "Input data was truncated":
            return False  # it may be readable to a more patient decoder
        patience = _PATIENCE * len(body) + 4096
        if _ENDS_INSIDE.search(body) and _next_entry(body, 1, len(body), patience)[0] is not None:
            return False  # it holds a whole entry
        note("torn", 0, len(body), _torn_detail(body))
    else:
        end = text.rindex(b"}") + 1
        result.found.append(Found(entry_from_fields({name: bytes(raw) for name, raw in fields.items()}), 0, end, True))
        if text is not body and text != body:
            note("surrogate", 0, len(body), _DETAIL["surrogate"])
    if not body.isascii() and not is_utf8(body):
        note("encoding", 0, len(body), _DETAIL["encoding"])
    return True


def _skim_large(result: Salvage, body: bytes, note: Any) -> None:
    """What a very long line says of itself, without decoding its words."""
    place = _NOT_SPACE.search(body)
    if place is None:
        return
    start, end = place.start(), len(body)
    while body[end - 1] in b"\r\n":
        end -= 1
    skimmed = skim_object(body, start, largest=LARGE) if body[start : start + 1] == b"{" else None
    if skimmed is None or not skimmed.complete:
        note("torn" if skimmed is not None else "not-json", start, end, "a very long line")
        return
    behind = _NOT_SPACE.search(body, skimmed.end)
    result.found.append(Found(entry_from_fields(skimmed.fields), start, skimmed.end, client_reads=True))
    if behind is not None:
        note("glued", behind.start(), end, "more behind the first object of a very long line")
    elif b"\\ud" in body or b"\\uD" in body:
        note("surrogate", start, skimmed.end, "half of a surrogate pair, perhaps, in a very long line")


@dataclass(slots=True)
class _Plain:
    value: Any
    kinds: list[str]
    client_reads: bool


def _plain_value(body: bytes) -> _Plain | None:
    """One JSON value, leniently: what kept the fast decoder from reading it is named in `kinds`."""
    kinds: list[str] = []
    client_reads = True
    if not body.isascii() and not is_utf8(body):
        kinds.append("encoding")
    text = body.decode("utf-8", "replace")
    constants: list[str] = []
    try:
        value = loads_leniently(text, strict=True, constants=constants)
    except RecursionError:
        return _too_deep(body, kinds)
    except ValueError as problem:
        if not str(problem).startswith("Invalid control character"):
            return None  # nothing else is forgiven below
        try:
            value = loads_leniently(text, constants=constants)
        except RecursionError:
            return _too_deep(body, kinds)
        except ValueError:
            return None
        kinds.append("nul" if b"\x00" in body else "control-character")
        client_reads = False  # a strict JSON reader, such as the client's, refuses the line
    if constants:
        kinds.append("nonstandard-number")
        client_reads = False
    if not isinstance(value, dict):
        kinds.append("not-object")
    elif has_lone_surrogate(body):
        kinds.append("surrogate")
    return _Plain(value, kinds, client_reads)


def _too_deep(body: bytes, kinds: list[str]) -> _Plain | None:
    """A value nested too deeply for any decoder; its brackets say whether it is complete."""
    stripped = body.strip()
    end = _value_end(stripped)
    if end != len(stripped):
        return None
    if stripped[:1] == b"{":
        return _Plain({}, [*kinds, "too-deep"], client_reads=True)
    return _Plain([], [*kinds, "too-deep", "not-object"], client_reads=True)


def _value_end(data: bytes) -> int:
    """Where the brackets that open a value are all closed again; -1 where they are not."""
    depth = position = 0
    while True:
        token = _TOKEN.match(data, position)
        if token is None:
            return -1
        first = data[position]
        position = token.end()
        if first in b"{[":
            depth += 1
        elif first in b"}]":
            depth -= 1
            if depth == 0:
                return position
        elif first == 0x22 and token.end() - token.start() < 2:
            return -1


def _take_whole(result: Salvage, body: bytes, plain: _Plain, note: Any) -> None:
    for kind in plain.kinds:
        note(kind, 0, len(body), _DETAIL.get(kind, ""))
    if isinstance(plain.value, dict):
        start, end = body.index(b"{"), body.rindex(b"}") + 1
        result.found.append(Found(entry_from_fields(_fields(body, start, end)), start, end, plain.client_reads))


_DETAIL: Final = {
    "encoding": "invalid UTF-8",
    "nonstandard-number": "NaN or Infinity",
    "control-character": "raw control character in a string",
    "surrogate": "half of a surrogate pair",
    "not-object": "JSON, but no object",
    "too-deep": "nested too deeply to decode",
    "nul": "NUL inside a string",
}


def _scan(result: Salvage, body: bytes, start: int, end: int, note: Any, *, client_reads_first: bool) -> None:
    """All complete objects in body[start:end], which does not parse as one value."""
    first_place = _NOT_SPACE.search(body, start, end)
    position = start = first_place.start() if first_place is not None else end
    count = len(result.found)
    readable_first = client_reads_first
    patience = _PATIENCE * (end - start) + 4096
    while position < end:
        if body[position] in b" \t\r\n":
            position += 1
            continue
        stop = _object_end(body, position, end) if body[position : position + 1] == b"{" else None
        if stop is not None:
            first = readable_first and position == start
            result.found.append(Found(entry_from_fields(_fields(body, position, stop)), position, stop, first))
            position = stop
            continue
        following, patience = _next_entry(body, position + 1, end, patience)
        until = end if following is None else following
        is_object = body[position : position + 1] == b"{"
        note("torn" if is_object else "not-json", position, until, _torn_detail(body[position:until]))
        readable_first = False
        position = until
    if len(result.found) - count > 1 or (len(result.found) - count == 1 and result.found[-1].start > start):
        note("glued", start, end, f"{len(result.found) - count} objects on one line")


def _object_end(body: bytes, start: int, end: int) -> int | None:
    """Where the object that begins at `start` is complete; None if it is not, or is no valid JSON."""
    return _value_within(body[start:end].decode("latin-1"), start).end


class _Within(NamedTuple):
    """How far a value could be read: where it is complete, or else where and why not."""

    end: int | None
    stopped: int
    why: str = ""


def _value_within(text: str, start: int) -> _Within:
    """Read a value by the decoder of the standard library. The text has a character for each byte, `start` of them before."""
    try:
        end = start + _reader.raw_decode(text)[1]
        return _Within(end, end)
    except RecursionError:
        end = _value_end(text.encode("latin-1"))
        return _Within(start + end, start + end) if end > 0 else _Within(None, start + len(text))
    except json.JSONDecodeError as problem:
        return _Within(None, start + problem.pos, problem.msg)


_reader: Final = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
_split: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def _fields(body: bytes, start: int, end: int) -> dict[str, bytes]:
    """The fields of a complete object as raw JSON."""
    try:
        return {name: bytes(raw) for name, raw in _split(body[start:end]).items()}
    except REFUSED:
        pass
    try:
        value = loads_leniently(body[start:end].decode("utf-8", "replace"))
        return {name: json.dumps(held).encode() for name, held in value.items()}
    except (RecursionError, ValueError):
        return skim_object(body, start, end).fields


def _next_entry(body: bytes, start: int, end: int, patience: int) -> tuple[int | None, int]:
    """Where, inside a torn object, the next entry begins that is complete up to the end or to yet another entry.

    Looking from every possible start would take quadratic time: `patience` bounds the bytes gone through.
    """
    text = ""
    for match in _ENTRY_START.finditer(body, start, end):
        if patience < 0:
            return None, patience
        text = text or body[start:end].decode("latin-1")
        read = _value_within(text[match.start() - start :], match.start())
        patience -= end - match.start()
        if read.end is None:
            continue
        following = _NOT_SPACE.search(body, read.end, end)
        if following is not None and following.group() != b"{":
            continue  # an inner object of the torn one: more of that follows
        fields = _fields(body, match.start(), read.end)
        if "type" in fields and any(mark.decode() in fields for mark in _ENTRY_MARKS):
            return match.start(), patience
    return None, patience


def _torn_detail(piece: bytes) -> str:
    """What a torn object still says of itself, for people and for repair."""
    fields = _torn_fields(piece) if piece.startswith(b"{") else {}
    told = [f"{name}={fields[name].decode('utf-8', 'replace')}" for name in ("type", "uuid") if name in fields]
    return " ".join(told)[:200]


_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NO_BRACKET: Final = bytes(set(range(256)) - set(b"{}[]"))
_CLOSING: Final = bytes.maketrans(b"{[", b"}]")


def _torn_fields(piece: bytes) -> dict[str, bytes]:
    """The fields of an object up to where it is torn: what is open there is closed, and the object read as usual."""
    read = _value_within(piece.decode("latin-1"), 0)
    head = piece[: read.stopped].rstrip()
    if head.endswith(b","):
        head = head[:-1]
    elif head.endswith(b":"):
        head += b"null"
    elif read.why.startswith("Expecting ':'"):
        head += b":null"
    opened, before = _STRING.sub(b"", head).translate(None, _NO_BRACKET), b""
    while opened != before:
        opened, before = opened.replace(b"{}", b"").replace(b"[]", b""), opened
    if len(opened) > _DEEPEST:
        return {}
    whole = head + opened[::-1].translate(_CLOSING)
    return _fields(whole, 0, len(whole))


_DEEPEST: Final = 500
"""An object torn deeper inside than this is not asked what it was."""


@dataclass(slots=True)
class Skimmed:
    """The fields of an object as raw JSON, without looking into them. `complete` is False where the object is cut off."""

    fields: dict[str, bytes]
    end: int
    complete: bool


def skim_object(data: bytes, start: int, end: int | None = None, *, largest: int | None = None) -> Skimmed:
    """The top-level fields of the object at `start`. Iterative, so no nesting is too deep; later duplicates win."""
    fields: dict[str, bytes] = {}
    depth = 0
    key: str | None = None
    value_start = -1
    expect_key = True
    position = start
    stop = len(data) if end is None else end
    match = _TOKEN.match
    while True:
        token = match(data, position, stop)
        if token is None:
            return Skimmed(fields, position, complete=False)
        first = data[position]
        position = token.end()
        if first in b"{[":
            depth += 1
        elif first in b"}]":
            depth -= 1
            if depth <= 0:
                if key is not None and value_start >= 0 and (largest is None or token.start() - value_start <= largest):
                    fields[key] = data[value_start : token.start()].strip()
                return Skimmed(fields, position, complete=depth == 0)
        elif depth == 1:
            if first == 0x22 and expect_key:  # a string where a name is due
                if token.end() - token.start() < 2:
                    return Skimmed(fields, position, complete=False)
                key = _name(token.group())
                expect_key = False
            elif first == 0x3A:  # colon
                value_start = position
            elif first == 0x2C:  # comma
                if key is not None and value_start >= 0 and (largest is None or token.start() - value_start <= largest):
                    fields[key] = data[value_start : token.start()].strip()
                key, value_start, expect_key = None, -1, True
            elif first == 0x22 and token.end() - token.start() < 2:
                return Skimmed(fields, position, complete=False)
        elif first == 0x22 and token.end() - token.start() < 2:
            return Skimmed(fields, position, complete=False)


def _name(token: bytes) -> str:
    try:
        value = loads_leniently(token.decode("utf-8", "replace"))
    except ValueError:
        return token.decode("utf-8", "replace")
    return str(value)


def is_utf8(body: bytes) -> bool:
    """Whether all of it is valid UTF-8. Looked at in pieces: the text of a large line would take four times its bytes."""
    if len(body) <= _PIECE:
        try:
            str(body, "utf-8")
        except UnicodeDecodeError:
            return False
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(body)
    try:
        for start in range(0, len(body), _PIECE):
            decoder.decode(view[start : start + _PIECE], final=start + _PIECE >= len(body))
    except UnicodeDecodeError:
        return False
    return True
