"""Refuse empty values of filter options: an empty value, of an unset variable for example, is a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:  # generic only in the newest click
    _ParamType = click.ParamType


class FilterValue(_ParamType):
    """A click type: any text that is not blank."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not text.strip():
            self.fail("it is empty; leave the option out to mean all", param, ctx)
        return text


FILTER_VALUE = FilterValue()
