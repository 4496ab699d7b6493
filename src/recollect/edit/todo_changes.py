"""Write to-do lists and tasks of Claude Code, with a warning if a change looks odd.

Claude Code takes only the states pending, in_progress and completed, so any other is refused. It does not enforce an order
between them, so neither do we: going back, skipping a step or doing two things at once is reported, and done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import NotFound, Refused
from ..format.encode import check_text, encode_line
from ..format.todos import HIGH_WATER_MARK_NAME, parse_high_water_mark, task_number
from ..format.versions import parse_version
from ..journal.changes import Change, Journal
from ..journal.guard import refuse_lists_if_busy
from ..store.home import Home, list_inside, read_inside
from ..store.layout import TODOS, tasks_folder, todo_name
from ..store.scan import check_session_id, check_subagent_id

STATES: Final = ("pending", "in_progress", "completed")
_USUAL: Final = {("pending", "in_progress"), ("in_progress", "completed")}
TASKS_SINCE: Final = (2, 1, 70)
_LINKS: Final = ("blocks", "blockedBy")


def transition_warning(before: str | None, after: str) -> str | None:
    """Return why a change of state looks odd; None if it is usual. Raises Refused for a state that Claude Code does not know."""
    if after not in STATES:
        raise Refused(f"{after!r} is not a state", hint=f"one of {', '.join(STATES)}", slug="bad-state")
    if before == after or before is None or (before, after) in _USUAL:
        return None
    if before == "completed":
        return f"it was completed and is {after} again"
    if (before, after) == ("pending", "completed"):
        return "it was never in progress"
    return f"it went back from {before} to {after}"


def todo_file(home: Home, session_id: str, subagent_id: str | None, version: str | None) -> Path:
    """Return the path at which a version keeps the to-do list of a session or of one of its subagents."""
    _check_ids(session_id, subagent_id)
    age = parse_version(version)
    if age is not None and age < (1, 0, 30) and subagent_id is None:
        return home.root / TODOS / f"{session_id}.json"
    return home.root / TODOS / todo_name(session_id, subagent_id or session_id)


def plan_save_todos(
    journal: Journal,
    home: Home,
    session_id: str,
    items: Sequence[Mapping[str, Any]],
    *,
    subagent_id: str | None = None,
    version: str | None = None,
    force: bool = False,
) -> tuple[Change, list[str]]:
    """Plan to write a whole to-do list. Returns the change and the warnings."""
    path = todo_file(home, session_id, subagent_id, version)
    listed = _checked(items)
    refuse_lists_if_busy(home, session_id, journal, force=force)
    warnings: list[str] = []
    try:
        before = _states(_read_list(home, path))
    except Refused as problem:  # all of it is replaced: what it held does not matter, but somebody may miss it
        before = {}
        warnings.append(f"what was there is replaced, and cannot be read: {problem}")
    for item in listed:
        warning = transition_warning(before.get(item["content"]), item["status"])
        if warning is not None:
            warnings.append(f"{item['content']}: {warning}")
    active = sum(item["status"] == "in_progress" for item in listed)
    if active > 1:
        warnings.append(f"{active} items are in progress at once")
    change = journal.change(
        home, "todos", f"Save {len(listed)} to-do{'' if len(listed) == 1 else 's'} of {subagent_id or session_id}"
    )
    change.write(path, [_encode(listed)], replace=True)
    return change, warnings


def _checked(items: object) -> list[dict[str, Any]]:
    """Return the items as they will be written. Raises Refused if they are not items, or JSON cannot hold them."""
    if not isinstance(items, Sequence) or isinstance(items, (str, bytes, bytearray, memoryview)):
        raise Refused("to-dos are a list of items", slug="bad-todo")
    listed: list[dict[str, Any]] = []
    for number, item in enumerate(items, 1):
        content = item.get("content") if isinstance(item, Mapping) else None
        status = item.get("status") if isinstance(item, Mapping) else None
        if not isinstance(content, str) or not content.strip() or not isinstance(status, str):
            raise Refused(
                f"every item needs a content and a status, and item {number} has not both", slug="bad-todo",
                hint="nothing was written",
            )  # fmt: skip
        listed.append(dict(item))
    encode_line({"todos": listed})  # what no line could hold, no list shall
    return listed


def _states(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the states of items by their contents, for items of which both are texts."""
    pairs = ((item.get("content"), item.get("status")) for item in items)
    return {content: status for content, status in pairs if isinstance(content, str) and isinstance(status, str)}


def _read_list(home: Home, path: Path) -> list[dict[str, Any]]:
    """Read a to-do list; a missing one is empty. Raises Refused if a change of one item would lose others."""
    try:
        value = _read_json(home, path)
    except NotFound:
        return []
    if not isinstance(value, list):
        raise _damaged(path, "holds no list")
    for number, item in enumerate(value, 1):
        if not isinstance(item, dict):
            raise _damaged(path, f"has an item that is none, number {number}")
    return value


def _read_json(home: Home, path: Path) -> Any:
    try:
        return json.loads(read_inside(home, path))
    except (ValueError, RecursionError) as problem:
        raise _damaged(path, f"is not JSON: {problem}") from problem


def _damaged(path: Path, what: str) -> Refused:
    return Refused(
        f"{path} {what}", slug="bad-todo",
        hint="nothing was changed; `recollect todos` shows what can be read of it, `recollect changes` whether we wrote it",
    )  # fmt: skip


