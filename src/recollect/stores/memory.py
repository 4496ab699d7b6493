"""A session store in memory: for tests, and for conversations that need not be kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from .entry_text import decode_line, encode_entries
from .protocol import (
    Place,
    SessionKey,
    SessionListSubkeysKey,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    checked_place,
    checked_project,
    checked_session,
)
from .summary_fold import fold


@dataclass(slots=True)
class _Transcript:
    lines: list[bytes] = field(default_factory=list)
    known: set[bytes] = field(default_factory=set)
    mtime: int = 0
    summary: dict[str, Any] = field(default_factory=dict)


class MemorySessionStore:
    """Stores text, not objects: changes that a caller makes to an entry afterwards do not reach the store."""

    def __init__(self) -> None:
        self._transcripts: dict[Place, _Transcript] = {}
        self._lock = threading.Lock()  # a store may be shared by event loops in several threads

    async def append(self, key: SessionKey, entries: Sequence[Mapping[str, Any]]) -> None:
        place, texts = checked_place(key), encode_entries(entries)
        if not texts:
            return
        with self._lock:
            transcript = self._transcripts.setdefault(place, _Transcript())
            for entry, text in zip(entries, texts, strict=True):
                if text.digest is not None:
                    if text.digest in transcript.known:
                        continue
                    transcript.known.add(text.digest)
                transcript.lines.append(text.line)
                if not place.subpath:
                    transcript.summary = fold(transcript.summary, [entry])
            transcript.mtime = max(time.time_ns() // 1_000_000, transcript.mtime + 1)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        place = checked_place(key)
        with self._lock:
            transcript = self._transcripts.get(place)
            if transcript is None:
                return None
            return cast("list[SessionStoreEntry]", [entry for line in transcript.lines for entry in decode_line(line)])

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        return [
            {"session_id": place.session_id, "mtime": transcript.mtime}
            for place, transcript in self._sessions(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        return [
            {"session_id": place.session_id, "mtime": transcript.mtime, "data": dict(transcript.summary)}
            for place, transcript in self._sessions(project_key)
        ]

    async def delete(self, key: SessionKey) -> None:
        place = checked_place(key)
        with self._lock:
            if place.subpath:
                self._transcripts.pop(place, None)
            else:
                for other in [other for other in self._transcripts if other.below(()) == place]:
                    del self._transcripts[other]

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        session = checked_session(key)
        with self._lock:
            return sorted(
                place.subpath_text for place in self._transcripts if place.subpath and place.below(()) == session
            )

    def _sessions(self, project_key: str) -> list[tuple[Place, _Transcript]]:
        project = checked_project(project_key)
        with self._lock:
            return [
                (place, transcript)
                for place, transcript in self._transcripts.items()
                if place.project_key == project and not place.subpath
            ]
