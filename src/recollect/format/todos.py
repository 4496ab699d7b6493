"""Parse to-do lists: `todos/` (one JSON list for a session and for each subagent), and `tasks/<list>/` since 2.1.70.

A list of `tasks/` has one JSON file per task, a high-water mark and a lock; it is named after the session, or after a team that
shares it. `store/layout.py` describes the names of the files of `todos/`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.format.json_edit import encode_value
from recollect.format.json_file import Fields, decode_json_file, kind_of, read_struct


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
    return Fields(value).build(Todo)


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


HIGH_WATER_MARK_NAME = ".highwatermark"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task. `blocks` and `blocked_by` hold ids of other tasks of the same list."""

    id: str | None = None
    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    owner: str | None = None
    status: str | None = None
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    problem: str | None = None


def task_number(name: str) -> int | None:
    """Return the number in a task's file name (`12.json`); None for any other name."""
    stem = name.removesuffix(".json")
    return int(stem) if stem != name and stem.isascii() and stem.isdigit() and len(stem) <= 18 else None


def parse_task(data: bytes) -> Task:
    return read_struct(data, Task)


def parse_high_water_mark(data: bytes) -> int | None:
    """Return the highest task number ever used in a list; Claude Code stores it to not use a deleted task's number again."""
    text = data.strip()
    return int(text) if text.isdigit() and len(text) <= 18 else None


def task_bytes(number: int, content: str, status: str, active_form: str | None) -> bytes:
    """Build the content of a task file of `tasks/<session>/` (2.1.325) from a to-do item."""
    task: dict[str, Any] = {"id": str(number), "subject": content, "description": ""}
    if active_form:
        task["activeForm"] = active_form
    return encode_value(task | {"status": status, "blocks": [], "blockedBy": []})
