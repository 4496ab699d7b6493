"""Write a conversation, or one message of it, as Markdown to paste elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from ..format.blocks import MediaBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from ..graph.messages import MessageView
from .conversation import SPEAKERS
from .formatting import argument_line, one_line

MAX_LENGTH: Final = 8 << 20
"""A longer conversation is cut."""
_WRITTEN: Final = ("user", "assistant", "summary", "error")


def conversation_markdown(title: str, messages: Iterable[MessageView]) -> str:
    """Write a conversation: what was said, and each call in one line."""
    parts = [f"# {one_line(title, 200)}\n\n"]
    length = 0
    for view in messages:
        text = _blocks(view, results=False)
        if view.role not in _WRITTEN or not text.strip():
            continue
        length += len(text)
        if length > MAX_LENGTH:
            parts.append("\n(cut here: the conversation is longer)\n")
            break
        parts += (f"## {SPEAKERS[view.role]}\n\n", text)
    return "".join(parts)


def message_markdown(view: MessageView) -> str:
    """Write one message, with all of its calls and results."""
    return _blocks(view, results=True).strip() + "\n"


def _blocks(view: MessageView, *, results: bool) -> str:
    return "".join(_block_texts(view, results=results))


def _block_texts(view: MessageView, *, results: bool) -> Iterator[str]:
    for block in view.blocks:
        if isinstance(block, TextBlock):
            yield block.text.strip() + "\n\n"
        elif isinstance(block, ThinkingBlock) and block.thinking:
            yield "".join(f"> {line}\n" for line in block.thinking.splitlines()) + "\n"
        elif isinstance(block, ToolUseBlock):
            yield f"**{block.name}** {argument_line(block.input, 160)}\n\n"
            if results:
                yield fenced(json.dumps(block.input, indent=2, ensure_ascii=False, default=str), "json")
        elif isinstance(block, ToolResultBlock) and results:
            yield fenced(block.text())
        elif isinstance(block, MediaBlock):
            yield f"[{block.type} {block.media_type or ''}]\n\n"


def fenced(text: str, language: str = "") -> str:
    """Write a block of code whose fence is longer than any fence in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"
