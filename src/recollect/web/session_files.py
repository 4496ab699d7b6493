"""The files that a session touched, and its tasks, as pages and the interface show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import NotFound
from ..format.todos import parse_todo
from ..library.session import Session, blocks_of
from ..store.file_contents import first_state, last_state, state_at, unified_diff
from ..store.file_versions import SessionFiles, collect_file_versions
from ..store.session_files import backup_reader, file_backups
from ..store.side_files import task_lists, todo_lists
from .conversation import HELD_LINE
from .rendering import plain


def files_of(session: Session, keep: str | None = None) -> SessionFiles:
    """All files with their versions; the texts of edits only for the path `keep`."""
    return collect_file_versions(
        session.entries(),
        subagents=(session.entries(subagent.subagent_id) for subagent in session.file.subagents),
        backups_on_disk=file_backups(session.home, session.id),
        keep_texts=lambda path: path == keep,
    )


def file_rows(found: SessionFiles) -> list[dict[str, Any]]:
    return [
        {
            "path": file.path,
            "versions": len(file.versions),
            "edits": file.edits,
            "lines_added": file.lines_added,
            "lines_removed": file.lines_removed,
            "created": file.created,
            "deleted": file.deleted,
            "last": file.versions[-1].time.timestamp() if file.versions and file.versions[-1].time else None,
        }
        for file in found.files.values()
    ]


def one_file(session: Session, path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The versions of a file, each with what changed in it, and the difference from first to last."""
    found = files_of(session, path)
    file = found.files.get(path)
    if file is None:
        raise NotFound(f"{path[:200]!r} is not a file that this session touched", slug="no-such-file")
    read_backup = backup_reader(session.home, session.id)
    rows: list[dict[str, Any]] = []
    for number, version in enumerate(file.versions, 1):
        before = state_at(file, version.place, "before", read_backup)
        after = state_at(file, version.place, "after", read_backup)
        rows.append(
            {
                "number": number,
                "kind": version.kind,
                "message_uuid": version.message_uuid,
                "time": version.time.timestamp() if version.time else None,
                "absent": version.absent,
                "on_disk": version.on_disk,
                "lines_added": version.lines_added,
                "lines_removed": version.lines_removed,
                "diff": unified_diff(before.content, after.content, path) if version.kind == "edit" else [],
                "note": after.note,
            }
        )
    first, last = first_state(file, read_backup), last_state(file, read_backup)
    return rows, unified_diff(first.content, last.content, path)


@dataclass(slots=True)
class Task:
    status: str
    content: str
    source: str
    subagent: str | None = None
    owner: str | None = None
    problem: str | None = None
    id: str | None = None


def tasks_of(session: Session) -> list[Task]:
    """To-do lists and tasks of a session: from their files, else the last list in the transcript."""
    found: list[Task] = []
    for item in todo_lists(session.home, session.id):
        if item.todos.problem:
            found.append(Task("", "", "todos", item.subagent_id, problem=item.todos.problem))
        for todo in item.todos.items:
            found.append(Task(todo.status or "", plain(todo.content or ""), "todos", item.subagent_id))
    for tasks in task_lists(session.home, session.id):
        for task in tasks.tasks:
            words = plain(task.subject or "")
            found.append(Task(task.status or "", words, "tasks", None, task.owner, task.problem, task.id))
    return found or _last_list(session)


def _last_list(session: Session) -> list[Task]:
    for row in reversed(session.transcript.rows):
        if not any(name == "TodoWrite" for _, name in row.tool_uses) or row.length > HELD_LINE:
            continue
        for block in blocks_of(session.value(row)):
            value = getattr(block, "input", None)
            listed = value.get("todos") if isinstance(value, dict) else None
            if isinstance(listed, list):
                todos = [parse_todo(item) for item in listed]
                return [Task(todo.status or "", plain(todo.content or ""), "transcript") for todo in todos]
    return []
