"""Write the status line: model, cost of the session and of today, the five-hour block, and how full the context is."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from .money import cost_in_words
from .terminal_text import safe_line

if TYPE_CHECKING:
    from ..analysis.status_figures import StatusFigures, Sum


def status_line(given: dict[str, Any], figures: StatusFigures | None) -> str:
    """Return the line from what Claude Code sends on stdin and what was counted; empty if both are empty."""
    parts = []
    name = _at(given, "model", "display_name") or _at(given, "model", "id")
    if isinstance(name, str) and name:
        parts.append(safe_line(name, 40))
    cost = _at(given, "cost", "total_cost_usd")
    session_cost = round(cost * 1_000_000) if _is_number(cost) and 0 <= cost < 1e9 else None
    session = None if figures is None else figures.session
    if session is not None and not (session.mark and session_cost is not None):
        parts.append(f"session {_money(session)}")
    elif session_cost is not None:
        parts.append(f"session {cost_in_words(session_cost, 0)}")
    if figures is not None:
        parts.append(f"today {_money(figures.today)}")
        if figures.block is not None:
            minutes = figures.block_left // 60_000_000
            hourly = _money(figures.block, figures.block_hourly)
            left = f"{minutes // 60}h{minutes % 60:02d} left"
            parts.append(f"block {_money(figures.block)} ({left}, {hourly}/h)")
    share = _at(given, "context_window", "used_percentage")
    if _is_number(share) and 0 <= share < 1000:
        parts.append(f"context {share:.0f}%")
    elif figures is not None and figures.context_percent is not None:
        parts.append(f"context {figures.context_percent}%")
    return " | ".join(parts)


def _money(sum_: Sum, cost: int | None = None) -> str:
    """Write a sum, or `cost` for the same calls; the mark for calls that are not indexed yet replaces a `≥`."""
    totals = sum_.totals
    words = cost_in_words(totals.cost if cost is None else cost, totals.unpriced, totals.lower_bounds)
    return sum_.mark + words.removeprefix("≥") if sum_.mark and words != "?" else words


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
