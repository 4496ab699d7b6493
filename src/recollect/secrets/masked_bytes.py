"""Mask values in the bytes of a file, by what the file holds: lines of JSON, one JSON value, or text.

Pieces are yielded as pairs of the old and the new bytes, so that a caller knows where an offset of the old file lies in the new
one: the vault needs that for its snapshots.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from ..format.entries import REFUSED
from .rewrite import Replacement, rewrite_strings
from .thoughts import without_thoughts
from .untouched import is_untouched
from .values import SecretValue, ValueFinder

_AT_ONCE: Final = 1 << 20
_CERTAIN: Final = 12
"""A shorter value inside of a longer word is taken for another word."""
_raw: Final = msgspec.json.Decoder(msgspec.Raw).decode

Pair = tuple[bytes, bytes]


@dataclass
class Tally:
    """What was found in one file, and what could not be masked there."""

    found: Counter[SecretValue] = field(default_factory=Counter)
    lines: set[int] = field(default_factory=set)
    """The lines with a value, from 1."""
    thoughts: int = 0
    """Thinking blocks that were taken out as a whole."""
    left: Counter[SecretValue] = field(default_factory=Counter)
    """Values that stay: in names of fields, in ids, in the data of pictures, and inside of words."""

    @property
    def is_empty(self) -> bool:
        return not self.found and not self.left


class ByteMasker:
    """Masks the values of a finder in files."""

    def __init__(self, finder: ValueFinder) -> None:
        self.finder = finder

    def pairs(self, name: str, chunks: Iterable[bytes], tally: Tally) -> Iterator[Pair]:
        """Yield the bytes of a file in order, each piece with what takes its place. `name` is the file's name or path."""
        if is_lines(name):
            yield from self._lines(chunks, tally)
            return
        data = b"".join(chunks)
        if not self.finder.may_hold(data):
            yield data, data
        elif may_be_json(name) and is_json(data):
            tally.lines.add(1)
            yield data, self._json(data, tally, is_entry=False)
        else:
            yield from self._text(data, tally)

    def _lines(self, chunks: Iterable[bytes], tally: Tally) -> Iterator[Pair]:
        number = 1
        for block in whole_lines(chunks):
            if not self.finder.may_hold(block):
                yield block, block
                number += block.count(b"\n")
                continue
            start = 0
            while start < len(block):
                end = block.find(b"\n", start) + 1 or len(block)
                line = block[start:end]
                yield line, self._line(line, number, tally) if self.finder.may_hold(line) else line
                start, number = end, number + 1

    def _line(self, line: bytes, number: int, tally: Tally) -> bytes:
        before = tally.found.total()

        def holds(text: str) -> bool:
            places = self.finder.places(text)
            tally.found.update(place.value for place in places)
            return bool(places)

        new, thoughts = without_thoughts(line, holds)
        new = self._json(new, tally, is_entry=True)
        tally.thoughts += thoughts
        if tally.found.total() > before:
            tally.lines.add(number)
        return new

    def _json(self, data: bytes, tally: Tally, *, is_entry: bool) -> bytes:
        """Return JSON with the values in its strings masked; of an entry, ids, signatures and media stay as they are."""
        finder = self.finder
        found: list[SecretValue] = []
        size = _size_as_written

        def change(pointer: str, text: str) -> list[Replacement]:
            if is_entry and pointer and is_untouched(pointer, text):
                return []
            places = finder.places(text, size=size)
            found.extend(place.value for place in places)
            return [Replacement(place.start, place.end, place.text) for place in places]

        change_key = change if finder.everywhere else None
        new = rewrite_strings(data, change, change_key=change_key)
        if finder.same_length and len(new) != len(data):  # letters are written as escapes
            size = _size_in_ascii
            found.clear()
            new = rewrite_strings(data, change, change_key=change_key)
        tally.found.update(found)
        self._note_left(new, tally)
        return new

    def _text(self, data: bytes, tally: Tally) -> Iterator[Pair]:
        text = data.decode("utf-8", "surrogateescape")
        at = 0
        for place in self.finder.places(text, size=lambda part: len(_bytes(part))):
            before, old = (_bytes(part) for part in (text[at : place.start], text[place.start : place.end]))
            yield before, before
            yield old, _bytes(place.text)
            self._note_left(before, tally)
            tally.found[place.value] += 1
            tally.lines.add(text.count("\n", 0, place.start) + 1)
            at = place.end
        rest = _bytes(text[at:])
        self._note_left(rest, tally)
        yield rest, rest

    def _note_left(self, data: bytes, tally: Tally) -> None:
        """Count the values that are still there: found whatever stands around them."""
        if self.finder.may_hold(data):
            text = data.decode("utf-8", "surrogateescape")
            delimited = {(place.start, place.value) for place in self.finder.places(text, everywhere=False)}
            for place in self.finder.places(text, everywhere=True):
                if len(place.value.value) >= _CERTAIN or (place.start, place.value) in delimited:
                    tally.left[place.value] += 1


def is_lines(name: str) -> bool:
    """Return whether a file of this name holds lines of JSON."""
    base = Path(name).name
    return base.endswith(".jsonl") or ".jsonl." in base


def may_be_json(name: str) -> bool:
    """Return whether a file of this name should hold one JSON value."""
    base = Path(name).name
    return base.endswith(".json") or ".json." in base


def is_json(data: bytes) -> bool:
    try:
        _raw(data)
    except REFUSED:
        return False
    return True


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _size_as_written(text: str) -> int:
    """Return how many bytes a text takes in a JSON string, as Claude Code writes it."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2


def _size_in_ascii(text: str) -> int:
    return len(json.dumps(text)) - 2


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines; the last one may lack its line end."""
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            waiting.append(chunk[:cut])
            size += cut
            if size >= _AT_ONCE:
                yield b"".join(waiting)
                waiting, size = [], 0
            chunk = chunk[cut:]
        if chunk:
            waiting.append(chunk)
            size += len(chunk)
    if waiting:
        yield b"".join(waiting)
