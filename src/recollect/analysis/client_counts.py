"""Compare Claude Code's own count (`cost-state` lines, since 2.1.325) with Recollect's, session by session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

from ..index.api_calls.decode import Count
from ..index.catalogue.catalogue import Catalogue
from ..store.home import Home
from .api_calls import ApiCall, calls_in_sessions, home_numbers
from .cost import Counts, dollars
from .prices.book import PriceBook

_LARGEST_COST: Final = 1e12
"""Dollars. No session costs more; larger values cannot be converted to micro-dollars."""


@dataclass(slots=True)
class Comparison:
    """Both counts of a session. Ours holds every call in its files, also copies that are counted elsewhere."""

    session_id: str
    ours: Counts
    theirs: Counts
    our_cost: int
    their_cost: int
    models: tuple[str, ...]
    calls: int = 0
    unpriced: bool = False
    """Whether either side lacks a price: then the costs cannot be compared."""
    writes_apart: bool = True
    """Whether Claude Code counted the two kinds of cache writes separately."""
    problem: str | None = None
    """Why Claude Code's count cannot be used; then there is nothing to compare with."""

    @property
    def same(self) -> bool:
        """Whether tokens, searches and cost agree."""
        return self.problem is None and not self.difference()

    @property
    def same_tokens(self) -> bool:
        return self.problem is None and self._counts(self.ours) == self._counts(self.theirs)

    def _counts(self, counts: Counts) -> dict[str, int]:
        written = {"cache_write_5m": counts.cache_write_5m, "cache_write_1h": counts.cache_write_1h}
        return {
            "input": counts.input,
            "output": counts.output,
            "cache_write": counts.cache_write_5m + counts.cache_write_1h,
            **(written if self.writes_apart else {}),
            "cache_read": counts.cache_read,
            "web_searches": counts.web_searches,
        }

    def difference(self) -> dict[str, int]:
        """Return ours minus Claude Code's for each value that differs. Costs may differ by the rounding per call."""
        if self.problem is not None:
            return {}
        theirs = self._counts(self.theirs)
        found = {name: mine - theirs[name] for name, mine in self._counts(self.ours).items() if mine != theirs[name]}
        cost = self.our_cost - self.their_cost
        if abs(cost) > self.calls + 1 and not self.unpriced:
            found["cost_micro_usd"] = cost
        return found

    def in_words(self) -> str:
        """Return the difference in words, or why there is none."""
        if self.problem is not None:
            return self.problem
        difference = self.difference()
        cost = difference.pop("cost_micro_usd", None)
        parts = [f"{name} {amount:+,}" for name, amount in difference.items()]
        if cost is not None:
            parts.append(f"cost {'+' if cost > 0 else ''}{dollars(cost)}")
        return ", ".join(parts)

    def data(self) -> dict[str, Any]:
        ours, theirs = self._counts(self.ours), self._counts(self.theirs)
        return {
            "session_id": self.session_id,
            "same": self.same,
            "problem": self.problem,
            "ours": ours | {"thinking": self.ours.thinking, "cost_micro_usd": self.our_cost},
            "client": None
            if self.problem is not None
            else theirs | {"thinking": self.theirs.thinking, "cost_micro_usd": self.their_cost},
            "difference": self.difference(),
        }


class _ModelUsage(msgspec.Struct):
    inputTokens: Count = 0
    outputTokens: Count = 0
    thinkingTokens: Count = 0
    cacheReadInputTokens: Count = 0
    cacheCreationInputTokens: Count = 0
    cacheCreationEphemeral5mInputTokens: Count = 0
    cacheCreationEphemeral1hInputTokens: Count = 0
    webSearchRequests: Count = 0


class _CostState(msgspec.Struct):
    totalCostUSD: Annotated[float, msgspec.Meta(ge=0, lt=_LARGEST_COST)] = 0
    modelUsage: dict[str, _ModelUsage] = {}
    hasUnknownModelCost: bool = False


def compare(
    catalogue: Catalogue, homes: Sequence[Home], book: PriceBook, session: str | None = None,
    among: Collection[tuple[str, str | None]] | None = None,
) -> list[Comparison]:  # fmt: skip
    """Return one comparison per session for which Claude Code left its count; empty for older versions.

    Restricted to one `session`, or to the (home, session) pairs in `among`.
    """
    numbers = home_numbers(catalogue, homes)
    marks = ", ".join("?" * len(numbers))
    states: list[tuple[Any, ...]] = catalogue.connection.execute(
        "SELECT h.path, f.session_id, s.value FROM cost_states s JOIN files f ON f.id = s.file_id "
        f"JOIN homes h ON h.id = f.home_id WHERE f.kind = 'session' AND f.home_id IN ({marks}) ORDER BY f.path",
        numbers,
    ).fetchall()
    if session is not None:
        states = [row for row in states if row[1] == session]
    if among is not None:
        states = [row for row in states if row[:2] in among]
    if not states:
        return []
    ours = _per_session(catalogue, {row[1] for row in states})
    found = []
    for home, session_id, text in states:
        mine, cost, unpriced = Counts(), 0, False
        calls = ours.get((home, session_id), [])
        for item in calls:
            mine = Counts(*map(sum, zip(mine, item.counts, strict=True)))
            price = item.cost(book)
            cost += price or 0
            unpriced |= price is None
        row = Comparison(session_id, mine, Counts(), cost, 0, (), len(calls), unpriced)
        try:
            state = msgspec.json.decode(text, type=_CostState)
            row.their_cost = round(state.totalCostUSD * 1_000_000)
        except (msgspec.MsgspecError, OverflowError, RecursionError, UnicodeError):
            row.problem = "Claude Code's count cannot be read"
        else:
            row.theirs, row.models = _sum(state), tuple(state.modelUsage)
            row.unpriced |= state.hasUnknownModelCost
            row.writes_apart = bool(row.theirs.cache_write_1h) or any(
                usage.cacheCreationEphemeral5mInputTokens for usage in state.modelUsage.values()
            )
        found.append(row)
    return found


def _sum(state: _CostState) -> Counts:
    """Return Claude Code's count over all models."""
    found = Counts()
    for usage in state.modelUsage.values():
        long = usage.cacheCreationEphemeral1hInputTokens
        found = Counts(
            found.input + usage.inputTokens,
            found.output + usage.outputTokens,
            found.cache_write_5m + max(usage.cacheCreationInputTokens - long, 0),
            found.cache_write_1h + long,
            found.cache_read + usage.cacheReadInputTokens,
            found.thinking + usage.thinkingTokens,
            found.web_searches + usage.webSearchRequests,
        )
    return found


def _per_session(catalogue: Catalogue, sessions: set[str]) -> dict[tuple[str, str], list[ApiCall]]:
    """Return the calls in the files of each session, by home and session.

    A copy counts for its session, too, but only once there.
    """
    marks = ", ".join("?" * len(sessions))
    files: list[tuple[Any, ...]] = catalogue.connection.execute(
        "SELECT f.id, h.path, f.session_id FROM files f JOIN homes h ON h.id = f.home_id "
        f"WHERE f.session_id IN ({marks}) AND f.kind IN ('session', 'subagent')",
        list(sessions),
    ).fetchall()
    session_of = {file_id: (home, session) for file_id, home, session in files}
    found: dict[tuple[str, str], list[ApiCall]] = {}
    for item in calls_in_sessions(catalogue, session_of):
        found.setdefault(session_of[item.file_id], []).append(item)
    return found