def read_todos(home: Home, session_id: str, subagent_id: str | None, version: str | None) -> list[dict[str, Any]]:
    """Read a to-do list to change it. Raises Refused if it is damaged."""
    return _read_list(home, todo_file(home, session_id, subagent_id, version))


def plan_add_task(
    journal: Journal,
    home: Home,
    session_id: str,
    subject: str,
    *,
    description: str = "",
    active_form: str | None = None,
    force: bool = False,
) -> tuple[Change, str]:
    """Plan a new task with a number that was never used (`.highwatermark`). Returns the change and the task's id."""
    _check_ids(session_id, None)
    if not subject.strip():
        raise Refused("a task needs a subject", slug="bad-todo")
    check_text([subject, description, active_form])
    refuse_lists_if_busy(home, session_id, journal, force=force)
    folder = tasks_folder(home.root, session_id)
    number = max([_mark(home, folder), *_numbers(home, folder)]) + 1
    task: dict[str, Any] = {"id": str(number), "subject": subject, "description": description}
    if active_form:
        task["activeForm"] = active_form
    task |= {"status": "pending", "blocks": [], "blockedBy": []}
    change = journal.change(home, "task", f"Add task {number} to {session_id}")
    change.write(folder / f"{number}.json", [_encode(task)])
    change.write(folder / HIGH_WATER_MARK_NAME, [str(number).encode()], replace=True)
    return change, str(number)


def plan_set_task(
    journal: Journal, home: Home, session_id: str, task_id: str, status: str, *, force: bool = False
) -> tuple[Change, list[str]]:
    """Plan to set a task's state. Warnings name tasks that block it and are not completed."""
    folder = tasks_folder(home.root, session_id)
    path = folder / f"{task_id}.json"
    task = _read_task(home, path, session_id, task_id)
    before = task.get("status")
    warning = transition_warning(before if isinstance(before, str) else None, status)
    warnings = [f"task {task_id}: {warning}"] if warning else []
    waiting = task.get("blockedBy")
    for other in waiting if isinstance(waiting, list) else []:
        try:
            state = _read_task(home, folder / f"{other}.json", session_id, str(other)).get("status")
        except NotFound:
            continue
        except Refused:  # damaged, or no number: it is not a reason not to change this one
            state = "unreadable"
        if status != "pending" and state != "completed":
            warnings.append(f"task {task_id}: it is blocked by task {other}, which is {state}")
    refuse_lists_if_busy(home, session_id, journal, force=force)
    task["status"] = status
    change = journal.change(home, "task", f"Task {task_id} of {session_id} is {status}")
    change.write(path, [_encode(task)], replace=True)
    return change, warnings


def plan_remove_task(
    journal: Journal, home: Home, session_id: str, task_id: str, *, force: bool = False
) -> tuple[Change, list[str]]:
    """Plan to remove a task, also from the links of other tasks. Warnings name the tasks that waited for it.

    Its number is never given again: the mark says so where no file does any more.
    """
    folder = tasks_folder(home.root, session_id)
    path = folder / f"{task_id}.json"
    _read_task(home, path, session_id, task_id)
    refuse_lists_if_busy(home, session_id, journal, force=force)
    change = journal.change(home, "task", f"Remove task {task_id} of {session_id}")
    change.remove(path)
    if int(task_id) > _mark(home, folder):
        change.write(folder / HIGH_WATER_MARK_NAME, [str(int(task_id)).encode()], replace=True)
    warnings: list[str] = []
    for number in sorted(_numbers(home, folder)):
        other = folder / f"{number}.json"
        try:
            task = _read_task(home, other, session_id, str(number))
        except Refused:  # damaged: it is left as it is
            continue
        freed = {
            key: [item for item in task[key] if str(item) != task_id] for key in _LINKS if _names(task, key, task_id)
        }
        if freed and other != path:
            change.write(other, [_encode({**task, **freed})], replace=True)
            if "blockedBy" in freed:
                warnings.append(f"task {number}: it no longer waits for task {task_id}")
    return change, warnings


def _names(task: Mapping[str, Any], key: str, task_id: str) -> bool:
    found = task.get(key)
    return isinstance(found, list) and any(str(item) == task_id for item in found)


def _read_task(home: Home, path: Path, session_id: str, task_id: str) -> dict[str, Any]:
    _check_ids(session_id, None)
    if task_number(f"{task_id}.json") is None:
        shown = task_id if len(task_id) <= 40 else f"{task_id[:40]}..."
        raise Refused(f"{shown!r} is not a task number", slug="bad-todo")
    try:
        value = _read_json(home, path)
    except NotFound as problem:
        raise NotFound(f"session {session_id} has no task {task_id}", slug="no-such-task") from problem
    if not isinstance(value, dict):
        raise _damaged(path, "holds no task")
    return value


def _encode(value: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> bytes:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as problem:  # a task that holds NaN, or half of a surrogate pair, as it stands in its file
        raise Refused(f"this cannot be written as JSON: {problem}", slug="bad-todo") from problem


def _numbers(home: Home, folder: Path) -> list[int]:
    return [number for path in list_inside(home, folder) if (number := task_number(path.name)) is not None]


def _mark(home: Home, folder: Path) -> int:
    try:
        return parse_high_water_mark(read_inside(home, folder / HIGH_WATER_MARK_NAME, 32)) or 0
    except NotFound:
        return 0


def _check_ids(session_id: str, subagent_id: str | None) -> None:
    check_session_id(session_id)
    if subagent_id is not None:
        check_subagent_id(subagent_id)
