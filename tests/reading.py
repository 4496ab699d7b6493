"""Bytes to what is read out of them, for tests that look at lines, entries, rows or the conversation."""

from __future__ import annotations

import io
from dataclasses import dataclass

from recollect.format.decode import Located, parse_lines, parse_row_entries
from recollect.format.entries import Entry
from recollect.format.line import HARMLESS, Damage, RawLine, read_entry_lines
from recollect.graph.rows import Transcript, build_transcript
from recollect.graph.thread import Thread, find_thread
from recollect.testing import DAMAGES, TranscriptBuilder

SMALL_DAMAGES = {
    name: recipe for name, recipe in DAMAGES.items() if name not in ("deep-objects", "deep-arrays", "huge-line")
}
"""Without those that take a second each: one test of them is enough."""


@dataclass(frozen=True)
class Reading:
    """One file: its bytes, its lines, what was found on them, and what is wrong with them."""

    data: bytes
    lines: list[RawLine]
    found: list[Located[Entry]]
    damage: list[Damage]

    @property
    def uuids(self) -> list[str | None]:
        return [item.entry.uuid for item in self.found]

    @property
    def kinds(self) -> list[str]:
        return [item.kind for item in self.damage]

    @property
    def harm(self) -> list[tuple[str, bytes]]:
        """Kind and bytes of the damage that costs somebody something."""
        return [(item.kind, self.at(item)) for item in self.damage if item.kind not in HARMLESS]

    def at(self, place: Located[Entry] | Damage) -> bytes:
        return self.data[place.offset : place.offset + place.length]


def read(data: bytes) -> Reading:
    lines = list(read_entry_lines(io.BytesIO(data)))
    damage: list[Damage] = []
    return Reading(data, lines, list(parse_lines(lines, damage)), damage)


def transcript_of(source: bytes | TranscriptBuilder) -> Transcript:
    data = source if isinstance(source, bytes) else source.to_bytes()
    damage: list[Damage] = []
    transcript = build_transcript(parse_row_entries(read_entry_lines(io.BytesIO(data)), damage), damage)
    transcript.size = len(data)
    return transcript


def thread_of(source: bytes | TranscriptBuilder) -> Thread:
    return find_thread(transcript_of(source))


def sent(source: bytes | TranscriptBuilder) -> list[str | None]:
    """The uuids that a resume sends."""
    return [row.uuid for row in thread_of(source).sent]
