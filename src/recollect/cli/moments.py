"""Moments as people type them (`2026-03-02`, `7d`, `yesterday`) and as they are shown.

What is typed without a zone is local time; what is shown in JSON is UTC.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recollect.format.moments import parse_moment as parse_moment
from recollect.format.times import to_iso

if TYPE_CHECKING:
    _ParamType = click.ParamType[datetime]
else:  # generic only in the newest click
    _ParamType = click.ParamType


class MomentType(_ParamType):
    """A click type. With `end`, a day means its end, so that `--until 2026-03-02` includes that day."""

    name = "moment"

    def __init__(self, *, end: bool = False) -> None:
        self.end = end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        moment = parse_moment(str(value), end=self.end)
        if moment is None:
            self.fail(
                f"{value!r} is no time: use 2026-03-02, 2026-03-02T14:30, today, yesterday, 7d or 12h", param, ctx
            )
        return moment


SINCE = MomentType()
UNTIL = MomentType(end=True)


def iso(moment: datetime | None) -> str | None:
    """A moment for JSON: `2026-03-02T09:00:00.000Z`."""
    return None if moment is None else to_iso(moment.timestamp())


def local(text: str) -> str:
    """A moment of a JSON row for a table: local, to the minute."""
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return text
