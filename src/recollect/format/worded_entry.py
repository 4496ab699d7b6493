"""Entries decoded for the index: what the graph needs, and the words. Large things that nobody said or saw are skipped.

It is a `RowEntry` with more in it, so one decode of a line serves the catalogue, the word index and the graph.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from .entries import NOT_THERE, Entry, decode_entry, decode_loosely
from .row_entry import BlockHead, MessageHead, PartHead, ResultHead, RowEntry, row_entry_of

LONG_LINE: Final = 8 << 20
"""The words of a longer line are taken from its first bytes only, so that memory stays bounded."""


class InnerBlock(Struct, gc=False):
    """A block inside a tool's result."""

    type: str | None = None
    text: str | None = None


class IndexBlock(BlockHead, gc=False):
    """A content block with its words."""

    text: str | None = None
    thinking: str | None = None
    content: str | list[InnerBlock] | dict[str, Any] | None = None
    input: Any = None


class IndexMessage(MessageHead, gc=False):
    content: str | list[IndexBlock] | None = None  # type: ignore[assignment]


class IndexResult(ResultHead, gc=False):
    """What a structured result tells about a changed file. The rest of it repeats what stands in the message."""

    type: str | None = None
    filePath: str | None = None
    content: Raw = NOT_THERE
    structuredPatch: Raw = NOT_THERE


class IndexPart(PartHead, gc=False):
    prompt: Raw = NOT_THERE


class IndexEntry(RowEntry, gc=False):
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
    """Bytes of one object to an entry for the index. Raises for what is not plain JSON of the expected types."""
    if len(data) > LONG_LINE:
        return _from_long_line(decode_entry(data), data)
    return _decode(data)


def index_entry_of(entry: Entry) -> IndexEntry:
    """From an entry that took the slow path."""
    result = _with_same_fields(row_entry_of(entry))
    message = decode_loosely(entry.message) if _size(entry.message) <= LONG_LINE else None
    if isinstance(message, dict) and result.message is not None:
        content = message.get("content")
        if isinstance(content, list):
            result.message.content = [_block(item) for item in content]
    told = decode_loosely(entry.toolUseResult) if _size(entry.toolUseResult) <= LONG_LINE else None
    if isinstance(told, dict):
        result.toolUseResult = IndexResult(
            _text(told.get("agentId")), _text(told.get("type")), _text(told.get("filePath")),
            _raw(told.get("content")), _raw(told.get("structuredPatch")),
        )  # fmt: skip
    attachment = decode_loosely(entry.attachment)
    if isinstance(attachment, dict) and result.attachment is not None:
        result.attachment.prompt = _raw(attachment.get("prompt"))
    result.content = entry.content
    return result


def _size(raw: Raw) -> int:
    return memoryview(raw).nbytes


def _with_same_fields(row: RowEntry) -> IndexEntry:
    result = IndexEntry()
    for name in RowEntry.__struct_fields__:
        if name not in ("message", "attachment", "toolUseResult"):
            setattr(result, name, getattr(row, name))
    if row.message is not None:
        head = row.message
        result.message = IndexMessage(head.model, head.id, None, head.stop_reason)
        if isinstance(head.content, str):
            result.message.content = head.content
        elif head.content is not None:
            result.message.content = [_with_head(block) for block in head.content]
    if row.attachment is not None:
        result.attachment = IndexPart(row.attachment.type, row.attachment.agentId)
    return result


def _with_head(block: BlockHead) -> IndexBlock:
    return IndexBlock(block.type, block.tool_use_id, block.id, block.name, block.is_error)


class _LongMessage(Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: Raw = NOT_THERE
    stop_reason: str | None = None


_decode_long_message: Final = msgspec.json.Decoder(_LongMessage).decode


def _from_long_line(entry: Entry, data: bytes) -> IndexEntry:
    """The facts of a very long line; of its words, those that stand in its first bytes."""
    light = Entry()
    for name in Entry.__struct_fields__:
        if name not in ("message", "toolUseResult", "attachment", "content", "data"):
            setattr(light, name, getattr(entry, name))
    result = _with_same_fields(row_entry_of(light))
    if _first(entry.message) == b"{":
        head = _decode_long_message(entry.message)
        message = IndexMessage(head.model, head.id, None, head.stop_reason)
        words = long_words(data)
        if _first(head.content) == b"[":
            blocks = [_with_head(block) for block in _decode_blocks(head.content)]
            if blocks:  # to which of its blocks the words belong is not told apart
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
    """The longer texts among the first bytes of a line."""
    found = []
    for match in _STRING.finditer(data[:LONG_LINE]):
        if match.end() - match.start() > _SHORTEST:
            raw = match.group()
            value = decode_loosely(raw) if raw.endswith(b'"') else _cut_text(raw)
            if isinstance(value, str):
                found.append(value)
    return "\n".join(found)


def _cut_text(raw: bytes) -> str | None:
    """A text that was cut off: without its last few bytes, which may be half of an escape or of a character."""
    for drop in range(12):
        value = decode_loosely(raw[: len(raw) - drop] + b'"')
        if isinstance(value, str):
            return value
    return None


def _block(item: Any) -> IndexBlock:
    if not isinstance(item, dict):
        return IndexBlock(text=item if isinstance(item, str) else None)
    content = item.get("content")
    inner: str | list[InnerBlock] | dict[str, Any] | None = None
    if isinstance(content, list):
        inner = [
            InnerBlock(_text(part.get("type")), _text(part.get("text")))
            if isinstance(part, dict)
            else InnerBlock("text", _text(part))
            for part in content
        ]
    elif isinstance(content, (str, dict)):
        inner = content
    return IndexBlock(
        _text(item.get("type")), _text(item.get("tool_use_id")), _text(item.get("id")), _text(item.get("name")),
        item.get("is_error") is True, _text(item.get("text")), _text(item.get("thinking")), inner, item.get("input"),
    )  # fmt: skip


def _raw(value: Any) -> Raw:
    if value is None:
        return NOT_THERE
    try:
        return Raw(msgspec.json.encode(value))
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        return NOT_THERE


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
