"""Since 2.1.70 a small file beside a sub-agent's transcript says what it is and which call started it."""

from __future__ import annotations

from typing import Any, Final

from ....format.subagent_call import agent_meta_bytes, call_input
from ....graph.subagents import Agent
from ....store.read import EntryBytes
from ..session_layout import LayoutDraft

NAME: Final = "descriptions of sub-agents"
FROM: Final = "2.1.9"
TO: Final = "2.1.70"
DESCRIPTION: Final = "Write down for every sub-agent what it is and which call started it."


def migrate(draft: LayoutDraft) -> int:
    known = {agent.agent_id: agent for agent in draft.agents}
    written = 0
    for item in draft.file.agents:
        agent = known.get(item.agent_id)
        if item.meta_path is not None or agent is None or agent.tool_use_id is None:
            continue
        place = draft.moved.get(item.path, item.path)
        draft.written[place.with_suffix(".meta.json")] = [described(draft, agent)]
        written += 1
    return written


def verify(draft: LayoutDraft) -> str | None:
    there = [path.name for path in draft.written if path.name.endswith(".meta.json") and path.exists()]
    return f"there is a {there[0]} already" if there else None


def described(draft: LayoutDraft, agent: Agent) -> bytes:
    """What the call that started the agent says of it."""
    for piece in draft.main.pieces:
        head = piece.entry.message if piece.entry is not None and piece.entry.type == "assistant" else None
        blocks = head.content if head is not None and isinstance(head.content, list) else []
        if any(block.id == agent.tool_use_id for block in blocks):
            given = call_input(draft.main.bytes_of(piece), agent.tool_use_id or "")
            break
    else:
        given = _in_other_agents(draft, agent)
    return agent_meta_bytes(given, agent.tool_use_id, agent.parent_agent)


def _in_other_agents(draft: LayoutDraft, agent: Agent) -> dict[str, Any]:
    """The input of a call that another sub-agent made."""
    for other in draft.agents:
        for row in other.rows:
            if row.file and any(ident == agent.tool_use_id for ident, _ in row.tool_uses):
                with EntryBytes(draft.file.agents[row.file - 1].path, draft.file.home) as source:
                    return call_input(source.bytes_at(row.offset, row.length), agent.tool_use_id or "")
    return {}
