"""A conversation, or one message of it, as markdown to paste elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..errors import NotFound
from ..export.formatting import one_line
from ..format.blocks import MediaBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from ..library.session import MessageView, Session
from .conversation import HELD_LINE
from .wording import argument_line

MAX_BYTES = 8 << 20
_NAMES = {"user": "You", "assistant": "Claude", "summary": "Summary of what was before", "error": "API error"}


def session_markdown(session: Session, message: str | None = None) -> str:
    if message is not None:
        return "".join(_message(_find(session, message), alone=True)).strip() + "\n"
    parts = [f"# {one_line(session.summary.title, 200) or session.id}\n\n"]
    length = 0
    rows = [row for row in session.conversation.full_history() if row.length <= HELD_LINE]
    for view in session.stream_messages(rows):
        text = "".join(_message(view, alone=False))
        length += len(text)
        if length > MAX_BYTES:
            parts.append("\n(cut here: the conversation is longer)\n")
            break
        parts.append(text)
    return "".join(parts)


def _find(session: Session, uuid: str) -> MessageView:
    groups = [session.transcript.rows, *(subagent.rows for subagent in session.conversation.subagents)]
    for rows in groups:
        for row in rows:
            if row.uuid == uuid and row.length <= HELD_LINE:
                same = [item for item in rows if row.message_id and item.message_id == row.message_id] or [row]
                return session.messages(same)[0]
    raise NotFound(f"session {session.id} has no message {uuid[:80]!r}", slug="no-such-message")


def _message(view: MessageView, *, alone: bool) -> Iterator[str]:
    body = "".join(_blocks(view, results=alone))
    if not body.strip() or (not alone and view.role not in _NAMES):
        return
    if not alone:
        yield f"## {_NAMES.get(view.role, view.role)}\n\n"
    yield body


def _blocks(view: MessageView, *, results: bool) -> Iterator[str]:
    for block in view.blocks:
        if isinstance(block, TextBlock):
            yield block.text.strip() + "\n\n"
        elif isinstance(block, ThinkingBlock) and block.thinking:
            yield "".join(f"> {line}\n" for line in block.thinking.splitlines()) + "\n"
        elif isinstance(block, ToolUseBlock):
            yield f"**{block.name}** {argument_line(block.input)}\n\n"
            if results:
                yield fenced(json.dumps(block.input, indent=2, ensure_ascii=False, default=str), "json")
        elif isinstance(block, ToolResultBlock) and results:
            yield fenced(block.text())
        elif isinstance(block, MediaBlock):
            yield f"[{block.type} {block.media_type or ''}]\n\n"


def fenced(text: str, language: str = "") -> str:
    """A block of code whose fence is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"
