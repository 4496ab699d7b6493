"""Index side files as rows: the history of prompts, tasks, todos, notes about subagents, custom titles."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import BinaryIO, Final

import apsw

from ...format.history import parse_history_line
from ...format.line import RawLine
from ...format.sessions_index import parse_custom_title
from ...format.subagent_meta import parse_subagent_meta
from ...format.todos import parse_task, parse_todos, task_number
from ..words.searchable_text import clean
from .left_out import LeftOut
from .tracking import FileChange

SIZE_LIMIT: Final = 64 << 20
"""Side files are small. A larger one could be read only in part, so it is left out."""


def take_in_history(db: apsw.Connection, change: FileChange, lines: Iterable[RawLine], left_out: LeftOut) -> None:
    for line in lines:
        if line.more or line.part:
            continue
        try:
            _take_in_line(db, change, line)
        except Exception as problem:
            left_out.note(change.full_path, f"line {line.number}", problem)


def _take_in_line(db: apsw.Connection, change: FileChange, line: RawLine) -> None:
    for part, entry in enumerate(parse_history_line(line.data, number=line.number, offset=line.offset)):
        if entry.display is not None:
            db.execute(
                "INSERT OR REPLACE INTO prompts VALUES (?, ?, ?, ?, ?, ?, ?)",
                (change.file_id, line.number, part, _moment(entry.timestamp), clean(entry.project),
                 clean(entry.session_id), clean(entry.display)),
            )  # fmt: skip
        elif entry.problem is not None:
            db.execute(
                "INSERT INTO damage VALUES (?, ?, ?, ?, 'not-json', ?)",
                (change.file_id, line.number, line.offset, len(line.data), clean(entry.problem)),
            )


def take_in(db: apsw.Connection, change: FileChange, stream: BinaryIO) -> int:
    """Index one small file. Return how many bytes were read."""
    data = stream.read(SIZE_LIMIT + 1) or b""
    if len(data) > SIZE_LIMIT:
        data = b""
    if change.kind == "subagent_meta":
        meta = parse_subagent_meta(data)
        db.execute(
            "INSERT OR REPLACE INTO subagent_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (change.file_id, change.session_id, change.subagent_id, clean(meta.subagent_type), clean(meta.description),
             clean(meta.tool_use_id), clean(meta.parent_subagent_id), clean(meta.model)),
        )  # fmt: skip
    elif change.kind == "title":
        title = parse_custom_title(data)
        db.execute(
            "INSERT OR REPLACE INTO titles VALUES (?, ?, ?)", (change.file_id, change.session_id, clean(title.title))
        )
    elif change.kind == "task":
        task = parse_task(data)
        number = task_number(change.path.rsplit("/", 1)[-1]) or 0
        _insert_task(db, change, number, "task", task.id, task.subject, task.description, task.status, task.owner)
    elif change.kind == "todo":
        for place, todo in enumerate(parse_todos(data).items, 1):
            _insert_task(db, change, place, "todo", todo.id, todo.content, todo.active_form, todo.status, None)
    return len(data)


def _insert_task(db: apsw.Connection, change: FileChange, place: int, source: str, *texts: str | None) -> None:
    ident, subject, description, status, owner = (clean(text) for text in texts)
    db.execute(
        "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (change.file_id, place, source, change.session_id, change.subagent_id, ident, subject, description, status, owner,
         change.mtime_ns // 1000),
    )  # fmt: skip


def _moment(value: datetime | None) -> int | None:
    return None if value is None else round(value.timestamp() * 1_000_000)
