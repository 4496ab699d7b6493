"""Parse timestamps to seconds since 1970 as Claude Code does, and format them. Parse times as people type them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

LATEST: Final = 253_402_214_400.0
"""The start of the last day of the year 9999: behind a later time, no further one could be written."""


def parse_time(text: str | None) -> float | None:
    """Return seconds since the epoch, cut to whole milliseconds; None where the text is not a date.

    A time without a zone is read as UTC.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        from email.utils import parsedate_to_datetime  # slow to import, and hardly ever needed

        try:
            moment = parsedate_to_datetime(text)  # Claude Code also reads dates in the form of mail headers
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment.microsecond % 1000:
        moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return None


def has_zone(text: str) -> bool:
    """Return whether a timestamp that `parse_time` accepts names its time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        from email.utils import parsedate_to_datetime

        return parsedate_to_datetime(text).tzinfo is not None


def newest_of(texts: Sequence[str | None]) -> float | None:
    """Return the latest of many ISO timestamps with a zone; None where one is missing or of another form, or for none."""
    try:
        moments = list(map(datetime.fromisoformat, texts))  # type: ignore[arg-type]  # None raises TypeError
        newest = max(moments)
        return None if newest.tzinfo is None else parse_time(newest.isoformat())
    except (TypeError, ValueError, OverflowError):
        return None


def to_datetime(seconds: float | None) -> datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def local_minute(seconds: float | None) -> str:
    """Format a time as local date and time, to the minute; empty where it is None or out of range."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return ""


def to_iso(seconds: float | None) -> str | None:
    """Format a time as Claude Code does: ``2026-01-31T12:00:00.000Z``."""
    moment = to_datetime(seconds)
    return None if moment is None else moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


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
