"""Timestamps as the client reads them: ISO text to seconds since 1970, or None."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

LATEST: Final = 253_402_214_400.0
"""The last day of the year 9999: no later time could be written behind one."""


def parse_time(text: str | None) -> float | None:
    """Seconds since the epoch, in whole milliseconds. A time without a zone is taken as UTC. None for what is no date."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        from email.utils import parsedate_to_datetime  # takes long to import, and is hardly ever needed

        try:
            moment = parsedate_to_datetime(text)  # the client also understands dates as mail headers write them
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
    """Whether a timestamp that `parse_time` understands says which zone it is of."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        from email.utils import parsedate_to_datetime

        return parsedate_to_datetime(text).tzinfo is not None


def newest_of(texts: Sequence[str | None]) -> float | None:
    """The latest of many timestamps, all of them with date, time and zone; None where one is not, or there are none."""
    try:
        moments = list(map(datetime.fromisoformat, texts))  # type: ignore[arg-type]  # what is no text is refused
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
    """Date and time on the clock of this machine, to the minute; empty for what is no time."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return ""


def to_iso(seconds: float | None) -> str | None:
    """``2026-01-31T12:00:00.000Z``, the client's own form."""
    moment = to_datetime(seconds)
    return None if moment is None else moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
