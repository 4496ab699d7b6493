"""Decode one JSON object of a transcript into an `Entry`. Field names are those on disk.

An `Entry` holds the small fields decoded and the large ones (`message`, `toolUseResult`, ...) as raw JSON. A field that is not
listed here is not lost: the bytes of the line are kept, and `decode_loosely` decodes all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

#: Rows of the conversation tree: they carry uuid and parentUuid. `progress` was one of them in 2.1.0 - 2.1.42.
ROW_TYPES: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})

#: Types of state lines in Claude Code up to 2.1.326. Entries of any other type are kept, shown and counted as unknown.
STATE_TYPES: Final = frozenset(
    {
        "summary", "custom-title", "ai-title", "ended-by-model", "continued-in", "last-prompt", "tag", "relocated",
        "agent-name", "agent-color", "agent-setting", "pr-link", "frame-link", "artifact-comment-monitor",
        "artifact-autoreact-ledger", "bridge-session", "history-suppression", "file-history-snapshot",
        "file-history-delta", "attribution-snapshot", "mode", "permission-mode", "isolation-latch", "session-owner",
        "dev-mods", "memory-mode", "atis-latch", "tools-used", "data-flow-records", "data-flow-incomplete",
        "derived-from", "worktree-state", "cost-state", "queue-operation", "content-replacement",
        "api-request-shape", "api-request-blob", "api-request", "fork-context-ref", "observer-ref",
        "resume-head-vouch", "repl-mode", "agent_metadata", "speculation-accept", "marble-origami-commit",
        "marble-origami-snapshot", "task-summary", "started", "result",
    }
)  # fmt: skip

KNOWN_TYPES: Final = ROW_TYPES | STATE_TYPES

#: Types of the request log: most bytes of a file since 2.1.325, with nothing that a person wrote or saw.
REQUEST_LOG_TYPES: Final = frozenset({"api-request", "api-request-shape", "api-request-blob"})

NOT_THERE: Final = Raw()
"""The value of a large field that is missing in an entry."""

#: Exceptions that a decoder raises for bytes that it refuses.
REFUSED: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)


class Entry(msgspec.Struct, omit_defaults=True):
    """The fields of one entry, in the order in which Claude Code writes them, which is fastest to decode."""

    parentUuid: str | UnsetType | None = UNSET
    logicalParentUuid: str | None = None
    isSidechain: bool | None = None
    promptId: str | None = None
    agentId: str | None = None
    type: str | None = None
    subtype: str | None = None
    level: str | None = None
    attachment: Raw = NOT_THERE
    message: Raw = NOT_THERE
    data: Raw = NOT_THERE
    content: Raw = NOT_THERE
    compactMetadata: Raw = NOT_THERE
    isMeta: bool | None = None
    isApiErrorMessage: bool | None = None
    isCompactSummary: bool | None = None
    isVisibleInTranscriptOnly: bool | None = None
    durationMs: int | float | None = None
    requestId: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    toolUseResult: Raw = NOT_THERE
    sourceToolAssistantUUID: str | None = None
    sourceToolUseID: str | None = None
    toolUseID: str | None = None
    parentToolUseID: str | None = None
    forkedFrom: Raw = NOT_THERE
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    slug: str | None = None
    leafUuid: str | UnsetType | None = UNSET
    explicit: bool | None = None
    rewound: bool | None = None
    cutUuid: str | None = None
    messageId: str | None = None
    summary: str | None = None
    lastPrompt: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    tag: str | None = None
    relocatedCwd: str | None = None
    agentName: str | None = None
    prUrl: str | None = None
    worktreeSession: Raw = NOT_THERE


_decoder = msgspec.json.Decoder(Entry)
decode_entry = _decoder.decode
"""Decode the bytes of one object. Raises one of `REFUSED` unless they are valid JSON with fields of the expected types."""

_RAW_FIELDS: Final = frozenset(name for name, kind in Entry.__annotations__.items() if kind == "Raw")
_BOOL_FIELDS: Final = frozenset(name for name, kind in Entry.__annotations__.items() if kind == "bool | None")
_LINKS: Final = frozenset({"uuid", "parentUuid"})
_FIELDS: Final = frozenset(Entry.__struct_fields__)


def entry_from_fields(fields: Mapping[str, bytes | Raw]) -> Entry:
    """Build an `Entry` from raw JSON by field, for lines that the decoder refuses. Fields of other types are left out."""
    entry = Entry()
    for name, raw in fields.items():
        if name not in _FIELDS:
            continue
        if name in _RAW_FIELDS:
            setattr(entry, name, Raw(bytes(raw)))
            continue
        try:
            value = msgspec.json.decode(raw)
        except REFUSED:
            value = decode_loosely(raw)
        if name == "isSidechain" and value is not None:
            value = bool(value)  # Claude Code checks only whether it is truthy
        elif name in _LINKS and value is not None and not isinstance(value, str):
            value = f"<{bytes(raw).decode('utf-8', 'replace')[:80]}>"  # a broken link must not read as a missing one
        if name in _BOOL_FIELDS:
            fits = isinstance(value, bool) or value is None
        elif name == "durationMs":
            fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        else:
            fits = isinstance(value, str) or value is None
        if fits:
            setattr(entry, name, value)
    return entry


def decode_loosely(raw: bytes | Raw) -> Any:
    """Decode JSON with the fast decoder or, where that refuses, with a lenient one. Return None where both fail.

    Half surrogate pairs and invalid UTF-8 become U+FFFD, as Claude Code shows them, so that every string of the value can be
    stored and sent. NaN becomes a float. Use `decode_exactly` for values that are written again.
    """
    return decode_exactly(whole_pairs(bytes(raw)))


def whole_pairs(data: bytes) -> bytes:
    """Replace the escape of each half surrogate pair in JSON by that of U+FFFD, which has the same length."""
    return _HALF_PAIR.sub(_whole_character, data) if b"\\ud" in data or b"\\uD" in data else data


_HALF_PAIR: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Matches an escape: a whole surrogate pair, half of a pair (the group), or any other."""


def _whole_character(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape[1] else escape[0]


def decode_exactly(data: bytes) -> Any:
    """Decode JSON as `decode_loosely` does, but keep half surrogate pairs: for entries that are changed and written again."""
    if not data:
        return None
    try:
        return msgspec.json.decode(data)
    except REFUSED:
        pass
    try:
        return loads_leniently(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def loads_leniently(text: str, *, strict: bool = False) -> Any:
    """Decode JSON with the standard library, including NaN, Infinity and numbers of any length.

    Without `strict`, control characters inside strings are accepted too.
    """
    return (_strict_reader if strict else _lenient_reader).decode(text)


def _constant(name: str) -> float:
    return float(name.replace("Infinity", "inf"))


def _whole_number(digits: str) -> int | float:
    return (
        int(digits) if len(digits) < 4000 else float(digits)
    )  # Python refuses to convert longer ones; Claude Code reads them as a float


_strict_reader: Final = json.JSONDecoder(parse_constant=_constant, parse_int=_whole_number)
_lenient_reader: Final = json.JSONDecoder(strict=False, parse_constant=_constant, parse_int=_whole_number)
