"""Take known fields out of a decoded JSON object and keep all others.

Every parser of a side file uses this one rule: a field that is known *and* of the expected type becomes an attribute;
everything else (unknown fields, known fields of another type, nulls) stays in `rest`, so that nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Fields:
    """A JSON object from which fields are taken one by one; `rest` holds the fields that were not taken."""

    __slots__ = ("rest",)

    def __init__(self, source: object) -> None:
        self.rest: dict[str, Any] = dict(source) if isinstance(source, Mapping) else {}

    def text(self, key: str) -> str | None:
        value = self.rest.get(key)
        if isinstance(value, str):
            del self.rest[key]
            return value
        return None

    def identifier(self, key: str) -> str | None:
        """Take a text that some versions of Claude Code write as a number (todo and task ids)."""
        value = self.rest.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            del self.rest[key]
            return str(value)
        return self.text(key)

    def whole(self, key: str) -> int | None:
        value = self.rest.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            del self.rest[key]
            return value
        return None

    def number(self, key: str) -> float | None:
        """Take an integer or a float. NaN, infinity and integers beyond the range of a float stay in `rest`."""
        number = _finite(self.rest.get(key))
        if number is not None:
            del self.rest[key]
        return number

    def flag(self, key: str) -> bool | None:
        value = self.rest.get(key)
        if isinstance(value, bool):
            del self.rest[key]
            return value
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings; a list with anything else in it stays in `rest`."""
        value = self.rest.get(key)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            del self.rest[key]
            return tuple(value)
        return ()

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.rest.get(key)
        if isinstance(value, dict):
            del self.rest[key]
            return value
        return {}

    def items(self, key: str) -> list[Any]:
        value = self.rest.get(key)
        if isinstance(value, list):
            del self.rest[key]
            return value
        return []

    def moment_ms(self, key: str) -> datetime | None:
        """Take a time in milliseconds since 1970, one of the two forms of Claude Code."""
        value = self.rest.get(key)
        moment = moment_of_ms(value)
        if moment is not None and isinstance(value, int):
            del self.rest[key]  # floats stay in `rest` too, because a datetime may lose a fraction of a millisecond
        return moment

    def moment_iso(self, key: str) -> datetime | None:
        """Take a time as an ISO 8601 string; without a zone it is read as UTC, in which Claude Code writes."""
        moment = moment_of_iso(self.rest.get(key))
        if moment is not None:
            del self.rest[key]
        return moment

    def moment(self, key: str) -> datetime | None:
        """Take a time in either form: an ISO 8601 string, or milliseconds since 1970."""
        return self.moment_iso(key) if isinstance(self.rest.get(key), str) else self.moment_ms(key)


def _finite(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def moment_of_ms(value: object) -> datetime | None:
    number = _finite(value)
    try:
        return None if number is None else EPOCH + timedelta(milliseconds=number)
    except OverflowError:
        return None


def moment_of_iso(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
