"""Compute when work was done: hours in which API calls were made, without pauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from .api_calls import ApiCall
from .zones import Zone

PAUSE: Final = 5 * 60_000_000
"""Five minutes without a call end a stretch of work. A stretch lasts from its first call to its last, plus one minute.

A stretch over midnight is divided between both days.
"""
_MINUTE: Final = 60_000_000


def active_seconds(found: Iterable[ApiCall], zone: Zone) -> dict[str, float]:
    """Return the seconds of work by day. Subagents that work at the same time do not count twice."""
    moments = sorted({item.time for item in found if item.time is not None and zone.day(item.time)})
    days: dict[str, float] = {}
    start = before = None
    for moment in [*moments, None]:
        if before is not None and start is not None and (moment is None or moment - before > PAUSE):
            for day, length in _by_day(start, before + _MINUTE, zone):
                days[day] = days.get(day, 0.0) + length / 1e6
            start = moment
        if start is None:
            start = moment
        before = moment
    return days


def _by_day(start: int, end: int, zone: Zone) -> Iterator[tuple[str, int]]:
    """Split a stretch at the midnights of the zone: yield each day with its microseconds."""
    while start < end:
        day = zone.day(start)
        try:
            stop = min(zone.start_of(date.fromisoformat(day) + timedelta(days=1)), end)
        except (OverflowError, ValueError, OSError):  # the end of the calendar
            stop = end
        if stop <= start:
            stop = end
        yield day, stop - start
        start = stop


def hours_of_week(found: Iterable[ApiCall], zone: Zone) -> list[list[int]]:
    """Count the calls by weekday (Monday first) and hour of the day. Calls without a valid time are left out."""
    table = [[0] * 24 for _ in range(7)]
    for item in found:
        if item.time is not None and zone.day(item.time):
            local = zone.local(item.time)
            table[local.weekday()][local.hour] += 1
    return table
