"""Write numbers, sizes, durations, moments and tool arguments for people: one spelling for every face."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Final

from ..format.blocks import one_line as one_line
from ..format.times import local_minute as _minute_of
from ..format.times import to_iso

#: The most informative arguments of a tool; the first one that is there is shown.
_TELLING: Final = (
    "command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "prompt", "subject",
    "skill", "taskId", "plan", "name",
)  # fmt: skip
_ENOUGH: Final = 4000
"""A line is cut from this many characters of an argument; the rest of a long argument is not read."""


def size(count: int | None) -> str:
    """Write a number of bytes: ``512 B``, ``1.2 MB``; nothing if the number is not known."""
    if count is None:
        return ""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def number(value: int | float | None) -> str:
    """Write a count with thousands separators: ``12,345``; nothing if the count is not known."""
    return "" if value is None else f"{value:,}"


def short_number(value: int | float | None) -> str:
    """Write a count with few digits: ``870``, ``1.2k``, ``3.4M``."""
    if value is None:
        return ""
    amount = float(value)
    for unit in ("", "k", "M"):
        if abs(amount) < 1000:
            return f"{amount:.0f}" if not unit else f"{amount:.1f}{unit}"
        amount /= 1000
    return f"{amount:.1f}G"


def plural(count: int, word: str, words: str | None = None) -> str:
    """Write a count with its noun: ``1 row``, ``1,200 rows``."""
    return f"{count:,} {word if count == 1 else (words or word + 's')}"


def seconds(value: float | None) -> str:
    """Write a duration: ``0.4s``, ``12s``, ``3m 05s``, ``2h 10m``; nothing if the duration is not known."""
    if value is None:
        return ""
    if value < 10:
        return f"{value:.1f}s"
    if value < 60:
        return f"{value:.0f}s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m"


def local_minute(moment: float | datetime | None) -> str:
    """Write a moment by the clock of this machine, to the minute: ``2026-03-02 14:30``."""
    return _minute_of(moment.timestamp() if isinstance(moment, datetime) else moment)


def iso(moment: float | datetime | None) -> str | None:
    """Write a moment for JSON: ``2026-03-02T09:00:00.000Z``."""
    return to_iso(moment.timestamp() if isinstance(moment, datetime) else moment)


def day(moment: float | datetime | None) -> str:
    """Write the day of a moment by the calendar of this machine: ``2026-03-02``."""
    return local_minute(moment)[:10]


def ago(moment: float | datetime | None, now: float | None = None) -> str:
    """Write how long ago a moment was: ``just now``, ``5 min ago``, ``3 h ago``, ``12 d ago``, then its day.

    A moment more than a minute in the future is written with its time.
    """
    if moment is None:
        return ""
    passed = (time.time() if now is None else now) - (
        moment.timestamp() if isinstance(moment, datetime) else moment
    )  # fmt: skip
    if passed < -60:
        return local_minute(moment)
    for limit, unit, name in ((3600, 60, "min"), (86400, 3600, "h"), (86400 * 60, 86400, "d")):
        if passed < limit:
            count = int(max(passed, 0) // unit)
            return "just now" if name == "min" and count == 0 else f"{count} {name} ago"
    return day(moment)


def tail(path: str | None) -> str:
    """Return the last two parts of a path, which are enough to recognise a project."""
    if not path:
        return ""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else path


def title_line(title: str | None, width: int = 100) -> str:
    """Return a session's title in one line, or ``(no title)``."""
    return one_line(title, width) or "(no title)"


def model_name(model: str | None) -> str:
    """Return the name of a model without the prefix `claude-`."""
    return (model or "").removeprefix("claude-")


def argument_line(arguments: Any, width: int = 100) -> str:
    """Describe in one line what a tool call was to do: its command, its file, its description, or all arguments."""
    if not isinstance(arguments, dict) or not arguments:
        return "" if not arguments else one_line(str(arguments)[:_ENOUGH], width) or ""
    if isinstance(arguments.get("description"), str) and "prompt" in arguments:
        return one_line(arguments["description"][:_ENOUGH], width) or ""
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value[:_ENOUGH], width) or ""
    if isinstance(arguments.get("todos"), list):
        return plural(len(arguments["todos"]), "item")
    return one_line(", ".join(f"{key}={str(value)[:200]}" for key, value in arguments.items())[:_ENOUGH], width) or ""
