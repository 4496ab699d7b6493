"""When work was done: hours in which calls were made, without pauses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .responses import Response
from .zones import Zone

PAUSE: Final = 5 * 60_000_000
"""Five minutes without a call end a stretch of work; each stretch is as long as from its first call to its last, and a minute."""
_MINUTE: Final = 60_000_000


def active_seconds(found: Iterable[Response], zone: Zone) -> dict[str, float]:
    """Seconds of work by day. Sub-agents that work at the same time do not count twice."""
    moments = sorted({item.time for item in found if item.time is not None})
    days: dict[str, float] = {}
    start = before = None
    for moment in [*moments, None]:
        if before is not None and start is not None and (moment is None or moment - before > PAUSE):
            day = zone.day(start)
            days[day] = days.get(day, 0.0) + (before - start + _MINUTE) / 1e6
            start = moment
        if start is None:
            start = moment
        before = moment
    return days


def hours_of_week(found: Iterable[Response], zone: Zone) -> list[list[int]]:
    """Calls by weekday (Monday first) and hour of the day."""
    table = [[0] * 24 for _ in range(7)]
    for item in found:
        if item.time is not None:
            local = zone.local(item.time)
            table[local.weekday()][local.hour] += 1
    return table
