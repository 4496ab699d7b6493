"""Parse times as people type them: `2026-03-02`, `2026-03-02T14:30`, `7d`, `12h`, `today`, `yesterday`.

A time without a zone is local time, or in the zone that the caller passes.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

_AGO = re.compile(r"(?P<count>[0-9]{1,6})\s*(?P<unit>[hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_moment(
    text: str, *, end: bool = False, now: datetime | None = None, zone: tzinfo | None = None
) -> datetime | None:
    """Return the time in UTC; None where the text is not a time.

    With `end`, a day means the end of that day. Without `zone`, the zone of the system is used.
    """
    now = now or datetime.now(UTC)
    text = text.strip()
    try:
        if text in ("today", "yesterday"):
            # Counted in local dates: a day may be an hour shorter or longer than another one.
            midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
            return _in_utc(midnight + timedelta(days=(text == "today") - 1 + end), zone)
        if ago := _AGO.fullmatch(text):
            return (now - int(ago["count"]) * _UNITS[ago["unit"]]).astimezone(UTC)
        moment = datetime.fromisoformat(text)
        if end and _is_day(text):
            moment = moment + timedelta(days=1) if moment.date() < date.max else datetime.max.replace(tzinfo=UTC)
        return _in_utc(moment, zone)
    except (ValueError, OverflowError):
        return None


def _is_day(text: str) -> bool:
    """Return whether the text is a date without a time: `2026-03-08`, `20260308`, `2026-W10-7`."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _in_utc(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)
