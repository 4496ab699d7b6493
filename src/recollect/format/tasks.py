"""Parse the task lists of `tasks/<session>/` (2.1.325): one JSON file per task, a high-water mark and a lock.

The name of the folder is the id of the session, or the name of a team that shares the list.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.format.fields import Fields
from recollect.format.json_file import decode_json_file

HIGH_WATER_MARK_NAME = ".highwatermark"
LOCK_NAME = ".lock"


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
    file = decode_json_file(data, expect=dict)
    if not isinstance(file.value, dict):
        return Task(extra={} if file.value is None else {"value": file.value}, problem=file.problem)
    fields = Fields(file.value)
    return Task(
        id=fields.identifier("id"),
        subject=fields.text("subject"),
        description=fields.text("description"),
        active_form=fields.text("activeForm"),
        owner=fields.text("owner"),
        status=fields.text("status"),
        blocks=fields.texts("blocks"),
        blocked_by=fields.texts("blockedBy"),
        metadata=fields.mapping("metadata"),
        extra=fields.rest,
        problem=file.problem,
    )


def parse_high_water_mark(data: bytes) -> int | None:
    """Return the highest task number ever used in a list; Claude Code stores it to not use a deleted task's number again."""
    text = data.strip()
    return int(text) if text.isdigit() and len(text) <= 18 else None
