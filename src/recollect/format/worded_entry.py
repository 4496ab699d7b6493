"""Decode a line for the index: the fields that the graph needs, and the text. Large values that nobody reads are skipped.

An `IndexEntry` is a `GraphEntry` with more in it, so one decode of a line serves the catalogue, the word index and the graph.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from .entries import (
    NOT_THERE,
    BlockHead,
    Entry,
    GraphEntry,
    MessageHead,
    PartHead,
    ResultHead,
    decode_entry,
    decode_loosely,
    fitted,
    view_of,
)

LONG_LINE: Final = 8 << 20
"""The text of a longer line is taken from its first bytes only (as many as this), so that memory stays bounded."""


class InnerBlock(Struct, gc=False):
    """A block inside a tool result."""

    type: str | None = None
    text: str | None = None


class IndexBlock(BlockHead, gc=False):
    """A content block with its text."""

    text: str | None = None
    thinking: str | None = None
    content: str | list[InnerBlock] | dict[str, Any] | None = None
    input: Any = None


class IndexMessage(MessageHead, gc=False):
    content: str | list[IndexBlock] | None = None  # type: ignore[assignment]


class IndexResult(ResultHead, gc=False):
    """The fields of a structured result about a changed file. All others repeat what the message holds."""

    type: str | None = None
    filePath: str | None = None
    content: Raw = NOT_THERE
    structuredPatch: Raw = NOT_THERE


class IndexPart(PartHead, gc=False):
    prompt: Raw = NOT_THERE


class IndexEntry(GraphEntry, gc=False):
    """An entry as the index reads it; names as on disk."""

    message: IndexMessage | None = None
    attachment: IndexPart | None = None
    toolUseResult: IndexResult | str | list[Raw] | None = None
    content: Raw = NOT_THERE
    agentName: str | None = None
    prUrl: str | None = None
    worktreeSession: Raw = NOT_THERE


_decode: Final = msgspec.json.Decoder(IndexEntry).decode
_decode_blocks: Final = msgspec.json.Decoder(list[BlockHead]).decode


def decode_index_entry(data: bytes) -> IndexEntry:
    """Decode the bytes of one object. Raise one of `REFUSED` unless they are valid JSON with fields of the expected types."""
    if len(data) > LONG_LINE:
        return _from_long_line(decode_entry(data), data)
    return _decode(data)


def index_entry_of(entry: Entry) -> IndexEntry:
    """Convert an entry that the decoder refused; fields of unexpected types are left out.

    The text of messages and results longer than `LONG_LINE` is left out too.
    """
    light = (
        entry if _size(entry.toolUseResult) <= LONG_LINE else msgspec.structs.replace(entry, toolUseResult=NOT_THERE)
    )
    result = view_of(msgspec.structs.replace(light, message=NOT_THERE), IndexEntry)
    message = decode_loosely(entry.message)
    if isinstance(message, dict):
        if isinstance(content := message.get("content"), list):
            message["content"] = [_as_block(item) for item in content]
        if _size(entry.message) <= LONG_LINE:
            result.message = fitted(message, IndexMessage)
        elif (head := fitted(message, MessageHead)) is not None:
            result.message = IndexMessage(head.model, head.id, None, head.stop_reason)
            result.message.content = _with_heads(head.content) if isinstance(head.content, list) else head.content
    return result


def _as_block(item: Any) -> Any:
    """Convert a text in the place of a block, or of a part of a tool result, to a text block."""
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, dict) and isinstance(content := item.get("content"), list):
        parts = [part if isinstance(part, dict) else {"type": "text", "text": part} for part in content]
        return item | {"content": parts}
    return item


def _size(raw: Raw) -> int:
    return memoryview(raw).nbytes


def _with_heads(blocks: list[BlockHead]) -> list[IndexBlock]:
    return [IndexBlock(block.type, block.tool_use_id, block.id, block.name, block.is_error) for block in blocks]


class _LongMessage(Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: Raw = NOT_THERE
    stop_reason: str | None = None


_decode_long_message: Final = msgspec.json.Decoder(_LongMessage).decode


def _from_long_line(entry: Entry, data: bytes) -> IndexEntry:
    """Build the entry of a very long line, with the text in its first bytes only."""
    none = dict.fromkeys(("message", "toolUseResult", "attachment", "content", "data"), NOT_THERE)
    result = view_of(msgspec.structs.replace(entry, **none), IndexEntry)
    if _first(entry.message) == b"{":
        head = _decode_long_message(entry.message)
        message = IndexMessage(head.model, head.id, None, head.stop_reason)
        words = long_words(data)
        if _first(head.content) == b"[":
            blocks = _with_heads(_decode_blocks(head.content))
            if blocks:  # all of the text goes to the first block: which block it belongs to is not determined
                _give_words(blocks[0], words)
            message.content = blocks
        elif _first(head.content) == b'"':
            message.content = words or " "
        result.message = message
    return result


def _give_words(block: IndexBlock, words: str) -> None:
    if block.type == "thinking":
        block.thinking = words
    elif block.type == "tool_result":
        block.content = words
    elif block.type == "tool_use":
        block.input = {"": words}
    else:
        block.text = words


def _first(raw: Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_SHORTEST: Final = 40


def long_words(data: bytes) -> str:
    """Return the longer strings in the first bytes of a line, joined by line feeds."""
    found = []
    for match in _STRING.finditer(data[:LONG_LINE]):
        if match.end() - match.start() > _SHORTEST:
            raw = match.group()
            value = decode_loosely(raw) if raw.endswith(b'"') else _cut_text(raw)
            if isinstance(value, str):
                found.append(value)
    return "\n".join(found)


def _cut_text(raw: bytes) -> str | None:
    """Decode a string that is cut off, without its last bytes where they are part of an escape or of a character."""
    for drop in range(12):
        value = decode_loosely(raw[: len(raw) - drop] + b'"')
        if isinstance(value, str):
            return value
    return None
