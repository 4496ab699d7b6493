"""What fills the context window: estimated parts that add up to what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.analysis.context import context_parts
from recollect.format.blocks import Block, parse_blocks
from recollect.format.usage import Usage


@dataclass
class Message:
    role: str
    blocks: Sequence[Block]
    usage: Usage | None = None
    model: str | None = field(default="claude-opus-4-5")


def message(role: str, *content: dict[str, Any], used: tuple[int, int] | None = None) -> Message:
    usage = None if used is None else Usage(input_tokens=used[0], output_tokens=used[1])
    return Message(role, parse_blocks(list(content)), usage)


def text(length: int) -> dict[str, Any]:
    return {"type": "text", "text": "x" * length}


def shares(*messages: Message) -> dict[tuple[str, str | None], int]:
    return {(part["what"], part["tool"]): part["tokens"] for part in context_parts(messages)}


def test_every_part_by_its_length() -> None:
    found = shares(
        message("user", text(400)),
        message("assistant", {"type": "thinking", "thinking": "y" * 400}, used=(1100, 0)),
        message(
            "assistant", {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "z" * 384}}, used=(0, 0)
        ),
        message("tool", {"type": "tool_result", "tool_use_id": "t1", "content": "w" * 800}),
        message("tool", {"type": "tool_result", "tool_use_id": "unknown", "content": [text(400)]}),
        message("attachment", text(400)),
        message("summary", text(400)),
        message("meta", text(400)),
        message("assistant", text(400), used=(1800, 200)),
    )
    assert found == {
        ("system prompt and tools", None): 1000, ("prompts", None): 100, ("thinking", None): 100, ("tool calls", None): 100,
        ("tool results", "Read"): 200, ("tool results", None): 100, ("attachments", None): 100, ("summary", None): 100,
        ("other", None): 100, ("answers", None): 100,
    }  # fmt: skip


def test_parts_are_whole_tokens_that_add_up() -> None:
    for whole in range(100, 130):
        found = shares(
            message("user", text(7), {"type": "image", "source": {"media_type": "image/png"}}),
            message("assistant", text(11), {"type": "new_kind", "of": ["a", "block"]}, used=(whole, 3)),
        )
        assert sum(found.values()) == whole + 3


def test_what_comes_after_the_last_answer_was_not_sent() -> None:
    asked = message("user", text(40))
    answered = message("assistant", text(40), used=(50, 10))
    assert shares(asked, answered) == shares(asked, answered, message("user", text(9000)))


def test_without_counts_there_is_nothing_to_share_out() -> None:
    synthetic = message("assistant", text(10), used=(5, 5))
    synthetic.model = "<synthetic>"
    assert context_parts([message("user", text(40)), message("assistant", text(10)), synthetic]) == []
    assert shares(message("assistant", used=(5, 5))) == {("system prompt and tools", None): 10}
