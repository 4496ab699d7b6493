"""What a row's content says that only few questions need: pictures, signatures of thoughts, long outputs, to-do lists.

All take the entry as plain data. Whatever has another shape than expected is passed over.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from .entries import decode_exactly
from .todos import Todo, parse_todo

IMAGE_BYTES: Final = 5 << 20
"""The API refuses a picture whose encoded data is longer."""
IMAGE_SIDE: Final = 8000
_HEAD: Final = 64 << 10
_JPEG_SIZES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def content_blocks(entry: dict[str, Any]) -> list[Any]:
    """The blocks of a message; none where the content is a text."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def is_unsigned_thought(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "thinking" and not block.get("signature")


def unsigned_thoughts(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Thinking blocks without a signature."""
    return [block for block in content_blocks(entry) if is_unsigned_thought(block)]


def refused_images(entry: dict[str, Any]) -> list[str]:
    """Pictures that the API refuses, each with the reason in words."""
    found = (refused_image(block) for block in nested_blocks(entry))
    return [words for words in found if words is not None]


def nested_blocks(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The blocks of a message and those inside its results."""
    for block in content_blocks(entry):
        if not isinstance(block, dict):
            continue
        yield block
        inner = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(inner, list):
            yield from (item for item in inner if isinstance(item, dict))


def refused_image(block: dict[str, Any]) -> str | None:
    """Why the API would refuse this block's picture; None where it would not, or there is none."""
    source = block.get("source") if block.get("type") == "image" else None
    data = source.get("data") if isinstance(source, dict) else None
    if not isinstance(data, str):
        return None
    kind = source.get("media_type") if isinstance(source, dict) else None
    if len(data) > IMAGE_BYTES:
        return f"{kind}, {len(data):,} bytes encoded"
    sides = image_sides(data)
    if sides is not None and max(sides) > IMAGE_SIDE:
        return f"{kind}, {sides[0]:,} x {sides[1]:,} pixels"
    return None


def image_sides(data: str) -> tuple[int, int] | None:
    """Width and height of a picture in base64, from its head; None where they cannot be told."""
    try:
        head = base64.b64decode(data[:_HEAD])
    except (binascii.Error, ValueError):
        return None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head[:4] == b"GIF8" and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head[:2] == b"\xff\xd8":
        return _jpeg_sides(head)
    return None


def _jpeg_sides(head: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(head) and head[place] == 0xFF:
        if head[place + 1] in _JPEG_SIZES:
            return int.from_bytes(head[place + 7 : place + 9]), int.from_bytes(head[place + 5 : place + 7])
        place += 2 + int.from_bytes(head[place + 2 : place + 4])
    return None


def persisted_output(entry: dict[str, Any]) -> str | None:
    """The file in which a long output was kept."""
    told = entry.get("toolUseResult")
    path = told.get("persistedOutputPath") if isinstance(told, dict) else None
    return path if isinstance(path, str) else None


def todos_written(entry: dict[str, Any]) -> list[Todo]:
    """The to-do items of the last TodoWrite call of a row."""
    for block in reversed(content_blocks(entry)):
        given = block.get("input") if isinstance(block, dict) and block.get("name") == "TodoWrite" else None
        items = given.get("todos") if isinstance(given, dict) else None
        if isinstance(items, list):
            return [parse_todo(item) for item in items if isinstance(item, dict)]
    return []


def role_of(entry: Any) -> str | None:
    """Whose words an entry holds, by its message; None where that does not say."""
    message = entry.get("message") if isinstance(entry, dict) else None
    if not isinstance(message, dict) or "content" not in message:
        return None
    role = message.get("role")
    return role if role in ("user", "assistant") else None


def says_side_plainly(data: bytes) -> bool:
    """Whether `isSidechain` is true or false and nothing else."""
    if b'"isSidechain":true' in data:
        return True
    value = decode_exactly(data)
    return isinstance(value, dict) and isinstance(value.get("isSidechain"), bool)


def as_words(block: dict[str, Any]) -> list[dict[str, Any]]:
    """A tool result as plain blocks: what it was, then its words and pictures."""
    head = f"[Result of a tool call that is not in this transcript: {block.get('tool_use_id')}]"
    content = block.get("content")
    if isinstance(content, list):
        return [text_block(head), *(item for item in content if isinstance(item, dict))]
    return [text_block(f"{head}\n{content}" if isinstance(content, str) and content else head)]


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def missing_result(tool_use_id: str) -> dict[str, Any]:
    """A result that says that there is none."""
    words = "[No result was recorded for this call: the session was interrupted.]"
    return {"tool_use_id": tool_use_id, "type": "tool_result", "content": words, "is_error": True}


def persisted_preview(content: str, path: str) -> str:
    """What stands in a message for an output that was kept in a file."""
    return (
        f"<persisted-output>\nOutput too large ({len(content):,} characters). Full output saved to: {path}\n\n"
        f"Preview (first 2,000 characters):\n{content[:2000]}\n</persisted-output>"
    )
