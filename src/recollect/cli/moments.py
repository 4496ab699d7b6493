"""Moments as people type them (`2026-03-02`, `7d`, `yesterday`) and as they are shown.

What is typed without a zone is local time, or that of the zone that a report counts its days in; what is shown in JSON is UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

import click

from recollect.format.moments import parse_moment as parse_moment
from recollect.format.times import to_iso

if TYPE_CHECKING:
    from recollect.analysis.zones import Zone

    _ParamType = click.ParamType[datetime]
    _TypedParamType = click.ParamType["TypedMoment"]
else:  # generic only in the newest click
    _ParamType = _TypedParamType = click.ParamType


def _no_time(text: str) -> str:
    return f"{text!r} is no time: use 2026-03-02, 2026-03-02T14:30, today, yesterday, 7d or 12h"


class _Moments:
    """What the two click types share. With `end`, a day means its end, so that `--until 2026-03-02` includes that day."""

    name = "moment"

    def __init__(self, *, end: bool = False) -> None:
        self.end = end

    def parsed(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        moment = parse_moment(str(value), end=self.end)
        if moment is None:
            raise click.BadParameter(_no_time(str(value)), ctx=ctx, param=param)
        return moment


class MomentType(_Moments, _ParamType):
    """A click type: local time where no zone is typed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        return value if isinstance(value, datetime) else self.parsed(value, param, ctx)


@dataclass(frozen=True)
class TypedMoment:
    """A moment whose zone is known only when all options are read."""

    text: str
    end: bool

    def micro(self, zone: Zone) -> int:
        """Microseconds since 1970: a day, and what has no zone of its own, is that of `zone`."""
        moment = parse_moment(self.text, end=self.end, zone=zone.info)
        if moment is None:
            raise click.UsageError(_no_time(self.text))
        return round(moment.timestamp() * 1000) * 1000


class TypedMomentType(_Moments, _TypedParamType):
    """As `MomentType`, for commands with a `--timezone`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> TypedMoment:
        if isinstance(value, TypedMoment):
            return value
        self.parsed(value, param, ctx)
        return TypedMoment(str(value), self.end)


SINCE = MomentType()
UNTIL = MomentType(end=True)
SINCE_IN_ZONE = TypedMomentType()
UNTIL_IN_ZONE = TypedMomentType(end=True)


def micro(moment: TypedMoment | None, zone: Zone) -> int | None:
    return None if moment is None else moment.micro(zone)


def iso(moment: datetime | None) -> str | None:
    """A moment for JSON: `2026-03-02T09:00:00.000Z`."""
    return None if moment is None else to_iso(moment.timestamp())


def local(text: str) -> str:
    """A moment of a JSON row for a table: local, to the minute."""
    return _to_the_minute(text, None)


def local_in(zone: Zone) -> Callable[[str], str]:
    """The same by the clocks of a zone."""
    return lambda text: _to_the_minute(text, zone.info)


def _to_the_minute(text: str, zone: tzinfo | None) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return text
