"""Numbers, sizes and times as the pages write them."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from ..format.times import local_minute
from ..store.summary import one_line
from .rendering import plain

#: Which argument of a tool tells most, the first one that is there.
_TELLING = (
    "command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "prompt", "subject",
    "skill", "plan", "name",
)  # fmt: skip


def size(count: int | None) -> str:
    if count is None:
        return ""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


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
    if microdollars is None:
        return ""
    dollars = microdollars / 1e6
    return f"${dollars:,.4f}" if 0 < abs(dollars) < 0.01 else f"${dollars:,.2f}"


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


def plural(count: int, word: str, words: str | None = None) -> str:
    return f"{count:,} {word if count == 1 else (words or word + 's')}"


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
    return plain(_argument_line(arguments, width))


def _argument_line(arguments: Any, width: int) -> str:
    if not isinstance(arguments, dict) or not arguments:
        return "" if not arguments else one_line(str(arguments), width) or ""
    if isinstance(arguments.get("description"), str) and "prompt" in arguments:
        return one_line(arguments["description"], width) or ""
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value[:4000], width) or ""
    if isinstance(arguments.get("todos"), list):
        return plural(len(arguments["todos"]), "item")
    return one_line(", ".join(f"{key}={str(value)[:200]}" for key, value in arguments.items())[:4000], width) or ""
