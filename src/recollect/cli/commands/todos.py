"""`recollect todos`: to-do lists and task lists, of one session or of all.

JSON: rows of {home, session_id, subagent_id, source, number, id, status, content, active_form, priority, owner, blocked_by,
modified, path, problem} with total, pending, in_progress and completed beside them. `source` is "todos" (a file of
`todos/`), "tasks" (a file of `tasks/`) or "transcript" (the last TodoWrite of a session without a file, as since 2.1.70).
A list that cannot be read is a row with a `problem`. `number` is what `recollect todo SESSION set` calls the item; null where
no file holds it.
"""

from __future__ import annotations

from collections import Counter

import click

from recollect.export.moments import local
from recollect.library.shapes import plain

from ..command_run import Column, CommandRun, command, complete_session, used_columns

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
    found = [plain(item) for item in run.library.todos(session)]
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
