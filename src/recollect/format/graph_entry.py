"""Decode a line for the graph in one pass: only the parts of messages, results and attachments that the graph needs.

The decoder refuses a line whose fields have unexpected types; such a line is read as an `Entry` and converted by `fitted`.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from .entries import Entry
from .fitted import view_of


class BlockHead(Struct, gc=False):
    """The fields of a content block that the graph needs."""

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


class GraphEntry(Struct, gc=False):
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


decode_graph_entry: Final = msgspec.json.Decoder(GraphEntry).decode
"""Decode the bytes of one object. Raises one of `REFUSED` unless they are valid JSON with fields of the expected types."""


def graph_entry_of(entry: Entry) -> GraphEntry:
    """Convert an entry that the decoder refused; fields of unexpected types are left out."""
    return view_of(entry, GraphEntry)
