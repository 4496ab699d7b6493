"""Values of options that choose: an empty one (of a variable that is not set, say) is a mistake, not everything or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:  # generic only in the newest click
    _ParamType = click.ParamType


class FilterValue(_ParamType):
    """A click type: any text that says something."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not text.strip():
            self.fail("it is empty; leave the option out to mean all", param, ctx)
        return text


FILTER_VALUE = FilterValue()
