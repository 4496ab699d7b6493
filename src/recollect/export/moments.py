"""Write the moments of JSON rows for people: to the minute, in a time zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo


def local(text: str) -> str:
    """Write a moment of a JSON row by the clock of this machine, to the minute."""
    return _to_the_minute(text, None)


def local_in(zone: tzinfo | None) -> Callable[[str], str]:
    """Return a function that writes a moment of a JSON row in a time zone, to the minute; None is this machine's zone."""
    return lambda text: _to_the_minute(text, zone)


def _to_the_minute(text: str, zone: tzinfo | None) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return text
