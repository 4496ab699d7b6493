"""`recollect subagents`: the subagents of a session, in every layout.

JSON: rows of {subagent_id, kind, description, layout, parent_subagent, depth, tool_use_id, linked_by, workflow, messages, rows,
lines, bytes, path, first, last, children}, with total. `layout` is inside, beside, subagents or mentioned.
"""

from __future__ import annotations

import click

from ...export.formatting import number
from ...export.moments import local
from ...library.shapes import plain
from ..command_run import Column, CommandRun, command, session_argument


@command("subagents", epilog="recollect subagents last\nrecollect subagents 3f2a --json")
@session_argument
def subagents(run: CommandRun, session: str) -> None:
    """Subagents with the call that started each of them; nested ones below their parents."""
    found = run.library.session(session)
    rows = [{**plain(item), "shown": "  " * (item.depth - 1) + item.subagent_id} for item in found.subagents]
    run.rows(
        rows,
        (
            Column("shown", "subagent"),
            Column("kind"),
            Column("messages", "msgs", number, right=True),
            Column("first", "started", local),
            Column("tool_use_id", "call"),
            Column("layout"),
            Column("description", stretch=True),
        ),
        empty=f"session {found.id} has no subagents",
        total=len(rows),
    )
    if not rows:
        raise click.exceptions.Exit(1)
