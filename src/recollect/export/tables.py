"""Make tables of messages and of tool calls, with the columns that `recollect sql` has, and their text.

Numbers of the index (`entry_id`) are left out: they differ from machine to machine. The columns that SQL does not have are
`parent_uuid`, `text` and `thinking` of messages, `input` and `output` of tool calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..format.blocks import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from ..format.times import to_iso
from ..graph.messages import Message, ToolCall, blocks_of
from ..graph.rows import Row
from ..index.sql.tables import TABLES
from .conversation import media_of
from .document import LONGEST_LINE, Document
from .formatting import argument_line
from .json_text import json_text, whole_text


@dataclass(frozen=True)
class Table:
    """A table: its name and its columns with their types, as in SQL."""

    name: str
    columns: dict[str, str]

    def values(self, row: dict[str, Any]) -> list[Any]:
        return [row.get(name) for name in self.columns]


def _columns(name: str, more: dict[str, str]) -> dict[str, str]:
    table = next(table for table in TABLES if table.name == name)
    own = {column.name: column.type for column in table.columns if column.name not in ("entry_id", "parent_id")}
    return own | more


MESSAGES: Final = Table(
    "messages", _columns("messages", {"parent_uuid": "VARCHAR", "text": "VARCHAR", "thinking": "VARCHAR"})
)
TOOL_CALLS: Final = Table("tool_calls", _columns("tool_calls", {"input": "VARCHAR", "output": "VARCHAR"}))


def message_rows(document: Document) -> Iterator[dict[str, Any]]:
    """Yield a row for each user and assistant row of the chosen messages, of their subagents and branches."""
    calls = {call.id: call for call in document.session.conversation.tools.calls}
    with document.session:
        for row, entry in _rows(document, calls):
            yield _message(document, row, entry)


def call_rows(document: Document) -> Iterator[dict[str, Any]]:
    """Yield a row for each tool call of the chosen messages, of their subagents and branches."""
    calls = {call.id: call for call in document.session.conversation.tools.calls}
    if document.options.depth in ("prompts", "conversation"):
        return
    with document.session:
        for message in _messages(document):
            for row in message.rows:
                for ident, _ in row.tool_uses:
                    if ident in calls and calls[ident].call is row:
                        yield _call(document, calls[ident])


def _messages(document: Document) -> Iterator[Message]:
    """Yield the chosen messages, then those of subagents, then those of branches."""
    yield from (message for _, message in document.whole_messages())
    is_whole = document.options.is_whole and document.options.depth in ("tools", "all")
    if is_whole and not document.session.file.is_gone:
        for subagent in document.subagents:
            yield from (message for _, message in document.whole_messages_of(subagent.rows))
    for branch in document.branches:
        yield from (message for _, message in document.whole_messages_of(branch.rows))


def _rows(document: Document, calls: dict[str, ToolCall]) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Yield the rows of the messages, each result after its call."""
    seen: set[tuple[int, int]] = set()
    for message in _messages(document):
        results = [calls[ident].result for row in message.rows for ident, _ in row.tool_uses if ident in calls]
        if document.options.depth in ("prompts", "conversation"):
            results = []
        for row in (*message.rows, *results):
            if row is not None and row.is_message and (row.file, row.index) not in seen:
                seen.add((row.file, row.index))
                yield row, {} if row.length > LONGEST_LINE else document.session.value(row)


def _message(document: Document, row: Row, entry: dict[str, Any]) -> dict[str, Any]:
    blocks = blocks_of(entry)
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    thoughts = [block.thinking for block in blocks if isinstance(block, ThinkingBlock)]
    kinds = [block.type for block in blocks]
    is_error = row.is_api_error or bool(row.failed)
    return {
        **_place(document, row),
        "uuid": row.uuid,
        "time": to_iso(row.time),
        "role": row.type,
        "kind": _kind(row),
        "status": _status(document, row),
        "model": row.model,
        "message_id": row.message_id,
        "has_code": any("```" in text for text in texts),
        "has_image": bool(media_of(entry)),
        "has_thinking": any(kind in ("thinking", "redacted_thinking") for kind in kinds),
        "has_error": is_error,
        "git_branch": _text(entry.get("gitBranch")),
        "cwd": _text(entry.get("cwd")),
        "version": _text(entry.get("version")),
        "bytes": row.length,
        "parent_uuid": row.parent,
        "text": whole_text("\n".join(texts)),
        "thinking": whole_text("\n".join(thoughts)) if document.options.depth == "all" and thoughts else None,
    }


def _call(document: Document, call: ToolCall) -> dict[str, Any]:
    session = document.session
    uses = [
        block for block in blocks_of(_entry(document, call.call)) if isinstance(block, ToolUseBlock) and block.id == call.id
    ]  # fmt: skip
    arguments = uses[0].input if uses else None
    output = None
    if call.result is not None:
        for block in blocks_of(_entry(document, call.result)):
            if isinstance(block, ToolResultBlock) and block.tool_use_id == call.id:
                output = whole_text(block.text())
    asked = json_text(arguments)
    started = [item.subagent_id for item in session.conversation.subagents if item.tool_use_id == call.id]
    return {
        **_place(document, call.call),
        "tool_use_id": call.id,
        "name": call.name,
        "target": whole_text(argument_line(arguments, 200)) or None,
        "started": to_iso(call.call.time),
        "ended": to_iso(call.result.time) if call.result is not None else None,
        "seconds": call.duration,
        "is_error": call.is_error if call.result is not None else None,
        "input_bytes": len(asked.encode()),
        "output_bytes": None if output is None else len(output.encode()),
        "started_subagent": started[0] if started else None,
        "input": asked,
        "output": output,
    }


def _entry(document: Document, row: Row) -> dict[str, Any]:
    return {} if row.length > LONGEST_LINE else document.session.value(row)


def _place(document: Document, row: Row) -> dict[str, Any]:
    file = document.session.file
    path = file.path if row.file == 0 else file.subagents[row.file - 1].path
    subagent = file.subagents[row.file - 1].subagent_id if row.file else row.subagent_id if row.sidechain else None
    return {
        "session_id": document.id,
        "subagent_id": subagent,
        "project": document.project,
        "line": row.line,
        "path": whole_text(os.path.relpath(path, file.home.root).replace(os.sep, "/")),
    }


def _kind(row: Row) -> str:
    if row.is_compact_summary:
        return "summary"
    if row.type == "assistant":
        return "answer"
    if row.tool_results:
        return "tool_result"
    return "prompt" if row.is_prompt and not row.sidechain and not row.file else "other"


def _status(document: Document, row: Row) -> str:
    return document.session.conversation.thread.placements[row.index].status if row.file == 0 else "subagent"


def _text(value: Any) -> str | None:
    return whole_text(value) if isinstance(value, str) and value else None


def batches(rows: Iterable[Any], count: int = 500) -> Iterator[list[Any]]:
    """Yield rows some at a time."""
    waiting: list[Any] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) >= count:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
