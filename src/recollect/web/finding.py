"""Finding words in one session: every message that holds them, with the words around."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..library.service import Service
from ..library.session import Session
from .conversation import HELD_LINE, PAGE_MESSAGES, view_text
from .reading import Reading
from .rendering import plain

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


def find_in(service: Service, reading: Reading, words: str) -> Hits:
    """Plain substring, upper and lower case alike."""
    needle = re.compile(re.escape(words.strip()), re.IGNORECASE)
    found: list[Hit] = []
    session: Session = reading.session
    with service.reading(session):
        small = [
            (number, message)
            for number, message in enumerate(reading.messages)
            if all(row.length <= HELD_LINE for row in message.rows)
        ]
        rows = [row for _, message in small for row in message.rows]
        numbers = [number for number, _ in small]
        for number, view in zip(numbers, session.stream_messages(rows), strict=False):
            text = view_text(view)
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
