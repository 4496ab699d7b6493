"""The client's own count (`cost-state` lines, since 2.1.325) held against ours, session by session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..index.catalogue import Catalogue
from ..store.home import Home
from .cost import Counts, cost_of
from .prices.book import PriceBook
from .responses import Response, home_numbers, responses


@dataclass(slots=True)
class Comparison:
    """Both counts of a session. Ours holds every call in its files, copies that are booked elsewhere included."""

    session_id: str
    ours: Counts
    theirs: Counts
    our_cost: int
    their_cost: int
    models: tuple[str, ...]

    @property
    def same_tokens(self) -> bool:
        return self._four(self.ours) == self._four(self.theirs)

    @staticmethod
    def _four(counts: Counts) -> tuple[int, int, int, int]:
        return counts.input, counts.output, counts.cache_write_5m + counts.cache_write_1h, counts.cache_read

    def data(self) -> dict[str, Any]:
        names = ("input", "output", "cache_write", "cache_read")
        ours, theirs = self._four(self.ours), self._four(self.theirs)
        return {
            "session_id": self.session_id,
            "same": self.same_tokens,
            "ours": dict(zip(names, ours, strict=True)) | {"cost_micro_usd": self.our_cost},
            "client": dict(zip(names, theirs, strict=True)) | {"cost_micro_usd": self.their_cost},
            "difference": {
                name: mine - other for name, mine, other in zip(names, ours, theirs, strict=True) if mine != other
            },
        }


class _ModelUsage(msgspec.Struct):
    inputTokens: int = 0
    outputTokens: int = 0
    thinkingTokens: int = 0
    cacheReadInputTokens: int = 0
    cacheCreationInputTokens: int = 0
    cacheCreationEphemeral5mInputTokens: int = 0
    cacheCreationEphemeral1hInputTokens: int = 0
    webSearchRequests: int = 0


class _CostState(msgspec.Struct):
    totalCostUSD: float = 0
    modelUsage: dict[str, _ModelUsage] = {}


def compare(
    catalogue: Catalogue, homes: Sequence[Home], book: PriceBook, session: str | None = None
) -> list[Comparison]:
    """One row per session for which the client left its count. Empty for older clients."""
    numbers = home_numbers(catalogue, homes)
    marks = ", ".join("?" * len(numbers))
    states: list[tuple[Any, ...]] = catalogue.connection.execute(
        "SELECT f.session_id, s.value FROM cost_states s JOIN files f ON f.id = s.file_id "
        f"WHERE f.kind = 'session' AND f.home_id IN ({marks}) ORDER BY f.path",
        numbers,
    ).fetchall()
    if session is not None:
        states = [row for row in states if row[0] == session]
    if not states:
        return []
    ours = _per_session(catalogue, homes, {row[0] for row in states})
    found = []
    for session_id, text in states:
        try:
            told = msgspec.json.decode(text, type=_CostState)
        except msgspec.MsgspecError:
            continue
        theirs = Counts()
        for usage in told.modelUsage.values():
            long = usage.cacheCreationEphemeral1hInputTokens
            theirs = Counts(
                theirs.input + usage.inputTokens,
                theirs.output + usage.outputTokens,
                theirs.cache_write_5m + max(usage.cacheCreationInputTokens - long, 0),
                theirs.cache_write_1h + long,
                theirs.cache_read + usage.cacheReadInputTokens,
                theirs.thinking + usage.thinkingTokens,
                theirs.web_searches + usage.webSearchRequests,
            )
        mine, cost = Counts(), 0
        for item in ours.get(session_id, {}).values():
            mine = Counts(*map(sum, zip(mine, item.counts, strict=True)))
            price, _ = cost_of(book, item.model, item.time, item.counts, item.speed, item.service_tier, item.geo)
            cost += price or 0
        their_cost = round(told.totalCostUSD * 1_000_000)
        found.append(Comparison(session_id, mine, theirs, cost, their_cost, tuple(told.modelUsage)))
    return found


def _per_session(
    catalogue: Catalogue, homes: Sequence[Home], sessions: set[str]
) -> dict[str, dict[tuple[str, str, str], Response]]:
    """The calls in the files of each session: a copy counts for its session too, but only once there."""
    marks = ", ".join("?" * len(sessions))
    files: list[tuple[Any, ...]] = catalogue.connection.execute(
        f"SELECT id, session_id FROM files WHERE session_id IN ({marks}) AND kind IN ('session', 'agent')",
        list(sessions),
    ).fetchall()
    found: dict[str, dict[tuple[str, str, str], Response]] = {}
    # Without the booking of shared calls: each file alone, and copies within a session joined here.
    for item in responses(catalogue, homes, files=[file_id for file_id, _ in files], booked=False):
        calls = found.setdefault(item.session_id or "", {})
        key = (item.message_id, item.request_id, item.model)
        other = calls.get(key)
        if other is not None:
            item = item._replace(counts=Counts(*(max(pair) for pair in zip(item.counts, other.counts, strict=True))))
        calls[key] = item
    return found
