"""What the client sent, as a flat list of blocks; and the part of it that comes from the rows of the transcript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

PROBE = "RECOLLECT PROBE"


@dataclass(frozen=True)
class Block:
    """One block of a request: ``text`` for what is said, ``ident`` for the tool call it makes or answers."""

    role: str
    kind: str
    text: str = ""
    ident: str = ""

    def line(self, width: int = 90) -> str:
        return f"{self.role:9} {self.kind:12} {self.ident or ' '.join(self.text.split())[:width]}".rstrip()


def content_blocks(role: str, content: Any) -> Iterator[Block]:
    """The blocks of one content, whatever its shape."""
    if isinstance(content, str):
        yield Block(role, "text", content)
        return
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            yield Block(role, "text", block)
        elif isinstance(block, dict):
            yield one_block(role, block)


def one_block(role: str, block: Json) -> Block:
    kind = str(block.get("type"))
    if kind == "text":
        return Block(role, kind, str(block.get("text", "")))
    if kind == "thinking":
        return Block(role, kind, str(block.get("thinking", "")))
    if kind == "tool_result":
        said = block.get("content")
        return Block(
            role, kind, " ".join(part.text for part in content_blocks(role, said)), str(block.get("tool_use_id"))
        )
    if kind in ("tool_use", "server_tool_use"):
        return Block(role, kind, str(block.get("name")), str(block.get("id")))
    return Block(role, kind)


def request_blocks(messages: Iterable[Json]) -> list[Block]:
    """All blocks of a request."""
    return [block for message in messages for block in content_blocks(str(message.get("role")), message.get("content"))]


def is_added_by_client(block: Block) -> bool:
    """Reminders and the environment: sent beside the conversation, not part of it."""
    return block.role == "system" or block.text.lstrip().startswith("<system-reminder>")
