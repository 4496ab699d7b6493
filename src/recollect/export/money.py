"""Write tokens and money, for usage, budgets, the status line and conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.cost import dollars as dollars
from ..analysis.cost import exact_dollars as exact_dollars

if TYPE_CHECKING:
    from ..analysis.cost import Totals
    from ..format.usage import Usage


def tokens(count: int) -> str:
    """Write a number of tokens with three digits: ``870``, ``1.23k``, ``34.5M``."""
    for unit, name in ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= unit:
            value = count / unit
            return (
                f"{value:.2f}{name}" if value < 10 else f"{value:.1f}{name}" if value < 100 else f"{value:,.0f}{name}"
            )
    return str(count)


def money(totals: Totals) -> str:
    """Write the cost of some calls: with `+?` if a price is not known, `≥` if the output is a lower bound."""
    return cost_in_words(totals.cost, totals.unpriced, totals.lower_bounds)


def cost_in_words(cost: int | None, unpriced: int, lower_bounds: int = 0) -> str:
    """Write a cost with the marks of `money`; `?` if no price of the calls is known."""
    if cost is None or (unpriced and not cost):
        return "?" if unpriced else ""
    return f"{'≥' if lower_bounds else ''}{dollars(cost)}{'+?' if unpriced else ''}"


def message_tokens(model: str | None, seconds: float | None, usage: Usage, *, lower_bound: bool = False) -> str:
    """Write what a message used: ``10 in, 200 out (80 thinking), 30 written (5 min), 500 read, $0.01``.

    `≥` marks an output that is only a placeholder. A missing count is written as 0, with a remark.
    """
    from ..analysis.cost import message_cost
    from ..analysis.prices.book import price_book

    least = "≥" if lower_bound else ""
    thought = f" ({tokens(usage.thinking)} thinking)" if usage.thinking else ""
    parts = [f"{tokens(usage.input_tokens)} in", f"{least}{tokens(usage.output_tokens)} out{thought}"]
    parts += [f"{tokens(usage.cache_write_5m)} written (5 min)"] if usage.cache_write_5m else []
    parts += [f"{tokens(usage.cache_write_1h)} written (1 h)"] if usage.cache_write_1h else []
    parts += [f"{tokens(usage.cache_read)} read"] if usage.cache_read else []
    searches = usage.web_searches
    parts += [f"{searches:,} web search{'es' if searches != 1 else ''}"] if searches else []
    parts.append(least + dollars(message_cost(price_book(), model, seconds, usage)))
    return ", ".join(parts) + (" (a count is missing or none)" if usage.is_odd else "")
