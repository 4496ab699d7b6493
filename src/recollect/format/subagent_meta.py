"""Parse `agent-<id>.meta.json` beside a subagent's transcript (2.1.70 and later): its type and the call that started it.

For subagents of older versions the file is built from that call.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file

from .entries import decode_loosely
from .json_edit import encode_value
from .row_edit import content_blocks


class SubagentMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The meta file of a subagent.

    `tool_use_id` is the call that started the subagent; `parent_subagent_id` is set where another subagent made that call.
    """

    subagent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None
    parent_subagent_id: str | None = None
    spawn_depth: int | None = None
    model: str | None = None
    is_built_in: bool | None = None
    is_fork: bool | None = None
    finished: bool | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_subagent_meta(data: bytes) -> SubagentMeta:
    file = decode_json_file(data, expect=dict)
    if not isinstance(file.value, dict):
        return SubagentMeta(extra={} if file.value is None else {"value": file.value}, problem=file.problem)
    fields = Fields(file.value)
    return SubagentMeta(
        subagent_type=fields.text("agentType"),
        description=fields.text("description"),
        tool_use_id=fields.text("toolUseId"),
        parent_subagent_id=fields.text("parentAgentId"),
        spawn_depth=fields.whole("spawnDepth"),
        model=fields.text("model"),
        is_built_in=fields.flag("isBuiltIn"),
        is_fork=fields.flag("isFork"),
        finished=fields.flag("finished"),
        extra=fields.rest,
        problem=file.problem,
    )


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
