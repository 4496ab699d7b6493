"""`recollect agents`: the sub-agents of a session, in every layout.

JSON: rows of {agent_id, kind, description, layout, parent_agent, depth, tool_use_id, linked_by, workflow, messages, lines, bytes,
path, first, last, children}, with total. `layout` is inside, beside, subagents or mentioned.
"""

from __future__ import annotations

from typing import Any

import click

from ...format.times import to_iso
from ...graph.agents import Agent
from ...library.session import Session
from ..face import Column, Face, command, session_argument
from ..moments import local
from ..words import number


@command("agents", epilog="recollect agents last\nrecollect agents 3f2a --json")
@session_argument
def agents(face: Face, session: str) -> None:
    """Sub-agents with the call that started each of them; nested ones below their parents."""
    found = face.library.session(session)
    rows = [agent_row(found, agent) for agent in in_tree_order(found.conversation.agents)]
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


def in_tree_order(agents: list[Agent]) -> list[Agent]:
    """Parents before their children, in the order in which they started."""
    by_id = {agent.agent_id: agent for agent in agents}
    ordered: list[Agent] = []
    seen: set[str] = set()
    stack = [agent for agent in reversed(agents) if agent.parent_agent not in by_id]
    stack = [*(agent for agent in reversed(agents) if agent not in stack), *stack]
    while stack:
        agent = stack.pop()
        if agent.agent_id in seen:
            continue
        seen.add(agent.agent_id)
        ordered.append(agent)
        stack.extend(by_id[child] for child in reversed(agent.children) if child in by_id)
    return ordered


def agent_row(session: Session, agent: Agent) -> dict[str, Any]:
    file = session.file.agents[agent.file - 1] if agent.file else None
    transcript = session.agent_transcripts.get(agent.agent_id) if file is not None else None
    return {
        "agent_id": agent.agent_id,
        "shown": "  " * (agent.depth - 1) + agent.agent_id,
        "kind": agent.kind,
        "description": agent.description,
        "layout": agent.layout,
        "parent_agent": agent.parent_agent,
        "depth": agent.depth,
        "tool_use_id": agent.tool_use_id,
        "linked_by": agent.linked_by,
        "workflow": agent.workflow,
        "messages": sum(1 for row in agent.rows if row.is_message),
        "lines": transcript.lines if transcript is not None else len(agent.rows),
        "bytes": file.size if file is not None else None,
        "path": str(file.path) if file is not None else None,
        "first": to_iso(agent.first_time),
        "last": to_iso(agent.last_time),
        "children": agent.children,
    }
