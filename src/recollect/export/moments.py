"""Write the moments of JSON rows for people: to the minute, by the clocks of a zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo


def local(text: str) -> str:
    """Write a moment of a JSON row by the clock of this machine, to the minute."""
    return _to_the_minute(text, None)


def local_in(zone: tzinfo | None) -> Callable[[str], str]:
    """Return what writes a moment of a JSON row by the clocks of a zone, to the minute; None is this machine's zone."""
    return lambda text: _to_the_minute(text, zone)


def _to_the_minute(text: str, zone: tzinfo | None) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return text
