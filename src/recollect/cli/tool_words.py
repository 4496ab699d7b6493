"""A tool call in one line: what it was asked to do."""

from __future__ import annotations

from typing import Any

from ..store.summary import one_line

#: Which argument of a tool tells most, first one that is there.
_TELLING = (
    "command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "prompt", "subject",
    "skill", "taskId", "plan", "name",
)  # fmt: skip


def call_line(name: str, arguments: Any, width: int = 100) -> str:
    """``Bash  ls -la``, ``Read  src/app.py``"""
    return f"{name}  {argument_line(arguments, width)}".rstrip()


def argument_line(arguments: Any, width: int = 100) -> str:
    if not isinstance(arguments, dict) or not arguments:
        return "" if not arguments else one_line(str(arguments), width) or ""
    if isinstance(arguments.get("description"), str) and "prompt" in arguments:
        return one_line(arguments["description"], width) or ""
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value, width) or ""
    if isinstance(arguments.get("todos"), list):
        return f"{len(arguments['todos'])} items"
    return one_line(", ".join(f"{key}={value}" for key, value in arguments.items()), width) or ""
