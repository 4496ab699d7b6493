"""Encode the lines that Recollect writes itself: compact JSON that Claude Code resumes from 2.0.77 on.

What a row needs was measured: `message.role` and `message.model` (2.1.197 hangs without), an assistant's content as a list of
blocks, `sessionId`, `isSidechain`, a distinct `message.id`, a parent that stands before it, a later time than its parent.
Line separators that some readers take for line ends (U+2028, U+2029, U+0085, VT, FF) are written as escapes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import Refused
from .times import to_iso

WRITTEN_AS: Final = "2.1.326"
"""The version of Claude Code written on rows where the session has none yet."""
DEFAULT_MODEL: Final = "claude-sonnet-4-5-20250929"

_LINE_BREAKERS: Final = re.compile("[\u2028\u2029\u0085\x7f]")
_UNUSABLE: Final = re.compile("[\x00\ud800-\udfff]")
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_quoted: Final = json.encoder.encode_basestring


@dataclass(slots=True, frozen=True)
class RowContext:
    """The fields that all rows of a session share."""

    session_id: str
    cwd: str
    version: str = WRITTEN_AS
    git_branch: str | None = None
    subagent_id: str | None = None


def _to_json(value: Any) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as problem:  # NaN, a set, a list that holds itself, ...
        raise Refused(
            f"this cannot be written as JSON: {problem}", hint="nothing was written", slug="bad-content"
        ) from None


def encode_line(entry: Mapping[str, Any]) -> bytes:
    """Encode an entry as a line with its LF.

    Raise Refused for text that would make the session unusable (NUL, half surrogate pairs) and for values that JSON does not
    have (NaN, sets, ...).
    """
    text = _to_json(entry)
    if _needs_a_look(text):
        check_text(entry)
        text = _without_line_breakers(text)
    return text.encode("utf-8") + b"\n"


def _needs_a_look(text: str) -> bool:
    return not text.isascii() or "\x7f" in text or "\\u0000" in text  # a NUL, or a backslash and these letters


def _without_line_breakers(text: str) -> str:
    return _LINE_BREAKERS.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def check_text(value: Any) -> None:
    """Raise Refused where a string anywhere in the value holds a NUL or half of a surrogate pair."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            match = _UNUSABLE.search(item)
            if match is not None:
                what = "a NUL character" if match.group() == "\x00" else "half of a surrogate pair"
                raise Refused(
                    f"the text holds {what}, which makes a session unusable", slug="unusable-text",
                    hint="take it out or replace it; nothing was written",
                )  # fmt: skip
        elif isinstance(item, Mapping):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, (list, tuple)):
            stack.extend(item)


def check_message(content: Any) -> None:
    """Raise Refused for a blank message: Claude Code since 2.1 drops such a row, and 2.0 sends an empty block."""
    if isinstance(content, str):
        blank = not content or content.isspace()
    elif isinstance(content, (list, tuple)):
        blank = all(isinstance(block, Mapping) and _is_blank_text(block) for block in content)
    else:
        return
    if blank:
        raise Refused(
            "a message needs at least one character that is not white space", slug="empty-message",
            hint="nothing was written",
        )  # fmt: skip


def _is_blank_text(block: Mapping[str, Any]) -> bool:
    text = block.get("text")
    return block.get("type") == "text" and isinstance(text, str) and not text.strip()


def row(
    context: RowContext,
    kind: str,
    uuid: str,
    parent: str | None,
    time: float,
    message: Mapping[str, Any],
    /,
    **extra: Any,
) -> dict[str, Any]:
    """Build a user or assistant row with its fields in the order of Claude Code."""
    entry: dict[str, Any] = {
        "parentUuid": parent,
        "isSidechain": context.subagent_id is not None,
        "userType": "external",
        "cwd": context.cwd,
        "sessionId": context.session_id,
        "version": context.version,
        "gitBranch": context.git_branch or "",
    }
    if context.subagent_id is not None:
        entry["agentId"] = context.subagent_id
    entry |= {"type": kind, "message": dict(message)}
    entry |= {key: value for key, value in extra.items() if value is not None}
    entry |= {"uuid": uuid, "timestamp": to_iso(time)}
    return entry


