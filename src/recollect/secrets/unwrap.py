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
_PERCENT: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")

#: What stands before the text of a line that a tool shows: a number, the sign of a diff, a comment or quotation mark.
FRAME: Final = re.compile(
    r"[ \t]*(?:\d{1,7}(?:→|\t|[ \t]*[|│:] ?))?[ \t]*(?:[+>|│#*](?![A-Za-z0-9/+]{0,3}=)[ \t]*|//[ \t]+|-[ \t]+)?"
)
_GLUE: Final = re.compile(r"""(?P<before>[ \t]*(?:\\|=(?=\r?\n)|["'`][ \t]*[+.&,\\]?[ \t]*)?[ \t]*(?:[|│])?)\r?\n""")
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
        return View("".join(self.pieces), form, segments=self.segments)


def unescaped(text: str) -> View | None:
    """Undo one level of the escapes of JSON; None if there are none."""
    if "\\" not in text:
        return None
    made, at = _Builder(), 0
    for escape in _ESCAPE.finditer(text):
        made.add(text[at : escape.start()], at, escape.start() - at)
        code, letter = escape.groups()
        made.add(chr(int(code, 16)) if code else _ESCAPED.get(letter, letter), escape.start(), len(escape[0]))
        at = escape.end()
    if not at:
        return None
    made.add(text[at:], at, len(text) - at)
    return made.view("escaped")


def url_decoded(text: str) -> View | None:
    """Undo the URL encoding; None if there is none."""
    if "%" not in text:
        return None
    made, at = _Builder(), 0
    for place in _PERCENT.finditer(text):
        made.add(text[at : place.start()], at, place.start() - at)
        decoded = bytes.fromhex(place[0].replace("%", "")).decode("utf-8", "replace")
        if len(decoded) * 3 == len(place[0]):  # ASCII: letter by letter
            for number, letter in enumerate(decoded):
                made.add(letter, place.start() + number * 3, 3)
        else:
            made.add(decoded, place.start(), len(place[0]))
        at = place.end()
    if not at:
        return None
    made.add(text[at:], at, len(text) - at)
    return made.view("url-encoded")


def joined_lines(text: str, start: int, end: int, limit: int = 4096) -> View | None:
    """Join a line, from `start` on, with those after it, if nothing but glue stands between `end` and the line's end.

    Numbers, signs of a diff, indentation and quotation marks at the joins are left out.
    """
    glue = _GLUE.match(text, end)
    if glue is None:
        return None
    made = _Builder()
    made.add(text[start:end], start, end - start)
    at, lines = glue.end(), 0
    opened = glue["before"].strip()[:1]
    while at < len(text) and made.length < limit and lines < _LONGEST_JOIN:
        frame = FRAME.match(text, at)
        at = frame.end() if frame is not None else at
        if opened and opened in "\"'`" and (quote := _OPENING.match(text, at)) is not None:
            at = quote.end()
        stop = at
        while stop < len(text) and (text[stop].isalnum() or text[stop] in "+/=_.~:@!%^*#?&$-"):
            stop += 1
        if stop == at:
            break
        made.add(text[at:stop], at, stop - at)
        lines += 1
        glue = _GLUE.match(text, stop)
        if glue is None:
            break
        at = glue.end()
    return made.view("wrapped") if lines else None


def base64_blobs(text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, decoded text) of everything in base64, begun in a part of a text, that decodes to readable text."""
    at = start
    while (blob := _BLOB.search(text, at)) is not None and blob.start() < stop:
        start, end = blob.span()
        letters = blob[0]
        width = len(letters)
        while width >= _LEAST_LINE and not letters.endswith("=") and len(letters) <= _LONGEST_BLOB:
            line = _BLOB_LINE.match(text, end)
            if line is None:
                break
            width = len(line[1])
            letters += line[1]
            end = line.end()
        at = end
        decoded = decoded_text(letters)
        if decoded is not None:
            yield start, end, decoded


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
