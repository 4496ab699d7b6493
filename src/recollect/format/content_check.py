"""Check a message that a program wants to write: the shape of its blocks and the fields of its row.

Only what no version of Claude Code could use is refused. Blocks of unknown types are accepted unchecked.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from ..errors import Refused
from .path_text import UUID

_OWN_FIELDS: Final = frozenset(
    ("parentUuid", "isSidechain", "sessionId", "agentId", "type", "message", "uuid", "timestamp")
)
"""Fields that make a row part of its conversation; only the writer sets them."""
_TEXTS: Final = frozenset(("cwd", "version", "gitBranch", "userType", "requestId", "promptId", "slug"))
"""Fields that every version of Claude Code reads as text."""
_PICTURES: Final = frozenset(("image/gif", "image/jpeg", "image/png", "image/webp"))
"""Image types that the API accepts: a session with any other could no longer be resumed."""


def check_blocks(role: str, content: object) -> tuple[list[str], list[str]]:
    """Return the ids of the tool calls in the blocks, and the ids of the calls that the blocks answer.

    Raise Refused unless `content` is a list of blocks that a message of this role may hold.
    """
    if not isinstance(content, Sequence) or isinstance(content, (str, bytes, bytearray, memoryview)):
        _refuse(f"a message is text or a list of content blocks, not {_kind_of(content)}")
    calls: list[str] = []
    results: list[str] = []
    for block in content:
        kind = _check_block(block)
        if kind == "tool_use":
            _only_of("assistant", role, "a tool call")
            calls.append(block["id"])
        elif kind == "tool_result":
            _only_of("user", role, "the result of a call")
            results.append(block["tool_use_id"])
        elif kind == "thinking":
            _only_of("assistant", role, "a thought")
        elif kind in ("image", "document"):
            _only_of("user", role, f"a block of type {kind}")
    return calls, results


def _check_block(block: object) -> str:
    if not isinstance(block, Mapping):
        _refuse(f"a content block is a mapping, not {_kind_of(block)}")
    kind = block.get("type")
    if not isinstance(kind, str) or not kind:
        _refuse("a content block needs a type")
    if kind in ("text", "thinking"):
        _need(block, kind, (kind,), str)
    elif kind == "tool_use":
        _need(block, kind, ("id", "name"), str)
        _need(block, kind, ("input",), Mapping)
    elif kind == "tool_result":
        _need(block, kind, ("tool_use_id",), str)
        _check_result(block.get("content"))
    elif kind in ("image", "document"):
        _check_source(block.get("source"), kind)
    return kind


def _need(block: Mapping[str, Any], kind: str, names: Iterable[str], shape: type) -> None:
    for name in names:
        value = block.get(name)
        if not isinstance(value, shape) or (name in ("id", "name", "tool_use_id") and not value):
            _refuse(f"a block of type {kind} needs {name!r} as {'text' if shape is str else 'a mapping'}")


def _check_result(content: object) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, (list, tuple)):
        _refuse(f"the result of a call is text or a list of content blocks, not {_kind_of(content)}")
    for block in content:
        if _check_block(block) in ("tool_use", "tool_result"):
            _refuse("the result of a call holds no call and no other result")


def _check_source(source: object, kind: str) -> None:
    if not isinstance(source, Mapping):
        _refuse(f"a block of type {kind} needs 'source' as a mapping")
    if not isinstance(source.get("type"), str) or not source["type"]:
        _refuse(f"the source of a block of type {kind} needs a type")
    if source["type"] != "base64":
        return
    _need(source, kind, ("media_type", "data"), str)
    if kind == "image" and source["media_type"] not in _PICTURES:
        _refuse(f"a picture is one of {', '.join(sorted(_PICTURES))}, not {source['media_type']!r}")
    try:
        data = binascii.a2b_base64(source["data"], strict_mode=True)
    except ValueError as problem:
        raise Refused(f"the data of the {kind} is not base64: {problem}", slug="bad-content") from None
    if not data:
        _refuse(f"the {kind} is empty")


def calls_in(entry: Mapping[str, Any]) -> list[str]:
    """Return the ids of the tool calls on a row."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, (list, tuple)) else []
    return [block["id"] for block in blocks if block.get("type") == "tool_use" and isinstance(block.get("id"), str)]


def check_uuid(uuid: object) -> None:
    if not isinstance(uuid, str) or UUID.fullmatch(uuid) is None:
        raise Refused(f"{uuid!r} is not a uuid (36 characters in lower case)", slug="bad-uuid")


def check_row(texts: Mapping[str, object], usage: object, fields: Mapping[str, object]) -> None:
    """Raise Refused where a value given besides the content of a message cannot be part of its row."""
    for name, text in texts.items():
        if text is not None and not isinstance(text, str):
            _refuse(f"{name} is text, not {_kind_of(text)}")
    if usage is not None and not isinstance(usage, Mapping):
        _refuse(f"usage is a mapping, not {_kind_of(usage)}")
    for name in _TEXTS.intersection(fields):
        if fields[name] is not None and not isinstance(fields[name], str):
            _refuse(f"{name} is text, not {_kind_of(fields[name])}")
    own = _OWN_FIELDS.intersection(fields)
    if own:
        _refuse(f"the writer itself sets {', '.join(sorted(own))}")


def _only_of(wanted: str, role: str, what: str) -> None:
    if role != wanted:
        _refuse(f"{what} is the {wanted}'s, not the {role}'s")


def _kind_of(value: object) -> str:
    return "None" if value is None else type(value).__name__


def _refuse(sentence: str) -> NoReturn:
    raise Refused(sentence, hint="nothing was written", slug="bad-content")
