"""Join rows to what a reader sees: messages with their text, tool calls with their results, turns.

Claude Code writes one API response as several lines; any other row is a message of its own. The text of a message stands in the
entries of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec import Struct

from ..format.blocks import Block, parse_blocks
from ..format.times import to_datetime
from ..format.usage import Usage, parse_usage
from ..format.versions import is_placeholder
from .rows import Row


class Message(Struct, gc=False):
    """One message as a reader sees it: a prompt, a response (of one or more lines), a tool result, a system row."""

    role: str
    """user, assistant, error, tool, meta, summary, system, attachment, progress."""
    rows: list[Row]

    @property
    def uuid(self) -> str | None:
        return self.rows[0].uuid

    @property
    def time(self) -> float | None:
        return next((time for row in self.rows if (time := row.time) is not None), None)

    @property
    def model(self) -> str | None:
        return next((row.model for row in self.rows if row.model), None)


def role_of(row: Row) -> str:
    if row.type == "assistant":
        return "error" if row.is_api_error else "assistant"
    if row.type != "user":
        return row.type
    if row.tool_results:
        return "tool"
    if row.is_compact_summary:
        return "summary"
    return "meta" if row.is_meta else "user"


def join_responses(rows: Iterable[Row]) -> list[Message]:
    """Return the messages in order. Lines of a response are joined also where results of parallel calls separate them."""
    messages: list[Message] = []
    open_response: dict[tuple[str, str | None], Message] = {}
    for row in rows:
        role = "assistant" if row.type == "assistant" and not row.is_api_error else role_of(row)
        if role == "assistant" and row.message_id:
            key = (row.message_id, row.request_id)
            known = open_response.get(key)
            if known is not None:
                known.rows.append(row)
                continue
            message = Message(role, [row])
            open_response[key] = message
            messages.append(message)
            continue
        if open_response and (role == "user" or role == "summary"):
            open_response.clear()
        messages.append(Message(role, [row]))
    return messages


@dataclass(slots=True)
class MessageView:
    """A message with its content, as `show` prints it and `session.messages()` returns it."""

    uuid: str | None
    role: str
    seconds: float | None
    """When the message was written, in seconds since 1970."""
    blocks: list[Block]
    model: str | None
    status: str
    rows: list[Row]
    usage: Usage | None = None
    lower_bound: bool = False
    """Whether the count of output tokens is only a placeholder from the start of the stream."""

    @property
    def time(self) -> datetime | None:
        """When the message was written, in UTC."""
        return to_datetime(self.seconds)

    @property
    def text(self) -> str:
        """The text of the message's text blocks, joined by line feeds."""
        return "\n".join(block.text for block in self.blocks if hasattr(block, "text") and isinstance(block.text, str))


def view_of(message: Message, entries: list[dict[str, Any]], status: str) -> MessageView:
    """Join a message with the entries of its rows."""
    blocks = [block for entry in entries for block in blocks_of(entry)]
    usage, lower_bound = usage_of(entries)
    return MessageView(
        message.uuid, message.role, message.time, blocks, message.model, status, message.rows, usage, lower_bound
    )


def usage_of(entries: Iterable[dict[str, Any]]) -> tuple[Usage | None, bool]:
    """Return the token usage of a response and whether its output tokens are a placeholder.

    Each field is the largest value on any line of the response.
    """
    usage: Usage | None = None
    placeholder = True
    for entry in entries:
        body = entry.get("message")
        if not isinstance(body, dict):
            continue
        counted = parse_usage(body.get("usage"))
        if counted is not None:
            usage = counted if usage is None else usage.maximum(counted)
            placeholder = placeholder and is_placeholder(entry.get("version"), body.get("stop_reason"))
    return usage, usage is not None and placeholder


def blocks_of(entry: dict[str, Any]) -> list[Block]:
    """Return the content blocks of an entry: of its message, of a system row's text, or of an attachment's text."""
    message = entry.get("message")
    if isinstance(message, dict):
        return parse_blocks(message.get("content"))
    content = entry.get("content")
    if isinstance(content, (str, list)):
        return parse_blocks(content)
    attachment = entry.get("attachment")
    if isinstance(attachment, dict):
        for name in ("content", "prompt", "text", "stdout", "message"):
            if isinstance(attachment.get(name), (str, list)):
                return parse_blocks(attachment[name])
    return []


class ToolCall(Struct, gc=False):
    id: str
    name: str
    call: Row
    result: Row | None = None
    extra_results: list[Row] = []
    """Further rows with a result for this call."""

    @property
    def is_error(self) -> bool:
        return self.result is not None and self.id in self.result.failed

    @property
    def duration(self) -> float | None:
        """Seconds from call to result by their timestamps, never negative; None where a timestamp or the result is missing."""
        called = self.call.time
        answered = self.result.time if self.result is not None else None
        return None if called is None or answered is None else max(answered - called, 0.0)


class ToolPairs(Struct):
    calls: list[ToolCall]
    orphan_results: list[tuple[str, Row]]
    """(call id, row) of results whose call is missing."""


def pair_tools(rows: Sequence[Row]) -> ToolPairs:
    """Return the calls in file order with their results. Of several rows with the same uuid only the last counts."""
    named = {row.uuid for row in rows if row.tool_uses or row.tool_results}
    unique: dict[object, Row] = {}
    if named:
        for row in rows:
            if row.uuid in named:
                unique[row.uuid if row.uuid is not None else (row.file, row.index)] = row
    calls: dict[str, ToolCall] = {}
    for row in unique.values():
        for ident, name in row.tool_uses:
            calls.setdefault(ident, ToolCall(ident, name, row))
    orphans: list[tuple[str, Row]] = []
    for row in unique.values():
        for ident in row.tool_results:
            found = calls.get(ident)
            if found is None:
                orphans.append((ident, row))
            elif found.result is None:
                found.result = row
            else:
                found.extra_results.append(row)
    return ToolPairs(list(calls.values()), orphans)


class Turn(Struct, gc=False):
    prompt: Row | None
    """None in the turn that holds the rows before the first prompt."""
    rows: list[Row]

    @property
    def duration(self) -> float | None:
        """Seconds as Claude Code measured them (`turn_duration`), else by the timestamps; never negative."""
        for row in reversed(self.rows):
            if row.subtype == "turn_duration" and row.duration_ms is not None:
                return max(row.duration_ms / 1000, 0.0)
        times = [row.time for row in self.rows if row.time is not None and row.is_message and row is not self.prompt]
        if self.prompt is None or self.prompt.time is None or not times:
            return None  # no answer, or no timestamps
        return max(max(times) - self.prompt.time, 0.0)

    @property
    def tool_calls(self) -> int:
        return sum(len(row.tool_uses) for row in self.rows)


def split_turns(rows: Iterable[Row]) -> list[Turn]:
    turns: list[Turn] = []
    here: list[Row] | None = None
    for row in rows:
        if row.type == "user" and row.is_prompt:
            here = [row]
            turns.append(Turn(row, here))
        elif here is not None:
            here.append(row)
        else:
            here = [row]
            turns.append(Turn(None, here))
    return turns
