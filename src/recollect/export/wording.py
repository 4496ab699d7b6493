"""Make text of transcripts harmless for a page, and write numbers and times in the forms that only pages need."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from . import formatting
from .formatting import local_minute
from .rendering import plain


def machine_time(moment: float | datetime | None) -> str:
    """Write a moment for the `datetime` attribute of an element."""
    if moment is None:
        return ""
    seconds = moment.timestamp() if isinstance(moment, datetime) else moment
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""


def iso_minute(text: str | None) -> str:
    """Write a moment of a data row (ISO 8601) in local time."""
    try:
        return local_minute(datetime.fromisoformat(text)) if text else ""
    except (ValueError, OverflowError):
        return plain(str(text))[:40]


def ticked(text: str | None) -> Markup:
    """Mark up one of our own sentences: text in backticks becomes code."""
    pieces = [escape(part) for part in plain(text or "").split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 and number < len(pieces) - 1 else part
        for number, part in enumerate(pieces)
    )


def money(microdollars: int | None) -> str:
    """Write an amount as the command line does; nothing if the amount is not known."""
    from .money import dollars

    return "" if microdollars is None else dollars(microdollars)


def tail(path: str | None) -> str:
    """Return the last two parts of a path."""
    return plain(formatting.tail(path))


def title_of(text: str | None, width: int = 140) -> str:
    """Return a session's title in one line."""
    return plain(formatting.title_line(text, width))


def model_name(model: str | None) -> str:
    """Return the short name of a model."""
    return plain(formatting.model_name(model))[:60]


def argument_line(arguments: Any, width: int = 160) -> str:
    """Describe in one line what a tool call was to do."""
    return plain(formatting.argument_line(arguments, width))
