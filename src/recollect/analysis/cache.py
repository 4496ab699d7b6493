"""Compute how much of the prompts came from the cache, and what that saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .api_calls import ApiCall
from .cost import micro_dollars, without_cache
from .prices.book import PriceBook


@dataclass(slots=True)
class CacheUse:
    """Cache use of one model, or of all."""

    calls: int = 0
    prompt: int = 0
    read: int = 0
    written: int = 0
    cost: int = 0
    uncached: int = 0
    """The cost of these calls without a cache, in micro-dollars."""
    unpriced: int = 0
    """Calls of models without a price: counted in the tokens, not in the money."""
    lower_bounds: int = 0
    """Calls whose output is a lower bound, which makes the money a lower bound, too."""

    @property
    def hit_rate(self) -> float | None:
        """Share of the prompts' tokens that were read from the cache."""
        return self.read / self.prompt if self.prompt else None

    @property
    def saved(self) -> int:
        """Net savings: writing to the cache costs more than plain input, and may cost more than it saves."""
        return self.uncached - self.cost

    def data(self) -> dict[str, Any]:
        rate = self.hit_rate
        return {
            "calls": self.calls, "prompt_tokens": self.prompt, "cache_read": self.read, "cache_written": self.written,
            "hit_rate": None if rate is None else round(rate, 4), "cost_micro_usd": self.cost,
            "without_cache_micro_usd": self.uncached, "saved_micro_usd": self.saved,
            "unpriced_calls": self.unpriced, "lower_bound_calls": self.lower_bounds,
        }  # fmt: skip


def cache_use(found: Iterable[ApiCall], book: PriceBook) -> tuple[dict[str, CacheUse], CacheUse]:
    """Return the cache use by model, and of all together. Models without a price count in the tokens only."""
    models: dict[str, CacheUse] = {}
    total = CacheUse()
    for item in found:
        counts = item.counts
        tariff = book.tariff(item.model, item.time, counts.prompt, item.speed, item.service_tier, item.geo)
        for use in (models.setdefault(item.model, CacheUse()), total):
            use.calls += 1
            use.prompt += counts.prompt
            use.read += counts.cache_read
            use.written += counts.cache_write_5m + counts.cache_write_1h
            use.lower_bounds += item.lower_bound
            if tariff is None:
                use.unpriced += 1
            else:
                use.cost += micro_dollars(counts, tariff, book.search)
                use.uncached += without_cache(counts, tariff, book.search)
    return models, total
