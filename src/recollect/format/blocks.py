"""Parse the content blocks of a message into typed values. A block of an unknown type is kept whole as `UnknownBlock`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

#: Block types that Claude Code up to 2.1.326 writes or that the documentation of the Messages API names.
KNOWN_BLOCKS: Final = frozenset(
    {
        "text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document", "server_tool_use",
        "web_search_tool_result", "web_fetch_tool_result", "advisor_tool_result", "code_execution_tool_result",
        "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "mcp_tool_use",
        "mcp_tool_result", "container_upload", "search_result", "tool_reference", "fallback", "compaction",
    }
)  # fmt: skip


@dataclass(slots=True, frozen=True)
class TextBlock:
    text: str
    type: str = "text"


@dataclass(slots=True, frozen=True)
class ThinkingBlock:
    thinking: str
    signature: str | None = None
    redacted: bool = False
    type: str = "thinking"


@dataclass(slots=True, frozen=True)
class ToolUseBlock:
    id: str
    name: str
    input: Any
    type: str = "tool_use"


@dataclass(slots=True, frozen=True)
class ToolResultBlock:
    tool_use_id: str
    content: Any
    is_error: bool = False
    type: str = "tool_result"

    def text(self) -> str:
        """Return the text of the result. An image or a document is replaced by its type in brackets."""
        return text_of(self.content)


@dataclass(slots=True, frozen=True)
class MediaBlock:
    """An image or a document: its media type and size; the data itself stays in `source`."""

    type: str
    media_type: str | None
    source: Any

    @property
    def size(self) -> int:
        data = self.source.get("data") if isinstance(self.source, dict) else None
        return len(data) * 3 // 4 if isinstance(data, str) else 0


@dataclass(slots=True, frozen=True)
class UnknownBlock:
    type: str | None
    value: Any


Block: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | MediaBlock | UnknownBlock


def parse_blocks(content: Any) -> list[Block]:
    """Parse the content of a message (text, a list of blocks, or anything else) into typed blocks."""
    if isinstance(content, str):
        return [TextBlock(content)]
    if not isinstance(content, list):
        return [] if content is None else [UnknownBlock(None, content)]
    return [parse_block(item) for item in content]


def parse_block(item: Any) -> Block:
    if isinstance(item, str):
        return TextBlock(item)
    if not isinstance(item, dict):
        return UnknownBlock(None, item)
    kind = item.get("type")
    if kind == "text" and isinstance(item.get("text"), str):
        return TextBlock(item["text"])
    if kind == "thinking" and isinstance(item.get("thinking"), str):
        return ThinkingBlock(item["thinking"], item.get("signature"))
    if kind == "redacted_thinking":
        return ThinkingBlock("", None, redacted=True)
    if kind == "tool_use":
        return ToolUseBlock(str(item.get("id", "")), str(item.get("name", "")), item.get("input"))
    if kind == "tool_result":
        return ToolResultBlock(
            str(item.get("tool_use_id", "")), item.get("content"), is_error=item.get("is_error") is True
        )
    if kind in ("image", "document"):
        source = item.get("source")
        media = source.get("media_type") if isinstance(source, dict) else None
        return MediaBlock(kind, media if isinstance(media, str) else None, source)
    return UnknownBlock(kind if isinstance(kind, str) else None, item)


def text_of(content: Any) -> str:
    """Return the plain text of a content value, its blocks joined by line feeds."""
    parts: list[str] = []
    for block in parse_blocks(content):
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif isinstance(block, MediaBlock):
            parts.append(f"[{block.type} {block.media_type or ''}]".replace(" ]", "]"))
        elif isinstance(block, ToolResultBlock):
            parts.append(block.text())
    return "\n".join(parts)


def one_line(text: str | None, width: int = 200) -> str | None:
    """Collapse the white space of a text, and cut it to `width` characters with an ellipsis at the end."""
    if text is None:
        return None
    line = " ".join(text.split())
    return line[: width - 1] + "…" if len(line) > width else line
