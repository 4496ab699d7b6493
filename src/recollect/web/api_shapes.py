"""Answers of the JSON interface: sessions, messages, branches and the rest as plain data, with their schemas."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..format.blocks import Block, MediaBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, UnknownBlock
from ..format.times import to_iso
from ..library.session import MessageView, Session
from ..store.summary import SessionSummary, one_line
from .api_description import ANYTHING, TIME, integer, listed, nullable, record, text
from .conversation import Reader
from .reading import prompt_words

FLAG = {"type": "boolean"}
SESSION = record(
    {
        "session_id": text(), "project": nullable("string"), "worktree_of": nullable("string"), "title": nullable("string"),
        "title_source": nullable("string"), "first_prompt": nullable("string"), "created": TIME, "modified": TIME,
        "last_activity": TIME, "messages": nullable("integer"), "agents": integer(), "bytes": integer(),
        "git_branch": nullable("string"), "version": nullable("string"), "running": FLAG, "tag": nullable("string"),
        "pr_url": nullable("string"), "problem": nullable("string"), "path": text(), "home": text(),
    }
)  # fmt: skip
USAGE = nullable(
    "object",
    properties={
        "input_tokens": integer(), "output_tokens": integer(), "cache_write_5m": integer(), "cache_write_1h": integer(),
        "cache_read": integer(),
    },
)  # fmt: skip
BLOCK = {
    "type": "object",
    "properties": {"type": nullable("string")},
    "required": ["type"],
    "additionalProperties": True,
}
MESSAGE = record(
    {
        "number": integer(1), "uuid": nullable("string"), "uuids": listed(text()), "role": text(), "time": TIME,
        "model": nullable("string"), "status": text(), "text": text(), "blocks": listed(BLOCK), "lines": listed(integer()),
        "usage": USAGE,
    }
)  # fmt: skip
BRANCH = record(
    {
        "number": integer(1), "status": text(), "left_at": nullable("string"), "parent_branch": integer(),
        "messages": integer(), "rows": integer(), "prompt": text(), "leaf": nullable("string"), "reason": text(),
    }
)  # fmt: skip
AGENT = record(
    {
        "agent_id": text(), "kind": nullable("string"), "description": nullable("string"), "layout": text(),
        "tool_use_id": nullable("string"), "parent_agent": nullable("string"), "depth": integer(1), "rows": integer(),
        "first": TIME, "last": TIME,
    }
)  # fmt: skip
CALL = record(
    {
        "id": text(), "name": text(), "uuid": nullable("string"), "time": TIME, "is_error": FLAG, "answered": FLAG,
        "seconds": nullable("number"),
    }
)  # fmt: skip
DAMAGE = record({"kind": text(), "line": integer(1), "offset": integer(), "length": integer(), "detail": text()})
FILE = record(
    {
        "path": text(), "versions": integer(), "edits": integer(), "lines_added": integer(), "lines_removed": integer(),
        "created": FLAG, "deleted": FLAG, "last": TIME,
    }
)  # fmt: skip
TASK = record(
    {
        "id": nullable("string"), "status": text(), "content": text(), "source": text(), "agent": nullable("string"),
        "owner": nullable("string"), "problem": nullable("string"),
    }
)  # fmt: skip
CHANGE = record(
    {
        "number": integer(1), "name": text(), "title": text(), "state": text(), "time": TIME, "steps": listed(text()),
    }
)  # fmt: skip
PLAN = {
    "type": "object",
    "properties": {
        "title": text(), "steps": listed(text()), "result": ANYTHING, "change": nullable("integer"), "dry_run": FLAG,
    },
    "required": ["title", "steps", "result", "change", "dry_run"],
}  # fmt: skip


def session_data(item: SessionSummary, running: bool) -> dict[str, Any]:
    return {
        "session_id": item.session_id,
        "project": item.project,
        "worktree_of": item.worktree_of,
        "title": one_line(item.title),
        "title_source": item.title_source,
        "first_prompt": item.first_prompt[:2000] if item.first_prompt else item.first_prompt,
        "created": to_iso(item.created),
        "modified": to_iso(item.file.mtime),
        "last_activity": to_iso(item.last_activity),
        "messages": item.messages,
        "agents": item.agents,
        "bytes": item.file.size,
        "git_branch": item.git_branch or None,
        "version": item.version,
        "running": running,
        "tag": item.tag,
        "pr_url": item.pr_url,
        "problem": item.problem or ("empty file" if item.is_empty else None),
        "path": str(item.file.path),
        "home": str(item.file.home.root),
    }


def session_facts(session: Session) -> dict[str, Any]:
    """What is known of a session once it is read."""
    graph = session.conversation
    return {
        "lines": session.transcript.lines,
        "rows": len(session.transcript.rows),
        "statuses": dict(Counter(place.status for place in graph.thread.placements)),
        "reachable_share": round(graph.thread.reachable_share, 6),
        "leaf": graph.thread.leaf,
        "leaf_reason": graph.thread.leaf_reason,
        "compactions": len(graph.compactions),
        "branches": len(graph.branches),
        "tool_calls": len(graph.tools.calls),
        "damage": len(session.damage),
    }


FACTS = record(
    {
        "lines": integer(), "rows": integer(), "statuses": {"type": "object", "additionalProperties": integer()},
        "reachable_share": {"type": "number"}, "leaf": nullable("string"), "leaf_reason": text(),
        "compactions": integer(), "branches": integer(), "tool_calls": integer(), "damage": integer(),
    }
)  # fmt: skip


def message_data(view: MessageView, number: int) -> dict[str, Any]:
    usage = view.usage
    return {
        "number": number,
        "uuid": view.uuid,
        "uuids": [row.uuid for row in view.rows if row.uuid],
        "role": view.role,
        "time": to_iso(view.time),
        "model": view.model,
        "status": view.status,
        "text": view.text,
        "blocks": [block_data(block) for block in view.blocks],
        "lines": [row.line for row in view.rows],
        "usage": None
        if usage is None
        else {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
            "cache_write_5m": usage.cache_write_5m, "cache_write_1h": usage.cache_write_1h, "cache_read": usage.cache_read,
        },
    }  # fmt: skip


def block_data(block: Block) -> dict[str, Any]:
    """A block with the names it has in the transcript; pictures without their bytes."""
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ThinkingBlock):
        return {"type": "thinking", "thinking": block.thinking, "redacted": block.redacted}
    if isinstance(block, ToolUseBlock):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    if isinstance(block, ToolResultBlock):
        told = {"type": "tool_result", "tool_use_id": block.tool_use_id, "text": block.text()}
        return {**told, "is_error": block.is_error}
    if isinstance(block, MediaBlock):
        return {"type": block.type, "media_type": block.media_type, "bytes": block.size}
    assert isinstance(block, UnknownBlock)
    return {"type": block.type, "value": block.value}


def branch_rows(session: Session) -> list[dict[str, Any]]:
    with Reader(session) as reader:
        return [
            {
                "number": branch.number, "status": branch.status, "left_at": branch.left_at,
                "parent_branch": branch.parent_branch, "messages": branch.messages, "rows": len(branch.rows),
                "prompt": prompt_words(branch.prompt, reader.value, 200), "leaf": branch.leaf.uuid,
                "reason": branch.reason,
            }
            for branch in session.conversation.branches
        ]  # fmt: skip


def agent_rows(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "agent_id": agent.agent_id, "kind": agent.kind, "description": agent.description, "layout": agent.layout,
            "tool_use_id": agent.tool_use_id, "parent_agent": agent.parent_agent, "depth": agent.depth,
            "rows": len(agent.rows), "first": to_iso(agent.first_time), "last": to_iso(agent.last_time),
        }
        for agent in session.conversation.agents
    ]  # fmt: skip


def call_rows(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id, "name": call.name, "uuid": call.call.uuid, "time": to_iso(call.call.time),
            "is_error": call.is_error, "answered": call.result is not None, "seconds": call.duration,
        }
        for call in session.conversation.tools.calls
    ]  # fmt: skip
