"""Undo the forms in which a secret stands in a text: escapes, line numbers, broken lines, URL encoding, base64.

Each form gives a `View`: another text, which knows for each of its letters where it came from.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/nrtbf]))')
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_PERCENT: Final = re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*")

#: What stands before the text of a line that a tool shows: a number, the sign of a diff, a comment or quotation mark.
FRAME: Final = re.compile(
    r"[ \t]*(?:\d{1,7}(?:→|\t|[ \t]*[|│:] ?))?[ \t]*(?:[+>|│#*](?![A-Za-z0-9/+]{0,3}=)[ \t]*|//[ \t]+|-[ \t]+)?"
)
_GLUE: Final = re.compile(r"""[ \t]*(?:\\|=(?=\r?\n)|(?P<quote>["'`])[ \t]*[+.&,\\]?)?[ \t]*(?:[|│])?\r?\n""")
_PIECE: Final = re.compile(r"[A-Za-z0-9+/=_.~:@!%^*#?&$-]{1,4096}")
_OPENING: Final = re.compile(r"""(?:[+.&][ \t]*)?["'`]""")
_LONGEST_JOIN: Final = 60
"""How many lines a broken value may run over."""

_BLOB: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}(?![A-Za-z0-9+/_=-])")
_BLOB_LINE: Final = re.compile(r"\r?\n[ \t]*([A-Za-z0-9+/_-]+={0,2})(?=[\s\"'`,;)\]}]|\Z)")
_LEAST_LINE: Final = 60
_LONGEST_BLOB: Final = 1 << 20
_PEM_IN_BASE64: Final = "LS0tLS1CRUdJTi"


@dataclass(slots=True)
class View:
    """A text made from another. A segment is (start here, start there, length there); most run letter by letter."""

    text: str
    form: str
    starts: list[int] = field(default_factory=list)
    segments: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Start here, length here, start there, length there; in order. Both lengths are equal where letters run alike."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the letters from `start` to `end` stand in the text that this one was made from."""
        here, length, there, length_there = self.segments[self._segment(start)]
        first = there + (start - here if length == length_there else 0)
        here, length, there, length_there = self.segments[self._segment(end - 1)]
        return first, there + (end - here if length == length_there else length_there)

    def _segment(self, place: int) -> int:
        if not self.starts:
            self.starts = [segment[0] for segment in self.segments]
        return max(bisect_right(self.starts, place) - 1, 0)

    def is_changed(self, start: int, end: int) -> bool:
        """Return whether these letters stand otherwise in the text that this one was made from."""
        first, last = self.span(start, end)
        return last - first != end - start


class _Builder:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.segments: list[tuple[int, int, int, int]] = []
        self.length = 0

    def add(self, piece: str, there: int, length_there: int) -> None:
        if piece:
            self.segments.append((self.length, len(piece), there, length_there))
            self.pieces.append(piece)
            self.length += len(piece)

    def view(self, form: str) -> View:
        return View("".join(self.pieces), form, segments=list(self.segments))


def unescaped(text: str, start: int = 0, stop: int | None = None) -> View | None:
    """Undo one level of the escapes of JSON in a part of a text; None if there are none."""
    stop = len(text) if stop is None else stop
    made, at = _Builder(), start
    for escape in _ESCAPE.finditer(text, start, stop):
        made.add(text[at : escape.start()], at, escape.start() - at)
        code, letter = escape.groups()
        made.add(chr(int(code, 16)) if code else _ESCAPED.get(letter, letter), escape.start(), len(escape[0]))
        at = escape.end()
    if not made.segments:
        return None
    made.add(text[at:stop], at, stop - at)
    return made.view("escaped")


def url_decoded(text: str, start: int = 0, stop: int | None = None) -> View | None:
    """Undo the URL encoding in a part of a text; None if there is none."""
    stop = len(text) if stop is None else stop
    made, at = _Builder(), start
    for place in _PERCENT.finditer(text, start, stop):
        made.add(text[at : place.start()], at, place.start() - at)
        decoded = bytes.fromhex(place[0].replace("%", "")).decode("utf-8", "replace")
        if len(decoded) * 3 == len(place[0]):  # ASCII: letter by letter
            for number, letter in enumerate(decoded):
                made.add(letter, place.start() + number * 3, 3)
        else:
            made.add(decoded, place.start(), len(place[0]))
        at = place.end()
    if not made.segments:
        return None
    made.add(text[at:stop], at, stop - at)
    return made.view("url-encoded")


def joined_lines(text: str, start: int, end: int, limit: int = 4096) -> Iterator[View]:
    """Yield a line, from `start` on, joined with the one after it, with the two after it, and so on.

    Nothing but glue may stand between `end` and the line's end. Numbers, signs of a diff, indentation and quotation marks at
    the joins are left out.
    """
    made = _Builder()
    made.add(text[start:end], start, end - start)
    for _ in range(_LONGEST_JOIN):
        glue = _GLUE.match(text, end)
        if glue is None or made.length >= limit:
            return
        frame = FRAME.match(text, glue.end())
        at = frame.end() if frame is not None else glue.end()
        if glue["quote"]:
            opening = _OPENING.match(text, at)
            if opening is None:
                return
            at = opening.end()
        piece = _PIECE.match(text, at)
        if piece is None:
            return
        end = piece.end()
        made.add(piece[0], at, end - at)
        yield made.view("wrapped")


def line_before(text: str, start: int) -> int | None:
    """Return where the word begins that ends the line before; None if the text at `start` does not begin its line."""
    line_start = text.rfind("\n", 0, start) + 1
    frame = FRAME.match(text, line_start)
    if line_start == 0 or frame is None or text[frame.end() : start].strip("\"'`"):
        return None
    end = len(text[:line_start].rstrip("\r\n\\\"' "))
    begin = end
    while begin > 0 and end - begin < 200 and _PIECE.match(text, begin - 1, begin):
        begin -= 1
    return begin if begin < end else None


def base64_blob(text: str, start: int) -> tuple[int, str] | None:
    """Return (end, decoded text) of what begins at a place in base64 and decodes to readable text, on one line or on several."""
    blob = _BLOB.match(text, start)
    if blob is None:
        return None
    letters, end, width = blob[0], blob.end(), len(blob[0])
    while width >= _LEAST_LINE and not letters.endswith("=") and len(letters) <= _LONGEST_BLOB:
        line = _BLOB_LINE.match(text, end)
        if line is None:
            break
        width = len(line[1])
        letters += line[1]
        end = line.end()
    decoded = decoded_text(letters)
    return (end, decoded) if decoded is not None else None


def decoded_text(letters: str) -> str | None:
    """Decode base64 of printable text; None for anything else."""
    if len(letters) > _LONGEST_BLOB:
        return None
    cleaned = letters.rstrip("=").translate(_STANDARD)
    if len(cleaned) % 4 == 1:
        return None
    head = _decode(cleaned[:64])
    if head is None or not _is_readable(head):
        return None
    data = _decode(cleaned)
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    return text if _is_readable(data[:4096]) or cleaned.startswith(_PEM_IN_BASE64) else None


_STANDARD: Final = str.maketrans("-_", "+/")
_READABLE: Final = frozenset([9, 10, 13, *range(32, 127)])


def _decode(letters: str) -> bytes | None:
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_readable(data: bytes) -> bool:
    """Return whether bytes are text: printable ASCII, or UTF-8 in which most of it is."""
    odd = sum(byte not in _READABLE for byte in data)
    if not odd:
        return bool(data)
    if odd > len(data) // 4:
        return False
    try:
        return data[:-3].decode("utf-8").isprintable()
    except UnicodeDecodeError:
        return False
