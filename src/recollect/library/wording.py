"""Words that all faces use: sizes, counts, and what a tool call was asked to do."""

from __future__ import annotations

from typing import Any, Final

#: Which argument of a tool tells most, the first one that is there.
_TELLING: Final = (
    "command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "prompt", "subject",
    "skill", "taskId", "plan", "name",
)  # fmt: skip
_ENOUGH: Final = 4000
"""A line is cut from so many characters of an argument; the rest of a long one is not even looked at."""


def size(count: int) -> str:
    """``1.2 MB``"""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def plural(count: int, word: str, words: str | None = None) -> str:
    return f"{count:,} {word if count == 1 else (words or word + 's')}"


def argument_line(arguments: Any, width: int = 100) -> str:
    """What a call was asked to do, in a line."""
    from ..store.summary import one_line

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
