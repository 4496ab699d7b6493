"""Read the call that starts a subagent, and build the meta file that Claude Code since 2.1.70 keeps for the subagent."""

from __future__ import annotations

from typing import Any

from .entries import decode_loosely
from .row_contents import content_blocks
from .row_edit import encode_value


def call_input(data: bytes, tool_use_id: str) -> dict[str, Any]:
    """Return the input of the call with this id; empty where the line does not hold the call."""
    value = decode_loosely(data)
    for block in content_blocks(value) if isinstance(value, dict) else ():
        if isinstance(block, dict) and block.get("id") == tool_use_id and isinstance(block.get("input"), dict):
            return dict(block["input"])
    return {}


def subagent_meta_bytes(given: dict[str, Any], tool_use_id: str | None, parent_subagent: str | None) -> bytes:
    """Build the content of `agent-<id>.meta.json` from the input of the call that started the subagent."""
    kind, words = given.get("subagent_type"), given.get("description")
    meta: dict[str, Any] = {"agentType": kind if isinstance(kind, str) else "general-purpose"}
    if isinstance(words, str):
        meta["description"] = words
    if tool_use_id:
        meta["toolUseId"] = tool_use_id
    if parent_subagent:
        meta["parentAgentId"] = parent_subagent
    return encode_value(meta)


def task_bytes(number: int, content: str, status: str, active_form: str | None) -> bytes:
    """Build the content of a task file of `tasks/<session>/` (2.1.325) from a to-do item."""
    task: dict[str, Any] = {"id": str(number), "subject": content, "description": ""}
    if active_form:
        task["activeForm"] = active_form
    return encode_value(task | {"status": status, "blocks": [], "blockedBy": []})
