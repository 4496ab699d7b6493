"""Content blocks as typed values; what is unknown stays whole."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.format.blocks import (
    KNOWN_BLOCKS,
    MediaBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    parse_block,
    parse_blocks,
    text_of,
)


def test_a_text_in_place_of_blocks_is_one_text_block() -> None:
    assert parse_blocks("hello") == [TextBlock("hello")]


def test_blocks_of_every_kind() -> None:
    image = {"type": "base64", "media_type": "image/png", "data": "QUJDRA=="}
    assert parse_blocks(
        [
            {"type": "text", "text": "a"},
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_result", "tool_use_id": "t1", "content": "out", "is_error": True},
            {"type": "image", "source": image},
            "bare text",
        ]
    ) == [
        TextBlock("a"),
        ThinkingBlock("hm", "s"),
        ThinkingBlock("", None, redacted=True),
        ToolUseBlock("t1", "Bash", {"command": "ls"}),
        ToolResultBlock("t1", "out", is_error=True),
        MediaBlock("image", "image/png", image),
        TextBlock("bare text"),
    ]


@pytest.mark.parametrize("item", [None, 1, [], {}, {"text": "hello"}, {"type": 5}, {"type": "text", "text": {}}])
def test_a_block_of_a_strange_shape_is_kept_whole(item: Any) -> None:
    block = parse_block(item)
    assert isinstance(block, UnknownBlock)
    assert block.value == item


def test_a_block_of_an_unknown_type_is_kept_whole() -> None:
    item = {"type": "hologram", "data": [1, 2]}
    assert "hologram" not in KNOWN_BLOCKS
    assert parse_block(item) == UnknownBlock("hologram", item)


@pytest.mark.parametrize(("content", "expected"), [(None, []), (12, [UnknownBlock(None, 12)]), ([], [])])
def test_content_that_is_neither_text_nor_list(content: Any, expected: list[UnknownBlock]) -> None:
    assert parse_blocks(content) == expected


def test_the_size_of_a_picture_is_that_of_its_bytes() -> None:
    data = "A" * 400
    assert parse_block({"type": "image", "source": {"data": data}}) == MediaBlock("image", None, {"data": data})
    assert MediaBlock("image", None, {"data": data}).size == 300
    assert MediaBlock("image", None, {"type": "url", "url": "https://example.org/a.png"}).size == 0
    assert MediaBlock("document", None, None).size == 0


def test_the_words_of_a_content() -> None:
    content = [
        {"type": "text", "text": "one"},
        {"type": "thinking", "thinking": "not shown"},
        {"type": "image", "source": {"media_type": "image/png"}},
        {"type": "document"},
        {"type": "tool_result", "content": [{"type": "text", "text": "two"}]},
        {"type": "hologram"},
    ]
    assert text_of(content) == "one\n[image image/png]\n[document]\ntwo"
    assert text_of("plain") == "plain"
    assert text_of(None) == ""
