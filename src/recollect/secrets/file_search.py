"""Search the bytes of one file: lines of JSON, one JSON value, or text. Says of each find where it stands, never its value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Struct

from .find import Finder
from .findings import Found
from .fingerprints import Fingerprints
from .masked import masked

_CHUNK: Final = 2 << 20
_LONGEST_LINE: Final = 64 << 20
"""A line that is longer is searched in pieces, as text."""


class Place(Struct, array_like=True, frozen=True):
    """A find and where it stands in its file. `start` and `end` count code points of the string at the pointer.

    Without a pointer, they count from the start of the line.
    """

    line: int
    pointer: str | None
    start: int
    end: int
    kind: str
    family: str
    confidence: str
    form: str
    length: int
    masked: str
    fingerprint: str
    time: str | None = None
    session_id: str | None = None


PersonalFinder = Callable[[str], list[Found]]
"""Finds personal data in a text."""


class FileSearch:
    """Searches files with one finder. `take` is called with each find and its place, for those who need the value."""

    def __init__(self, finder: Finder, fingerprints: Fingerprints, personal: PersonalFinder | None = None) -> None:
        self.finder = finder
        self.fingerprints = fingerprints
        self.personal = personal
        self.take: Callable[[Place, Found], None] | None = None

    def in_file(self, path: str, data: bytes) -> Iterator[Place]:
        """Yield what is found in a file that is read whole: JSON if its name says so and it is, else text."""
        if self.personal is None and self.finder.anything.first(data) is None:
            return
        if path.endswith(".json") or ".json." in path:
            try:
                value = msgspec.json.decode(data)
            except (ValueError, RecursionError):
                pass
            else:
                yield from self._in_value(value, 1, None, None)
                return
        yield from self._in_text(data)

    def in_lines(self, stream: BinaryIO, start: int, line: int, found: Callable[[Place], None]) -> tuple[int, int]:
        """Search a stream of JSON lines from a place on; `line` lines stand before it.

        Returns where the last whole line ends, and the number of lines up to there.
        """
        rest: list[bytes] = []
        held = 0
        while data := stream.read(_CHUNK):
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest.append(data)
                held += len(data)
                if held > _LONGEST_LINE:
                    for place in self._in_text(b"".join(rest), line + 1):
                        found(place)
                    rest, held = [], 0
                continue
            block = b"".join([*rest, data[:cut]])
            rest, held = [data[cut:]], len(data) - cut
            line = self._in_block(block, line, found)
            start += len(block)
        last = b"".join(rest)
        if last:
            self._in_block(last, line, found)
        return start, line

    def _in_block(self, block: bytes, line: int, found: Callable[[Place], None]) -> int:
        """Search whole lines, and return the number of the last."""
        search, at, counted = self.finder.anything, 0, 0
        if self.personal is not None:
            for number, text in enumerate(block.split(b"\n"), line + 1):
                if text.strip():
                    for place in self._in_line(text, number):
                        found(place)
            return line + block.count(b"\n")
        while (hit := search.first(block, at)) is not None:
            start = block.rfind(b"\n", 0, hit[0]) + 1
            end = block.find(b"\n", hit[1])
            end = len(block) if end < 0 else end
            line += block.count(b"\n", counted, start)
            for number, text in enumerate(block[start:end].split(b"\n"), line + 1):
                for place in self._in_line(text, number):
                    found(place)
            counted = start
            at = end + 1
            if at >= len(block):
                break
        return line + block.count(b"\n", counted)

    def _in_line(self, data: bytes, line: int) -> Iterator[Place]:
        value = _value(data)
        if value is None:
            yield from self._in_text(data, line)
            return
        time = session_id = None
        if isinstance(value, dict):
            time, session_id = _time(value.get("timestamp")), value.get("sessionId")
        yield from self._in_value(value, line, time, session_id if isinstance(session_id, str) else None)

    def _in_value(self, value: Any, line: int, time: str | None, session_id: str | None) -> Iterator[Place]:
        for pointer, _, found in self.finder.in_value(value):
            yield self._place(found, line, pointer, time, session_id)
        if self.personal is not None:
            from .find import strings_of

            for pointer, text, is_key in strings_of(value):
                if not is_key:
                    for found in self.personal(text):
                        yield self._place(found, line, pointer, time, session_id)

    def _in_text(self, data: bytes, line: int = 1) -> Iterator[Place]:
        text = data.decode("utf-8", "replace")
        finds = self.finder.in_text(text)
        if self.personal is not None:
            finds = sorted([*finds, *self.personal(text)], key=lambda found: found.start)
        counted = 0
        for found in finds:
            line += text.count("\n", counted, found.start)
            counted = found.start
            yield self._place(found, line, None, None, None, text.rfind("\n", 0, found.start) + 1)

    def _place(
        self, found: Found, line: int, pointer: str | None, time: str | None, session_id: str | None, begin: int = 0
    ) -> Place:
        place = Place(
            line=line, pointer=pointer, start=found.start - begin, end=found.end - begin, kind=found.kind, family=found.family,
            confidence=found.confidence, form=found.form, length=len(found.value), masked=masked(found.kind, found.value),
            fingerprint=self.fingerprints.of(found.value), time=time, session_id=session_id,
        )  # fmt: skip
        if self.take is not None:
            self.take(place, found)
        return place


def _value(data: bytes) -> Any:
    """Decode a line; None if it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        pass
    try:  # takes half of a surrogate pair, and NaN
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _time(told: Any) -> str | None:
    """Return a time as ISO 8601 in UTC: transcripts have texts, the history has milliseconds."""
    if isinstance(told, str) and len(told) >= 10:
        return told
    if isinstance(told, (int, float)) and 0 < told < 1e14:
        return datetime.fromtimestamp(told / 1000, UTC).isoformat().replace("+00:00", "Z")
    return None
