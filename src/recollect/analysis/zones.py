"""Assign moments to days: the day that clocks in one stated time zone showed, daylight saving time included."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from ..errors import QueryError

QUARTER: Final = 900_000_000
"""Microseconds of a quarter of an hour: every current zone changes its clocks at the edge of one."""
DAY: Final = 96 * QUARTER


class Zone:
    """A time zone by name that finds the day of a moment fast."""

    def __init__(self, name: str, info: tzinfo | None) -> None:
        self.name = name
        self.info = info
        """None for the system's own rules."""
        self._days: dict[int, str] = {}
        self.step = DAY if info is UTC else QUARTER
        """All moments of one step are of one day."""

    def local(self, time_us: int) -> datetime:
        """Return the local time of a moment; in UTC if its year would be outside of the calendar."""
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
        try:
            return moment.astimezone(self.info)
        except (OverflowError, ValueError, OSError):
            return moment

    def day(self, time_us: int | None) -> str:
        """Return the day as ``2026-03-02``; empty if there is not a time, or one outside of the calendar."""
        if time_us is None:
            return ""
        step = time_us // self.step
        found = self._days.get(step)
        if found is None:
            try:
                found = self.local(step * self.step).date().isoformat()
            except (OverflowError, ValueError, OSError):
                found = ""
            self._days[step] = found
        return found

    def start_of(self, day: date) -> int:
        """Return the first moment of a day, in microseconds."""
        first = datetime(day.year, day.month, day.day)
        local = first.astimezone() if self.info is None else first.replace(tzinfo=self.info)
        return round(local.timestamp() * 1_000_000)


def zone_named(name: str | None, chosen: str | None = None) -> Zone:
    """Return the zone of a name (`Europe/Berlin`, `UTC`).

    Without a name, the zone `chosen` in the user's settings, else the system's.
    """
    if name is None or name == "local":
        if chosen is not None:
            try:
                return zone_named(chosen)
            except QueryError:
                pass  # a rule such as "CET-1CEST", which only the system's own library understands
        return _system_zone()
    if name.upper() in ("UTC", "Z", "GMT"):
        return Zone("UTC", UTC)
    from zoneinfo import ZoneInfo

    try:
        return Zone(name, ZoneInfo(name))
    except (ValueError, OSError, ImportError, KeyError):
        raise QueryError(
            f"no such time zone: {name}", hint="use a name such as Europe/Berlin or UTC", slug="no-such-zone"
        ) from None


def _system_zone() -> Zone:
    link = os.path.realpath("/etc/localtime")
    _, mark, name = link.partition("/zoneinfo/")
    if mark:
        name = name.removeprefix("posix/").removeprefix("right/")
        if name.upper() in ("UTC", "ETC/UTC", "UCT", "ETC/UCT"):
            return Zone("UTC", UTC)
        try:
            from zoneinfo import ZoneInfo

            return Zone(name, ZoneInfo(name))
        except (ValueError, OSError, KeyError):
            pass
    if time.timezone == 0 and not time.daylight:
        return Zone("UTC", UTC)
    return Zone("/".join(time.tzname), None)


def week_of(day: str) -> str:
    """Return the Monday of a day's week."""
    moment = date.fromisoformat(day)
    return (moment - timedelta(days=moment.weekday())).isoformat()


def period_of(kind: str) -> Callable[[str], str]:
    """Return a function that maps a day to the key of its day, week, month or year."""
    makers: dict[str, Callable[[str], str]] = {
        "day": str,
        "week": week_of,
        "month": lambda day: day[:7],
        "year": lambda day: day[:4],
    }
    make = makers[kind]
    return lambda day: make(day) if day else ""
