"""Salvage the readable objects of a line that the fast decoder refuses.

Every complete object on the line is found, also when two objects are glued together, when NUL bytes stand between them, or
when one was torn off and the next one begins in the middle of it. Unreadable bytes are reported as `Damage` with their place.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from .entries import REFUSED, Entry, entry_from_fields, loads_leniently, whole_pairs
from .line import Damage, Extent, RawLine, extent_of_refused, failed_at, value_extent

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^"{}\[\]:,\s]++|\s++|"', re.DOTALL)
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_CONSTANT: Final = re.compile(rb"NaN|Infinity")
_STRING_OR_CONSTANT: Final = re.compile(rb'("(?:[^"\\]++|\\.)*+")|-?Infinity|NaN', re.DOTALL)
_NULS: Final = re.compile(rb"\x00+")
# Where an entry may begin inside a torn one: keys that Claude Code writes first or that only entries have.
_ENTRY_START: Final = re.compile(
    rb'\{\s*"(?:parentUuid|type|uuid|sessionId|leafUuid|messageId|isSidechain|logicalParentUuid|summary|timestamp)"\s*:'
)
_ENTRY_MARKS: Final = frozenset({"uuid", "sessionId", "parentUuid", "leafUuid", "messageId", "summary", "timestamp"})
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_NOT_SPACE: Final = re.compile(rb"[^ \t\r\n]")  # in JSON, a form feed or a no-break space is not white space
_PIECE: Final = 1 << 20
LARGE: Final = 32 << 20
"""A longer line that is not plain JSON is not decoded as a whole: only its fields are found, the largest left on disk."""
_PATIENCE: Final = 16
"""How many times its own length a torn line is scanned, at most, for entries that begin inside it."""


class Note(Protocol):
    """Record damage: its kind, where it begins and ends on the line, and a detail."""

    def __call__(self, kind: str, start: int, end: int, detail: str = "") -> None: ...


class Found:
    """An object found on a line: its span inside the line, and whether Claude Code reads the object too.

    `data` holds the bytes of the object, with characters that decoders refuse in a string (raw control characters, half
    surrogate pairs) replaced by ones that they accept.
    """

    __slots__ = ("_fields", "client_reads", "data", "end", "start")

    def __init__(
        self,
        data: bytes,
        start: int,
        end: int,
        client_reads: bool,
        fields: Mapping[str, bytes | msgspec.Raw] | None = None,
    ) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.client_reads = client_reads
        self._fields = fields

    @property
    def entry(self) -> Entry:
        """The object as an `Entry`, with the fields that have the expected types."""
        return entry_from_fields(_fields(self.data) if self._fields is None else self._fields)


@dataclass(slots=True)
class Salvage:
    found: list[Found] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)


def has_lone_surrogate(body: bytes) -> bool:
    """Return whether an escape in the text stands for half of a surrogate pair."""
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


def salvage_line(line: RawLine, problem: Exception | None = None) -> Salvage:
    """Return all readable objects and the damage of a line that is not one plain object.

    The line must not begin with a byte order mark. `problem` is the error with which a decoder of objects refused the bytes of
    the line, if one did: it may save reading them again.
    """
    result = Salvage()

    def note(kind: str, start: int, end: int, detail: str = "") -> None:
        result.damage.append(Damage(kind, line.number_at(start), line.offset + start, end - start, detail))

    if len(line.data) > LARGE:  # not copied, not even to take the line's ending away
        _skim_large(result, line.data, note)
        return result
    body = line.data.rstrip(b"\r\n")
    if not body.strip():
        return result
    text = whole_pairs(body)
    extent = None
    if problem is not None and text is body and (body.isascii() or is_utf8(body)):
        extent = extent_of_refused(body, problem, line_end=True)
    if extent is None:
        try:
            fields = _split(text)
        except msgspec.ValidationError:  # not an object: the decoder stopped at the first byte
            extent = value_extent(text)
            if extent.end is not None and not text[extent.end :].strip(b" \t\r\n"):
                _check_text(body, note)
                note("not-object", 0, len(body), _DETAIL["not-object"])
                return result
        except REFUSED as refusal:
            extent = extent_of_refused(text, refusal) or value_extent(text)
        else:
            _take_object(result, body, text, fields, note)
            return result
    _take_refused(result, body, text, extent, note)
    return result


def _take_object(result: Salvage, body: bytes, text: bytes, fields: dict[str, msgspec.Raw], note: Note) -> None:
    """Salvage a line that is a plain object except for characters in its strings."""
    start, end = text.index(b"{"), text.rindex(b"}") + 1
    data = text[start:end]
    if text is not body and text != body:
        note("surrogate", 0, len(body), _DETAIL["surrogate"])
    if not body.isascii() and not is_utf8(body):
        note("encoding", 0, len(body), _DETAIL["encoding"])
        data = data.decode("utf-8", "replace").encode()
    result.found.append(Found(data, start, end, True, fields))


def _check_text(body: bytes, note: Note) -> None:
    if not body.isascii() and not is_utf8(body):
        note("encoding", 0, len(body), _DETAIL["encoding"])


def _take_refused(result: Salvage, body: bytes, text: bytes, extent: Extent, note: Note) -> None:
    """Salvage a line that the fast decoder refuses as an object. `extent` is that of its first value."""
    if extent.odd and _take_patiently(result, body, text, extent.reached, note):
        return
    length = len(body)
    if b"\x00" in body:
        position = 0
        for run in _NULS.finditer(body):
            note("nul", run.start(), run.end(), f"{run.end() - run.start()} NUL bytes")
            # Claude Code reads the first value on a line; NULs before it hide it, NULs behind it do not matter.
            _scan(result, text, position, run.start(), note, client_reads_first=position == 0)
            position = run.end()
        _scan(result, text, position, length, note, client_reads_first=position == 0)
    elif b"{" not in body:
        note("not-json", length - len(body.lstrip(b" \t\r\n")), length)
    elif extent.reached == length and text[0] == 0x7B and not _holds_entry(text):
        note("torn", 0, length, _torn_detail(text))
    else:
        _scan(result, text, 0, length, note, client_reads_first=True, first=None if extent.odd else extent)
    _check_text(body, note)


def _holds_entry(torn: bytes) -> bool:
    """Return whether a complete entry stands at the end of an object that is cut off, or before another object."""
    if _ENDS_INSIDE.search(torn) is None:
        return False
    return _next_entry(torn, 1, len(torn), _PATIENCE * len(torn) + 4096)[0] is not None


_ENDS_INSIDE: Final = re.compile(rb"\}[ \t\r\n]*(?:\{|\Z)")


def _take_patiently(result: Salvage, body: bytes, text: bytes, place: int, note: Note) -> bool:
    """Salvage a line that is one value to a more lenient reader than Claude Code's, and record what is odd about it.

    Return False, with nothing salvaged, for any other line. `place` is where the fast decoder stopped.
    """
    if text[0] == 0 or text[-1] == 0:
        return False
    if text[:1] == b"{" and len(text) <= _PIECE and (controls := text.translate(None, _NO_CONTROL)):
        if len(controls) > _FEW:
            try:
                _split(text.translate(_BLANKED))
            except REFUSED as problem:
                if not failed_at(text, problem)[1]:
                    return False  # without its control characters it would not be an object either
        # Tabs may stand between values too. Where one stands in a string instead, the decoder stopped at it.
        codes = {*controls} - ({*b"\t\r\n"} - {*text[place : place + 1]})
        escaped = _with_escapes(text, codes)
        try:
            fields = _split(escaped)
        except REFUSED as problem:
            if codes.isdisjoint(b"\t\r\n") and not failed_at(escaped, problem)[1]:
                return False
        else:
            end = text.rindex(b"}") + 1
            _check_text(body, note)
            kind = "nul" if b"\x00" in body else "control-character"
            note(kind, 0, len(body), _DETAIL[kind])
            if text != body:
                note("surrogate", 0, len(body), _DETAIL["surrogate"])
            # A strict JSON reader, such as Claude Code's, refuses the line.
            result.found.append(Found(escaped[: escaped.rindex(b"}") + 1], 0, end, False, fields))
            return True
    if _take_without_constants(result, body, text, place, note):
        return True
    plain = _plain_value(body)
    if plain is not None:
        _take_whole(result, body, plain, note)
    return plain is not None


def _take_without_constants(result: Salvage, body: bytes, text: bytes, place: int, note: Note) -> bool:
    """Salvage an object whose only oddity is NaN or Infinity, read as null. The first one stands at `place`.

    Return False for any other line, which is left to the slower reader.
    """
    if text[0] != 0x7B or _CONSTANT.match(text, place) is None or not (body.isascii() or is_utf8(body)):
        return False
    start = place - 1 if text[place - 1] == 0x2D else place
    data = text[:start] + _STRING_OR_CONSTANT.sub(_without_constant, text[start:])
    try:
        fields = _split(data)
    except REFUSED:
        return False
    note("nonstandard-number", 0, len(body), _DETAIL["nonstandard-number"])
    if text != body:
        note("surrogate", 0, len(body), _DETAIL["surrogate"])
    result.found.append(Found(data[: data.rindex(b"}") + 1], 0, text.rindex(b"}") + 1, False, fields))
    return True


def _without_constant(match: re.Match[bytes]) -> bytes:
    return match[1] or b"null"


_FEW: Final = 16
"""So many control characters are escaped without a look at what would be left of the line without them."""
_NO_CONTROL: Final = bytes(range(0x20, 0x100))
_BLANKED: Final = b" " * 0x20 + _NO_CONTROL


def _with_escapes(text: bytes, controls: set[int]) -> bytes:
    """Escape control characters in JSON. Inside strings that makes it valid; anywhere else it stays invalid."""
    for code in controls:
        text = text.replace(bytes([code]), b"\\u%04x" % code)
    return text


def _skim_large(result: Salvage, body: bytes, note: Note) -> None:
    """Salvage a very long line: find its top-level fields without decoding the text in them."""
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
    result.found.append(Found(b"", start, skimmed.end, client_reads=True, fields=skimmed.fields))
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
    """Decode one JSON value leniently; None where that fails. `kinds` lists why the fast decoder refused the value."""
    kinds: list[str] = []
    client_reads = True
    if not body.isascii() and not is_utf8(body):
        kinds.append("encoding")
    text = body.decode("utf-8", "replace")
    try:
        value = loads_leniently(text, strict=True)
    except RecursionError:
        return _too_deep(body, kinds)
    except ValueError as problem:
        if not str(problem).startswith("Invalid control character"):
            return None  # the lenient reader accepts nothing else
        try:
            value = loads_leniently(text)
        except RecursionError:
            return _too_deep(body, kinds)
        except ValueError:
            return None
        kinds.append("nul" if b"\x00" in body else "control-character")
        client_reads = False  # a strict JSON reader, such as Claude Code's, refuses the line
    if _CONSTANT.search(body) is not None and any(word in _STRING.sub(b"", body) for word in (b"NaN", b"Infinity")):
        kinds.append("nonstandard-number")
        client_reads = False
    if not isinstance(value, dict):
        kinds.append("not-object")
    elif has_lone_surrogate(body):
        kinds.append("surrogate")
    return _Plain(value, kinds, client_reads)


def _too_deep(body: bytes, kinds: list[str]) -> _Plain | None:
    """Return an empty value in place of one nested too deeply for any decoder; None where its brackets are not closed."""
    stripped = body.strip()
    end = _value_end(stripped)
    if end != len(stripped):
        return None
    if stripped[:1] == b"{":
        return _Plain({}, [*kinds, "too-deep"], client_reads=True)
    return _Plain([], [*kinds, "too-deep", "not-object"], client_reads=True)


def _value_end(data: bytes) -> int:
    """Return the place where all brackets of a value are closed again; -1 where they are not."""
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


def _take_whole(result: Salvage, body: bytes, plain: _Plain, note: Note) -> None:
    for kind in plain.kinds:
        note(kind, 0, len(body), _DETAIL.get(kind, ""))
    if isinstance(plain.value, dict):
        start, end = body.index(b"{"), body.rindex(b"}") + 1
        fields = {name: json.dumps(held).encode() for name, held in plain.value.items()} or None
        result.found.append(Found(body[start:end], start, end, plain.client_reads, fields))


_DETAIL: Final = {
    "encoding": "invalid UTF-8",
    "nonstandard-number": "NaN or Infinity",
    "control-character": "raw control character in a string",
    "surrogate": "half of a surrogate pair",
    "not-object": "JSON, but not an object",
    "too-deep": "nested too deeply to decode",
    "nul": "NUL inside a string",
}


def _scan(
    result: Salvage,
    body: bytes,
    start: int,
    end: int,
    note: Note,
    *,
    client_reads_first: bool,
    first: Extent | None = None,
) -> None:
    """Salvage all complete objects in body[start:end], which does not parse as one value.

    `first` is the extent of the first value, where it is known.
    """
    first_place = _NOT_SPACE.search(body, start, end)
    if first_place is None:
        return
    position = start = first_place.start()
    count = len(result.found)
    readable_first = client_reads_first
    patience = _PATIENCE * (end - start) + 4096
    known = None if first is None else (first.end, first.reached)
    while position < end:
        is_object = body[position] == 0x7B
        stop, reached = (known or _read_object(body, position, end)) if is_object else (None, position)
        known = None
        if stop is not None:
            is_read = readable_first and position == start
            result.found.append(Found(body[position:stop], position, stop, is_read))
            until = stop
        else:
            following, patience = _next_entry(body, position + 1, end, patience)
            until = end
            if following is not None:
                until, known = following[0], (following[1], following[1])
            detail = _torn_detail(body[position : min(reached, until)]) if is_object else ""
            note("torn" if is_object else "not-json", position, until, detail)
            readable_first = False
        following_place = _NOT_SPACE.search(body, until, end)
        position = end if following_place is None else following_place.start()
    if len(result.found) - count > 1 or (len(result.found) - count == 1 and result.found[-1].start > start):
        note("glued", start, end, f"{len(result.found) - count} objects on one line")


def _read_object(body: bytes, start: int, end: int) -> tuple[int | None, int]:
    """Return the end of the object that begins at `start` (None where it is incomplete or invalid), and how far it was read."""
    extent = value_extent(body, start, end)
    if extent.odd:
        return _read_patiently(body[start:end].decode("latin-1"), start)
    return extent.end, extent.reached


def _read_patiently(text: str, start: int) -> tuple[int | None, int]:
    """Find the end of an object with the lenient decoder of the standard library. See `_read_object` for the result.

    The text is latin-1, with one character per byte; `start` is added to all places.
    """
    try:
        end = start + _reader.raw_decode(text)[1]
        return end, end
    except RecursionError:
        end = _value_end(text.encode("latin-1"))
        return (start + end, start + end) if end > 0 else (None, start + len(text))
    except json.JSONDecodeError as problem:
        return None, start + problem.pos


_reader: Final = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
_split: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def _fields(data: bytes) -> Mapping[str, bytes | msgspec.Raw]:
    """Return the fields of a complete object as raw JSON."""
    try:
        return _split(data)
    except REFUSED:
        pass
    try:
        value = loads_leniently(data.decode("utf-8", "replace"))
        return {name: json.dumps(held).encode() for name, held in value.items()}
    except (RecursionError, ValueError):
        return skim_object(data, 0).fields


def _next_entry(body: bytes, start: int, end: int, patience: int) -> tuple[tuple[int, int] | None, int]:
    """Return where the next complete entry inside a torn object begins and ends (None without one), and the patience left.

    The entry must be followed by the end or by another object. Trying every possible start would take quadratic time:
    `patience` bounds the bytes that are read.
    """
    for match in _ENTRY_START.finditer(body, start, end):
        if patience < 0:
            return None, patience
        stop, reached = _read_object(body, match.start(), end)
        patience -= reached - match.start() + 256
        if stop is None:
            continue
        following = _NOT_SPACE.search(body, stop, end)
        if following is not None and following.group() != b"{":
            continue  # an inner object of the torn one, which goes on behind it
        fields = _fields(body[match.start() : stop])
        if "type" in fields and not _ENTRY_MARKS.isdisjoint(fields):
            return (match.start(), stop), patience
    return None, patience


class _Named(msgspec.Struct, gc=False):
    """The fields that are read from a torn object."""

    type: msgspec.Raw = msgspec.Raw()
    uuid: msgspec.Raw = msgspec.Raw()


_named: Final = msgspec.json.Decoder(_Named).decode
_NULL: Final = msgspec.Raw(b"null")


def _torn_detail(head: bytes) -> str:
    """Return type and uuid of a torn object, as far as they are readable, for messages and for repair."""
    plain = _PLAIN_FIELDS.match(head)
    if plain is not None and _has_no_field(head, plain.end(), nested=plain[3] is not None):
        kind, uuid = plain[1] or b"", plain[2] or b""
    else:
        try:
            named = _named(_closed(head))
        except REFUSED:
            return ""
        kind, uuid = (b"" if raw == _NULL else bytes(raw) for raw in (named.type, named.uuid))
    detail = f"type={kind.decode('utf-8', 'replace')}" if kind else ""
    return f"{detail} uuid={uuid.decode('utf-8', 'replace')}".lstrip()[:200] if uuid else detail[:200]


# The first fields of an object, up to one with an escape, with brackets or with white space around it (Claude Code writes none).
_PLAIN_FIELDS: Final = re.compile(
    rb'\{(?:"(?:type":("%(chars)b")|uuid":("%(chars)b")|%(chars)b":(?:"%(chars)b"|[\w.+-]++)),)*+("%(chars)b":[{\[])?'
    % {b"chars": rb'[^"\\\x00-\x1f]*+'}
)


def _has_no_field(head: bytes, start: int, *, nested: bool) -> bool:
    """Return whether a torn object has no complete field from `start` on; `nested` means behind the first bracket of a value."""
    if head.find(b"}", start) >= 0 or head.find(b"]", start) >= 0 or head.startswith((b'"type"', b'"uuid"'), start):
        return False
    return nested or (head.find(b"\\", start) < 0 and head.count(b'"', start) <= 3)


_NO_BRACKET: Final = bytes(set(range(256)) - set(b"{}[]"))
_CLOSING: Final = bytes.maketrans(b"{[", b"}]")
_HALF_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_WORD: Final = bytes(range(0x30, 0x3A)) + bytes(range(0x61, 0x7B)) + b"+-.E"


def _closed(head: bytes) -> bytes:
    """Complete the beginning of an object: close the string and the brackets that are open at its end."""
    plain = head.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in head else head
    pieces = plain.split(b'"')
    outside = b"".join(pieces[::2])
    if len(pieces) % 2 == 0:  # inside a string
        if b"\\" in head[-5:] and plain[-5:].find(b"\\") >= 0:
            head = _HALF_ESCAPE.sub(b"", head)
        head += b'"'
        before = pieces[-2]
    else:
        head = head.rstrip()
        if not head.endswith((b'"', b"{", b"}", b"[", b"]", b",", b":")):
            head = head.rstrip(_WORD).rstrip()  # a number or a word, complete or not
        if head.endswith(b","):
            head = head[:-1]
        before = pieces[-3] if head.endswith(b'"') and len(pieces) > 2 else b""
    opened, previous = outside.translate(None, _NO_BRACKET), b""
    while opened != previous:
        opened, previous = opened.replace(b"{}", b"").replace(b"[]", b""), opened
    if len(opened) > _DEEPEST:
        return b""
    if head.endswith(b":"):
        head += b"null"
    elif before.rstrip().endswith((b"{", b",")) and opened.endswith(b"{"):  # a key without its value
        head += b":null"
    return head + opened[::-1].translate(_CLOSING)


_DEEPEST: Final = 500
"""Type and uuid of an object that is torn at a deeper nesting than this are not read."""


@dataclass(slots=True)
class Skimmed:
    """The fields of an object as raw JSON, not decoded. `complete` is False where the object is cut off."""

    fields: dict[str, bytes]
    end: int
    complete: bool


def skim_object(data: bytes, start: int, end: int | None = None, *, largest: int | None = None) -> Skimmed:
    """Find the top-level fields of the object at `start`; of several with the same key the last counts.

    Fields longer than `largest` bytes are left out. No recursion, so that no nesting is too deep.
    """
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
            if first == 0x22 and expect_key:  # a string where a key is expected
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
    """Return whether all bytes are valid UTF-8. Decoded in pieces: the text of a large line may take four times its bytes."""
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
