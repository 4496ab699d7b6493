"""Read entries back from their files, and extract the text that a result shows. The index stores no text.

For a transcript that is gone from its home, the bytes may come from another source (`elsewhere`), such as the vault.

The rules of the text are those of `words/searchable_text`, which reads typed entries for the word index; importing that module
would delay a ranked search that is just starting. Tests check that both give equal texts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...errors import RecollectError
from ...format.path_text import to_path
from ...store.opening import open_below

#: (file id, offset, length) -> bytes, or None if that source does not have them.
Elsewhere = Callable[[int, int, int], bytes | None]
#: file id -> (home's folder, path), or None if the catalogue has no such file.
PlaceOf = Callable[[int], tuple[str, str] | None]

_MOST_OPEN = 128


class EntryReader:
    """Read the bytes of entries by file, offset and length. Keeps up to 128 files open until `close`."""

    def __init__(self, place_of: PlaceOf, elsewhere: Elsewhere | None = None) -> None:
        self._place_of = place_of
        self._elsewhere = elsewhere
        self._open: dict[int, int | None] = {}

    def bytes_at(self, file_id: int, offset: int, length: int) -> bytes:
        """Return the bytes at an offset; fewer or none if the file is shorter now, or gone."""
        stream = self._stream(file_id)
        data = b""
        if stream is not None:
            try:
                data = _read_at(stream, offset, length)
            except OSError:
                data = b""
        if not data and self._elsewhere is not None:
            return self._elsewhere(file_id, offset, length) or b""
        return data

    def path_of(self, file_id: int) -> str:
        """Return the full path of a file, for messages."""
        place = self._place_of(file_id)
        return f"file {file_id}" if place is None else place[1]

    def _stream(self, file_id: int) -> int | None:
        if file_id in self._open:
            return self._open[file_id]
        if len(self._open) >= _MOST_OPEN:
            oldest = self._open.pop(next(iter(self._open)))
            if oldest is not None:
                os.close(oldest)
        stream = self._open[file_id] = self._opened(file_id)
        return stream

    def _opened(self, file_id: int) -> int | None:
        place = self._place_of(file_id)
        if place is None:
            return None
        try:
            return open_below(*map(to_path, place))
        except (RecollectError, OSError):
            return None

    def close(self) -> None:
        for stream in self._open.values():
            if stream is not None:
                os.close(stream)
        self._open.clear()

    def __enter__(self) -> EntryReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_at(stream: int, offset: int, length: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(stream, length, offset)
    os.lseek(stream, offset, os.SEEK_SET)
    return os.read(stream, length)


TEXT_LIMIT = 8 << 20
_TITLES = {
    "custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary", "tag": "tag", "agent-name": "agentName",
}  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_RESULTS = ("tool_result", "mcp_tool_result")
_SILENT = ("image", "document", "redacted_thinking")


def _shown_text(value: Any) -> str:
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
            return _shown_text(msgspec.json.decode(data))
        except (ValueError, RecursionError):
            pass
    import json

    try:
        return _shown_text(json.loads(data.decode("utf-8", "replace"), strict=False))
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
