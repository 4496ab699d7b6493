"""Numbers, sizes and times as the pages write them."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from markupsafe import Markup, escape

from ..analysis.cost import dollars
from ..format.times import local_minute
from ..library import wording as words
from ..library.wording import plural as plural
from ..store.summary import one_line
from .rendering import plain


def size(count: int | None) -> str:
    return "" if count is None else words.size(count)


def number(value: int | float | None) -> str:
    return "" if value is None else f"{value:,}"


def short_number(value: int | float | None) -> str:
    """``1.2k``, ``3.4M``"""
    if value is None:
        return ""
    amount = float(value)
    for unit in ("", "k", "M"):
        if abs(amount) < 1000:
            return f"{amount:.0f}" if not unit else f"{amount:.1f}{unit}"
        amount /= 1000
    return f"{amount:.1f}G"


def money(microdollars: int | None) -> str:
    """As the command writes it; nothing where it is not known."""
    return "" if microdollars is None else dollars(microdollars)


def took(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def machine_time(moment: float | None) -> str:
    """For the `datetime` attribute."""
    if moment is None:
        return ""
    try:
        return datetime.fromtimestamp(moment).astimezone().isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""


def iso_minute(text: str | None) -> str:
    """A moment of a row of data, as clocks here show it."""
    try:
        return local_minute(datetime.fromisoformat(text).timestamp()) if text else ""
    except (ValueError, OverflowError):
        return plain(str(text))[:40]


def ticked(text: str | None) -> Markup:
    """Our own sentences: what stands in backticks is code."""
    pieces = [escape(part) for part in plain(text or "").split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 and number < len(pieces) - 1 else part
        for number, part in enumerate(pieces)
    )


def ago(moment: float | None) -> str:
    if moment is None:
        return ""
    passed = time.time() - moment
    if passed < -60:
        return local_minute(moment)
    for limit, unit, name in ((3600, 60, "min"), (86400, 3600, "h"), (86400 * 60, 86400, "d")):
        if passed < limit:
            count = int(max(passed, 0) // unit)
            return "just now" if name == "min" and count == 0 else f"{count} {name} ago"
    return local_minute(moment)[:10]


def tail(path: str | None) -> str:
    """The last two parts of a path: enough to know a project by."""
    if not path:
        return ""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return plain("/".join(parts[-2:]) if len(parts) > 2 else path)


def title_of(text: str | None, width: int = 140) -> str:
    return plain(one_line(text, width) or "") or "(no title)"


def model_name(model: str | None) -> str:
    return plain((model or "").removeprefix("claude-"))[:60]


def argument_line(arguments: Any, width: int = 160) -> str:
    """What a call was asked to do, in a line."""
    return plain(words.argument_line(arguments, width))
