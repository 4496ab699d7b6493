"""Extract the searchable text of an entry that is plain decoded JSON, for snippets and slow searches.

The rules are those of `searchable_text`, which reads typed entries for the word index; importing that module takes longer
than a search. Tests check that both modules give equal texts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

TEXT_LIMIT = 8 << 20
_TITLES = {
    "custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary", "tag": "tag", "agent-name": "agentName",
}  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESULTS = ("tool_result", "mcp_tool_result")
_SILENT = ("image", "document", "redacted_thinking")


def searched_text(value: Any) -> str:
    """Return the text of an entry that a person wrote or saw; empty if there is none."""
    if not isinstance(value, dict):
        return ""
    text = "\n".join(part for part in _parts(value) if part)
    return text[:TEXT_LIMIT] if len(text) > TEXT_LIMIT else text


def loads_text(data: bytes) -> str:
    """Return the searchable text of an entry from its bytes; bytes that cannot be decoded are replaced."""
    # msgspec is several times as fast as json, but importing it would delay a search that is just starting.
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
            return  # Claude Code wrote this for the model only
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
    """Yield the texts of a content that is a string or a list of blocks."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict) and block.get("type") not in ("image", "document"):
                yield _text(block.get("text"))


def strings_in(value: Any) -> Iterator[str]:
    """Yield all strings in a JSON value of any shape, in order."""
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
