"""`recollect todos`: to-do lists and task lists, of one session or of all.

JSON: rows of {home, session_id, subagent_id, source, number, id, status, content, active_form, priority, owner, blocked_by,
modified, path, problem} with total, pending, in_progress and completed beside them. `source` is "todos" (a file of
`todos/`), "tasks" (a file of `tasks/`) or "transcript" (the last TodoWrite of a session without a file, as since 2.1.70).
A list that cannot be read is a row with a `problem`. `number` is what `recollect todo SESSION set` calls the item; null where
no file holds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command_run import Column, CommandRun, command, complete_session
from recollect.cli.moments import iso, local
from recollect.cli.plain import used_columns
from recollect.errors import NotFound
from recollect.format.todos import Todo, parse_todo
from recollect.store.home import Home
from recollect.store.side_files import SessionTasks, SubagentTodos, task_lists, todo_lists

if TYPE_CHECKING:
    from recollect.library.session import Session

MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


COLUMNS = (
    Column("session_id", "session", show=lambda text: str(text)[:8]),
    Column("subagent_id", "subagent"),
    Column("number", "#", right=True),
    Column("status", show=lambda status: MARKS.get(status, f"[{status}]")),
    Column("content", "to do", stretch=True),
    Column("owner"),
    Column("modified", show=local),
    Column("problem"),
)


@command("todos", epilog="recollect todos\nrecollect todos last\nrecollect todos --open --json")
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--open", "only_open", is_flag=True, help="Only what is not completed.")
def todos(run: CommandRun, session: str | None, only_open: bool) -> None:
    """To-do lists and task lists: of SESSION, or of all sessions."""
    found = list(_all_rows(run) if session is None else _session_rows(run, session))
    if only_open:
        found = [row for row in found if row["status"] != "completed"]
    counts = Counter(row["status"] for row in found if row["problem"] is None)
    run.rows(
        found,
        used_columns(found, COLUMNS),
        empty="no to-do lists",
        total=len(found),
        pending=counts["pending"],
        in_progress=counts["in_progress"],
        completed=counts["completed"],
    )
    if not found:
        raise click.exceptions.Exit(1)


def _all_rows(run: CommandRun) -> Iterator[dict[str, Any]]:
    for home in run.library.homes:
        yield from _home_rows(home, None)


def _home_rows(home: Home, session_id: str | None) -> Iterator[dict[str, Any]]:
    for found in todo_lists(home, session_id):
        yield from _todo_rows(home, found)
    for tasks in task_lists(home, session_id):
        yield from _task_rows(home, tasks)


def _session_rows(run: CommandRun, reference: str) -> Iterator[dict[str, Any]]:
    """The lists of one session. A list can outlive its transcript, which the client deletes after some weeks."""
    try:
        session = run.library.session(reference)
    except NotFound:
        yield from _rows_without_transcript(run, reference)
        return
    rows = list(_home_rows(session.home, session.id))
    yield from rows if rows else _transcript_rows(session)


def _rows_without_transcript(run: CommandRun, reference: str) -> Iterator[dict[str, Any]]:
    rows = [row for row in _all_rows(run) if len(reference) >= 4 and row["session_id"].startswith(reference)]
    if len({row["session_id"] for row in rows}) != 1:
        run.library.session(reference)  # says it in its own words, with the nearest names
    yield from rows


def _row(home: Home, session_id: str, source: str, **fields: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"home": str(home.root), "session_id": session_id, "subagent_id": None, "source": source}
    names = "number id status content active_form priority owner blocked_by modified path problem"
    return row | dict.fromkeys(names.split()) | {"blocked_by": []} | fields


def _todo_rows(home: Home, found: SubagentTodos) -> Iterator[dict[str, Any]]:
    shared = {
        "subagent_id": found.subagent_id,
        "modified": iso(found.file.modified),
        "path": str(found.file.path),
    }
    for number, todo in enumerate(found.todos.items, 1):
        yield _row(home, found.session_id, "todos", **shared, number=number, **_todo_fields(todo))
    if found.todos.problem is not None:
        yield _row(home, found.session_id, "todos", **shared, problem=found.todos.problem)


def _todo_fields(todo: Todo) -> dict[str, Any]:
    return {
        "id": todo.id,
        "status": todo.status,
        "content": todo.content,
        "active_form": todo.active_form,
        "priority": todo.priority,
    }


def _task_rows(home: Home, found: SessionTasks) -> Iterator[dict[str, Any]]:
    for task in found.tasks:
        yield _row(
            home,
            found.session_id,
            "tasks",
            number=int(task.id) if task.id and task.id.isascii() and task.id.isdigit() and len(task.id) <= 18 else None,
            id=task.id,
            status=task.status,
            content=task.subject,
            active_form=task.active_form,
            owner=task.owner,
            blocked_by=list(task.blocked_by),
            modified=iso(found.modified),
            path=str(home.root / "tasks" / found.session_id / f"{task.id}.json"),
            problem=task.problem,
        )


def _transcript_rows(session: Session) -> Iterator[dict[str, Any]]:
    """What the last TodoWrite of the session left."""
    latest: list[Any] = []
    for entry in session.entries():
        result = entry.get("toolUseResult")
        if isinstance(result, dict) and isinstance(result.get("newTodos"), list):
            latest = result["newTodos"]
    for todo in latest:
        yield _row(session.home, session.id, "transcript", **_todo_fields(parse_todo(todo)))
