"""Sum responses: counts, money, and caveats."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add
from typing import Any

from .cost import Counts


@dataclass(slots=True)
class Totals:
    """What some responses used together. Money is whole micro-dollars."""

    calls: int = 0
    counts: Counts = field(default_factory=Counts)
    cost: int = 0
    unpriced: int = 0
    """Calls of models that are not in the price table: their tokens count, their cost is not known."""
    lower_bounds: int = 0
    """Calls for which Claude Code wrote only a placeholder for the output: the sum is at least this."""
    odd: int = 0
    """Calls with counts that are missing or invalid (negative, text, absurdly large); such a count is taken as zero."""
    zoneless: int = 0
    """Calls whose time has no zone; it is taken as UTC."""
    copies: int = 0
    """How many further copies of these calls are in other files; they are not counted again."""

    def add(
        self, counts: Counts, cost: int | None, lower_bound: bool = False, odd: bool = False, zoneless: bool = False,
        copies: int = 0,
    ) -> None:  # fmt: skip
        self.calls += 1
        self.counts = Counts._make(map(add, self.counts, counts))
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost
        self.lower_bounds += lower_bound
        self.odd += odd
        self.zoneless += zoneless
        self.copies += copies

    def join(self, other: Totals) -> None:
        self.calls += other.calls
        self.counts = Counts._make(map(add, self.counts, other.counts))
        self.cost += other.cost
        self.unpriced += other.unpriced
        self.lower_bounds += other.lower_bounds
        self.odd += other.odd
        self.zoneless += other.zoneless
        self.copies += other.copies

    def data(self) -> dict[str, Any]:
        """Return the totals as a row of JSON."""
        counts = self.counts
        return {
            "calls": self.calls,
            "input": counts.input,
            "output": counts.output,
            "cache_write_5m": counts.cache_write_5m,
            "cache_write_1h": counts.cache_write_1h,
            "cache_read": counts.cache_read,
            "thinking": counts.thinking,
            "web_searches": counts.web_searches,
            "tokens": counts.tokens,
            "cost_micro_usd": self.cost,
            "unpriced_calls": self.unpriced,
            "lower_bound_calls": self.lower_bounds,
            "odd_calls": self.odd,
            "zoneless_calls": self.zoneless,
        }