class RowLines:
    """Encode rows of one session as lines, faster than `encode_line(row(...))`: the shared fields are encoded once."""

    def __init__(self, context: RowContext) -> None:
        self._context = context
        own = ("parentUuid", "type", "message", "uuid", "timestamp")
        shared = {key: value for key, value in row(context, "", "", None, 0.0, {}).items() if key not in own}
        self._shared = _to_json(shared)[1:-1]
        self._second = -1
        self._second_text = ""

    def line(
        self, kind: str, uuid: str, parent: str | None, milliseconds: int, message: str | Mapping[str, Any]
    ) -> bytes:
        """Encode a row as a line with its LF. `message` may be the text of a prompt alone."""
        second, rest = divmod(milliseconds, 1000)
        if second != self._second:
            whole = to_iso(second)
            if whole is None:  # beyond the year 9999
                return self._patiently(kind, uuid, parent, milliseconds, message)
            self._second, self._second_text = second, whole.removesuffix("000Z")
        said = f'{{"role":"user","content":{_quoted(message)}}}' if isinstance(message, str) else _to_json(message)
        text = (
            f'{{"parentUuid":{"null" if parent is None else _quoted(parent)},{self._shared},"type":"{kind}",'
            f'"message":{said},"uuid":{_quoted(uuid)},"timestamp":"{self._second_text}{rest:03d}Z"}}\n'
        )
        if _needs_a_look(text):
            if "\\u0000" in text or _UNUSABLE.search(text):
                return self._patiently(kind, uuid, parent, milliseconds, message)
            text = _without_line_breakers(text)
        return text.encode("utf-8")

    def _patiently(
        self, kind: str, uuid: str, parent: str | None, milliseconds: int, message: str | Mapping[str, Any]
    ) -> bytes:
        whole = user_message(message) if isinstance(message, str) else message
        return encode_line(row(self._context, kind, uuid, parent, milliseconds / 1000, whole))


def user_message(content: str | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"role": "user", "content": content if isinstance(content, str) else [dict(block) for block in content]}


def assistant_message(
    content: str | Sequence[Mapping[str, Any]],
    *,
    message_id: str,
    model: str,
    stop_reason: str | None = "end_turn",
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else [dict(block) for block in content]
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": dict(usage) if usage is not None else {"input_tokens": 0, "output_tokens": 0},
    }


_NEW_UUIDS: Final = 64
"""How many uuids are made in one step, to save time when many lines are written."""
_new_uuids: Final[list[str]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_uuids.clear)  # else parent and child would use the same uuids


def new_uuid() -> str:
    """Return a random uuid (version 4), as Claude Code uses for rows."""
    try:
        return _new_uuids.pop()
    except IndexError:
        digits = os.urandom(16 * _NEW_UUIDS).hex()
        made = [spelled_as_uuid(digits[start : start + 32]) for start in range(0, len(digits), 32)]
        last = made.pop()
        _new_uuids.extend(made)
        return last


def spelled_as_uuid(digits: str) -> str:
    """Format 32 hexadecimal digits as a uuid, with the version and variant digits of a random uuid (version 4)."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def custom_title(session_id: str, title: str) -> dict[str, Any]:
    return {"type": "custom-title", "customTitle": title, "sessionId": session_id}


def tag(session_id: str, text: str) -> dict[str, Any]:
    """Build the entry that sets a tag. An empty text removes the tag, as Claude Code does it."""
    return {"type": "tag", "tag": text, "sessionId": session_id}


def checkpoint(session_id: str, leaf: str | None, *, prompt: str | None = None) -> dict[str, Any]:
    """Build the entry that sets the end of the conversation: an explicit `last-prompt` (Claude Code 2.1.70 and later)."""
    entry: dict[str, Any] = {"type": "last-prompt"}
    if prompt is not None:
        entry["lastPrompt"] = prompt
    return entry | {"leafUuid": leaf, "explicit": True, "sessionId": session_id}
