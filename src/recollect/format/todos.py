"""The todo lists of `todos/`: one JSON list per subagent of a session.

Three namings, by age of the client:
    <session>.json                      0.2.126 - 1.0.0
    <session>-agent-<session>.json      1.0.30 - 2.1.50, the main conversation
    <session>-agent-<subagent>.json        1.0.30 - 2.1.50, a subagent
Since 2.1.70 the folder is gone; see tasks.py.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.format.fields import Fields
from recollect.format.json_file import decode_json_file, kind_of


class TodoFileName(msgspec.Struct, frozen=True, kw_only=True):
    """Whose todos a file holds."""

    session_id: str
    subagent_id: str | None = None

    @property
    def is_main(self) -> bool:
        return self.subagent_id is None or self.subagent_id == self.session_id


class Todo(msgspec.Struct, frozen=True, kw_only=True):
    """One item. The states the client knows are pending, in_progress and completed; any other is kept as it stands."""

    content: str | None = None
    status: str | None = None
    active_form: str | None = None
    priority: str | None = None
    id: str | None = None
    extra: dict[str, Any] = {}


class TodoList(msgspec.Struct, frozen=True, kw_only=True):
    """One todo file. `stray` holds list items that are no objects."""

    items: tuple[Todo, ...] = ()
    stray: tuple[Any, ...] = ()
    problem: str | None = None


def parse_todo_file_name(name: str) -> TodoFileName | None:
    """Read a file name of `todos/`; None for a name of another kind."""
    stem = name.removesuffix(".json")
    if stem == name or not stem:
        return None
    session_id, marker, subagent_id = stem.partition("-agent-")
    if not session_id or (marker and not subagent_id):
        return None
    return TodoFileName(session_id=session_id, subagent_id=subagent_id or None)


def parse_todo(value: object) -> Todo:
    """One todo as it stands in a file, or in the input and result of a TodoWrite call."""
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
    """Read the bytes of a todo file."""
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
