"""The words of an entry that is plain data, joined as the word index took them in: for snippets and slow searches.

The same rules as in `searchable_text`, which reads typed entries while indexing; importing that takes longer than a search. The
tests hold the two against each other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXT_LIMIT = 8 << 20
_TITLES = {
    "custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary", "tag": "tag", "agent-name": "agentName",
}  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESULTS = ("tool_result", "mcp_tool_result")
_SILENT = ("image", "document", "redacted_thinking")


def searched_text(value: Any) -> str:
    """What a person said and saw. Empty where that is nothing."""
    if not isinstance(value, dict):
        return ""
    text = "\n".join(part for part in _parts(value) if part)
    return text[:TEXT_LIMIT] if len(text) > TEXT_LIMIT else text


def loads_text(data: bytes) -> str:
    """The same from the bytes of an entry, leniently."""
    # Several times as fast, but a search that is just starting cannot wait for it.
    if sys.modules.get("msgspec") is not None:
        import msgspec

        try:
            return searched_text(msgspec.json.decode(data))
        except (ValueError, RecursionError):
            pass
    import json

    try:
        return searched_text(json.loads(data.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return ""


def _parts(value: dict[str, Any]) -> Iterator[str]:
    kind = value.get("type")
    if kind in ("assistant", "user"):
        message = value.get("message")
        if isinstance(message, dict):
            yield from _message(value, message.get("content"), kind)
    elif kind == "system":
        yield from _content(value.get("content"))
    elif kind == "attachment":
        part = value.get("attachment")
        if isinstance(part, dict) and part.get("type") == "queued_command":
            yield from _content(part.get("prompt"))
    elif isinstance(kind, str) and kind in _TITLES:
        title = value.get(_TITLES[kind])
        if isinstance(title, str):
            yield title


def _message(value: dict[str, Any], content: Any, kind: str) -> Iterator[str]:
    if kind == "user" and value.get("isMeta") is True and value.get("isCompactSummary") is not True:
        blocks = content if isinstance(content, list) else []
        if not any(map(_is_result, blocks)):
            return  # the client told this to the model alone
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                yield from _block(block)
            elif isinstance(block, str):
                yield block


def _block(block: dict[str, Any]) -> Iterator[str]:
    kind = block.get("type")
    if kind == "thinking":
        yield _text(block.get("thinking"))
    elif kind in _CALLS:
        yield from strings_in(block.get("input"))
    elif kind in _RESULTS:
        content = block.get("content")
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            for part in content:
                if isinstance(part, dict):
                    yield _text(part.get("text"))
        elif isinstance(content, dict):
            yield from strings_in(content)
    elif kind not in _SILENT:
        yield _text(block.get("text"))


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _RESULTS and isinstance(block.get("tool_use_id"), str)


def _content(content: Any) -> Iterator[str]:
    """A content that may be text or blocks."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict) and block.get("type") not in ("image", "document"):
                yield _text(block.get("text"))


def strings_in(value: Any) -> Iterator[str]:
    """All texts in a value, whatever its shape, in order."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
