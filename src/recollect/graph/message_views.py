"""Join messages with the entries of their rows, which hold the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..format.blocks import Block, parse_blocks
from ..format.times import to_datetime
from ..format.usage import Usage, parse_usage
from ..format.versions import is_placeholder
from .messages import Message
from .rows import Row


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
