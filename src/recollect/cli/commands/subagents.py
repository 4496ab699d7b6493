"""`recollect agents`: the sub-agents of a session, in every layout.

JSON: rows of {agent_id, kind, description, layout, parent_agent, depth, tool_use_id, linked_by, workflow, messages, rows, lines,
bytes, path, first, last, children}, with total. `layout` is inside, beside, subagents or mentioned.
"""

from __future__ import annotations

import click

from ...library.shapes import agent_shapes, plain
from ..face import Column, Face, command, session_argument
from ..moments import local
from ..words import number


@command("agents", epilog="recollect agents last\nrecollect agents 3f2a --json")
@session_argument
def agents(face: Face, session: str) -> None:
    """Sub-agents with the call that started each of them; nested ones below their parents."""
    found = face.library.session(session)
    shapes = agent_shapes(found)
    rows = [{**plain(item), "shown": "  " * (item.depth - 1) + item.agent_id} for item in shapes]
    face.rows(
        rows,
        (
            Column("shown", "agent"),
            Column("kind"),
            Column("messages", "msgs", number, right=True),
            Column("first", "started", local),
            Column("tool_use_id", "call"),
            Column("layout"),
            Column("description", stretch=True),
        ),
        empty=f"session {found.id} has no sub-agents",
        total=len(rows),
    )
    if not rows:
        raise click.exceptions.Exit(1)
