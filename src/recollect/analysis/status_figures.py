"""Define the figures of a status line, as data."""

from __future__ import annotations

from dataclasses import dataclass

from .cost import Totals


@dataclass(slots=True)
class Sum:
    """The cost of some calls, with a mark if calls may be missing: `≥` (at least) or `~` (about)."""

    totals: Totals
    mark: str = ""


@dataclass(slots=True)
class StatusFigures:
    """The sums of a status line; None for what is not known."""

    today: Sum
    session: Sum | None = None
    context_percent: int | None = None
    """How full the context window of the session is."""
    block: Sum | None = None
    block_left: int = 0
    """Microseconds until the running block ends."""
    block_hourly: int = 0
    """Micro-dollars per hour that the running block costs."""
