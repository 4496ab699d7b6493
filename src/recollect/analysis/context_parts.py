"""Estimate what fills the context window of a conversation: prompts, answers, tool results and the rest.

The whole is what the API counted for the last answer. No line records how these tokens are divided. So the system
prompt and the definitions of tools are estimated as what the first answer's prompt had beyond the text before it, at
four characters per token; the rest is divided by length among all messages. Parts are whole tokens and add up to the
whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from ..format.blocks import Block, MediaBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, parse_blocks
from ..format.usage import Usage

SYSTEM: Final = "system prompt and tools"
CALLS: Final = "tool calls"
RESULTS: Final = "tool results"
_BY_ROLE: Final = {
    "user": "prompts", "assistant": "answers", "tool": RESULTS, "summary": "summary", "attachment": "attachments",
}  # fmt: skip
_OTHER: Final = "other"
_PICTURE: Final = 6_000
"""A picture counts as so many characters: about 1,500 tokens, as pictures that Claude Code sends have."""
_LETTERS_A_TOKEN: Final = 4

#: The kind of content, and for tool results the tool.
Part = tuple[str, "str | None"]


class Said(Protocol):
    """A message of a conversation."""

    @property
    def role(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def blocks(self) -> Sequence[Block]: ...
    @property
    def usage(self) -> Usage | None: ...


def context_parts(messages: Iterable[Said]) -> list[dict[str, Any]]:
    """Return what the window held after the last answer, the largest part first. Empty if no answer has counts.

    `messages` are those that are sent: the live conversation, since its last compaction.
    """
    sizes: dict[Part, int] = {}
    until_answer: dict[Part, int] = {}
    tools: dict[str, str] = {}
    system = whole = 0
    for message in messages:
        for block in message.blocks:
            part, size = _weigh(block, message.role, tools)
            sizes[part] = sizes.get(part, 0) + size
        usage = message.usage
        if message.role == "assistant" and usage is not None and usage.total and message.model != "<synthetic>":
            if not whole:
                before = sum(until_answer.values()) // _LETTERS_A_TOKEN
                system = max(usage.total - usage.output_tokens - before, 0)
            whole = usage.total
            until_answer = dict(sizes)
        elif not whole:
            until_answer = dict(sizes)
    if not whole:
        return []
    shares = _shared_out(min(system, whole), whole, until_answer)
    return [
        {"what": what, "tool": tool, "tokens": tokens, "share": round(tokens / whole, 4)}
        for (what, tool), tokens in sorted(shares.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or ""))
        if tokens
    ]


def _weigh(block: Block, role: str, tools: dict[str, str]) -> tuple[Part, int]:
    """Return the part that a block belongs to, and its length in characters."""
    if isinstance(block, ThinkingBlock):
        return ("thinking", None), len(block.thinking)
    if isinstance(block, ToolUseBlock):
        tools[block.id] = block.name
        return (CALLS, None), len(block.name) + len(json.dumps(block.input, ensure_ascii=False, default=str))
    if isinstance(block, ToolResultBlock):
        pictures = sum(isinstance(inner, MediaBlock) for inner in parse_blocks(block.content))
        return (RESULTS, tools.get(block.tool_use_id)), len(block.text()) + pictures * _PICTURE
    part = (_BY_ROLE.get(role, _OTHER), None)
    if isinstance(block, TextBlock):
        return part, len(block.text)
    if isinstance(block, MediaBlock):
        return part, _PICTURE
    return (_OTHER, None), len(json.dumps(block.value, ensure_ascii=False, default=str))


def _shared_out(system: int, whole: int, sizes: dict[Part, int]) -> dict[Part, int]:
    """Divide the tokens among the parts by size. The remainder of rounding down goes to the largest part."""
    total, rest = sum(sizes.values()), whole - system
    if not total:
        return {(SYSTEM, None): whole}
    found = {part: rest * size // total for part, size in sizes.items()}
    found[max(sizes, key=lambda part: sizes[part])] += rest - sum(found.values())
    return {(SYSTEM, None): system, **found}
