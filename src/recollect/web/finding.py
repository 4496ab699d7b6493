"""Find text in one session: every message that contains it, with the text around."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..export.conversation import words_of
from ..export.rendering import plain
from ..library.reading import LONGEST_LINE
from ..library.service import Service
from .reading import PAGE_MESSAGES, PageReading

MAX_HITS = 200
AROUND = 60


@dataclass(slots=True)
class Hit:
    number: int
    uuid: str | None
    page: int
    role: str
    before: str
    match: str
    after: str


@dataclass(slots=True)
class Hits:
    found: list[Hit]
    complete: bool
    query: str


def find_in(service: Service, reading: PageReading, words: str) -> Hits:
    """Find messages that contain a text, ignoring case."""
    needle = re.compile(re.escape(words.strip()), re.IGNORECASE)
    found: list[Hit] = []
    with service.reading(reading.session), reading.session:
        for number, view in enumerate(reading.views(longest=LONGEST_LINE)):
            text = words_of(view)
            match = needle.search(text)
            if match is None:
                continue
            if len(found) == MAX_HITS:
                return Hits(found, False, reading.wanted.query)
            place, end = match.span()
            start = max(place - AROUND, 0)
            found.append(
                Hit(
                    number + 1, view.uuid, number // PAGE_MESSAGES + 1, view.role,
                    ("…" if start else "") + _line(text[start:place]), _line(text[place:end]),
                    _line(text[end : end + AROUND]),
                )
            )  # fmt: skip
    return Hits(found, True, reading.wanted.query)


def _line(text: str) -> str:
    return plain(text.replace("\n", " "))
