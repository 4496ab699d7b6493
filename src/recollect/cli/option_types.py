"""Types of options: a moment as people type it (`2026-03-02`, `7d`, `yesterday`), and a filter that must not be empty."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ..errors import QueryError
from ..library.moments import read_moment

if TYPE_CHECKING:
    _ParamType = click.ParamType[datetime]
    _TextParamType = click.ParamType[str]
else:  # generic only in the newest click
    _ParamType = _TextParamType = click.ParamType


class _Moments:
    """The shared part of two click types. With `end`, a day means its end, so that `--until 2026-03-02` includes that day."""

    name = "moment"

    def __init__(self, *, end: bool = False) -> None:
        self.end = end

    def parsed(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return read_moment(str(value), end=self.end)
        except QueryError as problem:
            raise click.BadParameter(problem.message, ctx=ctx, param=param) from None


class MomentType(_Moments, _ParamType):
    """A click type: local time if no zone is typed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        return value if isinstance(value, datetime) else self.parsed(value, param, ctx)


class MomentText(_Moments, _TextParamType):
    """A click type for commands with a `--timezone`: checked here, and parsed by the library in that zone."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        self.parsed(value, param, ctx)
        return str(value)


SINCE = MomentType()
UNTIL = MomentType(end=True)
SINCE_IN_ZONE = MomentText()
UNTIL_IN_ZONE = MomentText(end=True)


class FilterValue(_TextParamType):
    """A click type: any text that is not blank."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not text.strip():
            self.fail("it is empty; leave the option out to mean all", param, ctx)
        return text


FILTER_VALUE = FilterValue()
