"""The same entries, decoded for the graph in one pass: only what it needs of messages, results and attachments.

A line whose fields have unexpected types is refused by the fast decoder; it comes here as an `Entry` and is read patiently.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from .entries import Entry, decode_loosely


class BlockHead(Struct, gc=False):
    """What the graph needs of a content block."""

    type: str | None = None
    tool_use_id: str | None = None
    id: str | None = None
    name: str | None = None
    is_error: bool | None = None


class MessageHead(Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[BlockHead] | None = None
    stop_reason: str | None = None


class ResultHead(Struct, gc=False):
    agentId: str | None = None


class PartHead(Struct, gc=False):
    """The type of an attachment or of progress data, and the subagent that progress is about."""

    type: str | None = None
    agentId: str | None = None


class RowEntry(Struct, gc=False):
    """An entry as the graph reads it; names and order as on disk."""

    parentUuid: str | UnsetType | None = UNSET
    logicalParentUuid: str | None = None
    isSidechain: bool | None = None
    promptId: str | None = None
    agentId: str | None = None
    type: str | None = None
    subtype: str | None = None
    attachment: PartHead | None = None
    message: MessageHead | None = None
    data: PartHead | None = None
    compactMetadata: dict[str, Any] | None = None
    isMeta: bool | None = None
    isApiErrorMessage: bool | None = None
    isCompactSummary: bool | None = None
    isVisibleInTranscriptOnly: bool | None = None
    durationMs: int | float | None = None
    requestId: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    toolUseResult: ResultHead | str | list[Raw] | None = None
    sourceToolAssistantUUID: str | None = None
    sourceToolUseID: str | None = None
    toolUseID: str | None = None
    parentToolUseID: str | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    leafUuid: str | UnsetType | None = UNSET
    explicit: bool | None = None
    rewound: bool | None = None
    cutUuid: str | None = None
    summary: str | None = None
    lastPrompt: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    tag: str | None = None
    relocatedCwd: str | None = None


decode_row_entry: Final = msgspec.json.Decoder(RowEntry).decode

_SAME: Final = tuple(
    name
    for name in RowEntry.__struct_fields__
    if name not in ("attachment", "message", "data", "compactMetadata", "toolUseResult")
)


def row_entry_of(entry: Entry) -> RowEntry:
    """From an entry that took the slow path: heads are read leniently, and what is of no use stays out."""
    result = RowEntry()
    for name in _SAME:
        setattr(result, name, getattr(entry, name))
    result.message = message_head(decode_loosely(entry.message))
    result.attachment = _part_head(decode_loosely(entry.attachment))
    result.data = _part_head(decode_loosely(entry.data))
    metadata = decode_loosely(entry.compactMetadata)
    result.compactMetadata = metadata if isinstance(metadata, dict) else None
    told = decode_loosely(entry.toolUseResult)
    if isinstance(told, dict):
        result.toolUseResult = ResultHead(_text(told.get("agentId")))
    return result


def message_head(value: Any) -> MessageHead | None:
    """A message of any shape; None where it is none at all. A block that is no object has no type."""
    if not isinstance(value, dict):
        return None
    content = value.get("content")
    head = MessageHead(_text(value.get("model")), _text(value.get("id")), None, _text(value.get("stop_reason")))
    if isinstance(content, str):
        head.content = content
    elif isinstance(content, list):
        head.content = [_block_head(item) for item in content]
    return head


def _block_head(item: Any) -> BlockHead:
    if not isinstance(item, dict):
        return BlockHead()
    return BlockHead(
        _text(item.get("type")),
        _text(item.get("tool_use_id")),
        _text(item.get("id")),
        _text(item.get("name")),
        item.get("is_error") is True,
    )


def _part_head(value: Any) -> PartHead | None:
    if not isinstance(value, dict):
        return None
    return PartHead(_text(value.get("type")), _text(value.get("agentId")))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
