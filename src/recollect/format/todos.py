"""Parse the to-do lists of `todos/`: one JSON list for a session, one for each of its subagents.

`store/layout.py` describes the names of the files. Since 2.1.70 the folder is gone; see tasks.py.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.format.fields import Fields
from recollect.format.json_file import decode_json_file, kind_of


class Todo(msgspec.Struct, frozen=True, kw_only=True):
    """One to-do item. Claude Code uses the states pending, in_progress and completed; any other is kept as it is."""

    content: str | None = None
    status: str | None = None
    active_form: str | None = None
    priority: str | None = None
    id: str | None = None
    extra: dict[str, Any] = {}


class TodoList(msgspec.Struct, frozen=True, kw_only=True):
    """One to-do file. `stray` holds list items that are not objects."""

    items: tuple[Todo, ...] = ()
    stray: tuple[Any, ...] = ()
    problem: str | None = None


def parse_todo(value: object) -> Todo:
    """Parse one to-do item of a file, or of the input or the result of a TodoWrite call."""
    fields = Fields(value)
    return Todo(
        content=fields.text("content"),
        status=fields.text("status"),
        active_form=fields.text("activeForm"),
        priority=fields.text("priority"),
        id=fields.identifier("id"),
        extra=fields.rest,
    )


def parse_todos(data: bytes) -> TodoList:
    """Parse the bytes of a to-do file."""
    file = decode_json_file(data, expect=list)
    if not isinstance(file.value, list):
        stray = () if file.value is None else (file.value,)
        return TodoList(stray=stray, problem=file.problem)
    stray = tuple(item for item in file.value if not isinstance(item, dict))
    problem = file.problem
    if stray and problem is None:
        problem = f"{len(stray)} of {len(file.value)} items are not objects (the first is {kind_of(stray[0])})"
    return TodoList(
        items=tuple(parse_todo(item) for item in file.value if isinstance(item, dict)), stray=stray, problem=problem
    )
