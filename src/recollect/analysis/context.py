"""Trace how full the context window was over the course of a session, and where it was compacted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..format.times import to_iso
from ..index.api_calls.rows import ADVISOR, PROGRESS
from .api_calls import ApiCall
from .prices.book import PriceBook

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue


@dataclass(slots=True)
class ContextTimeline:
    """The prompt lengths of the main conversation of a session, in order."""

    session_id: str
    window: int | None = None
    steps: list[ApiCall] = field(default_factory=list)
    boundaries: list[tuple[int, int]] = field(default_factory=list)
    """Where the conversation was compacted: file and line."""

    @property
    def compactions(self) -> int:
        return len(self.boundaries)

    def after_compaction(self) -> list[bool]:
        """Return for each step whether the window was compacted since the step before."""
        places = [(item.file_id, item.line) for item in self.steps]
        return [
            any(before < boundary < place for boundary in self.boundaries)
            for before, place in zip([(place[0], 0) for place in places[:1]] + places, places, strict=False)
        ]

    @property
    def peak(self) -> int:
        return max((item.counts.prompt + item.counts.output for item in self.steps), default=0)

    @property
    def last(self) -> int:
        """The tokens in the window at the end. Answers recorded without counts are skipped."""
        return next((item.counts.tokens for item in reversed(self.steps) if item.counts.tokens), 0)

    def data(self, *, whole: bool = False) -> dict[str, Any]:
        peak = self.peak
        row: dict[str, Any] = {
            "session_id": self.session_id, "calls": len(self.steps), "window": self.window, "peak_tokens": peak,
            "last_tokens": self.last, "peak_share": round(peak / self.window, 4) if self.window else None,
            "compactions": self.compactions,
        }  # fmt: skip
        if whole:
            row["course"] = [
                {
                    "time": to_iso(None if item.time is None else item.time / 1e6), "line": item.line,
                    "prompt": item.counts.prompt, "output": item.counts.output, "cache_read": item.counts.cache_read,
                    "new": item.counts.input + item.counts.cache_write_5m + item.counts.cache_write_1h,
                    "after_compaction": compacted,
                }
                for item, compacted in zip(self.steps, self.after_compaction(), strict=True)
            ]  # fmt: skip
        return row


def context_timelines(
    found: Iterable[ApiCall], book: PriceBook, catalogue: Catalogue | None = None, *, since: int | None = None,
    until: int | None = None,
) -> list[ContextTimeline]:  # fmt: skip
    """Return one timeline per session, the most recently used first.

    With a catalogue that holds the entries, compactions in this time are included.
    """
    sessions: dict[tuple[str, str], ContextTimeline] = {}
    for item in sorted(found, key=lambda item: (item.file_id, item.line)):
        if item.session_id is None or item.subagent_id is not None or item.flags & (ADVISOR | PROGRESS):
            continue
        course = sessions.setdefault((item.home, item.session_id), ContextTimeline(item.session_id))
        course.steps.append(item)
    for course in sessions.values():
        known = book.window(course.steps[-1].model)
        # A prompt longer than the usual window shows that the long window was in use.
        course.window = 1_000_000 if known is not None and course.peak > known else known
    if catalogue is not None:
        rows = catalogue.connection.execute(
            "SELECT h.path, f.session_id, e.file_id, e.line FROM entries e JOIN files f ON f.id = e.file_id "
            "JOIN homes h ON h.id = f.home_id WHERE e.subtype = 'compact_boundary' AND f.kind = 'session' "
            "AND (?1 IS NULL OR e.time >= ?1) AND (?2 IS NULL OR e.time < ?2) ORDER BY 3, 4",
            (since, until),
        )
        for home, session_id, file_id, line in rows:
            if (home, session_id) in sessions:
                sessions[home, session_id].boundaries.append((file_id, line))
    return sorted(sessions.values(), key=lambda course: course.steps[-1].time or 0, reverse=True)
