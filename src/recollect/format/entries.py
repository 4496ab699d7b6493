"""Entries: one JSON object of a transcript as a typed view. Field names are those on disk.

An `Entry` holds the small fields decoded and the large ones (`message`, `toolUseResult`, ...) as raw JSON until someone
asks. What is not listed here is not lost: the line's bytes stay the truth, and `Entry.value()` decodes all of them.
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

#: State lines known to clients up to 2.1.326. Any other type is kept, shown and counted as unknown.
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

#: The request log: most of a file's bytes since 2.1.325, and nothing that a person said or saw.
REQUEST_LOG_TYPES: Final = frozenset({"api-request", "api-request-shape", "api-request-blob"})

NOT_THERE: Final = Raw()
"""A large field that an entry does not have."""

#: What a decoder raises for bytes that it does not take.
REFUSED: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)


class Entry(msgspec.Struct, omit_defaults=True):
    """The envelope of one entry. The fields follow the order in which the client writes them, which is fastest to decode."""

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
"""Bytes of one object to an `Entry`. Raises for anything that is not plain, valid JSON with the expected types."""

_RAW_FIELDS: Final = frozenset(name for name, kind in Entry.__annotations__.items() if kind == "Raw")
_BOOL_FIELDS: Final = frozenset(name for name, kind in Entry.__annotations__.items() if kind == "bool | None")
_LINKS: Final = frozenset({"uuid", "parentUuid"})
_FIELDS: Final = frozenset(Entry.__struct_fields__)


def entry_from_fields(fields: Mapping[str, bytes | Raw]) -> Entry:
    """An `Entry` from raw JSON by field, for lines that the fast decoder refuses. A field of an odd type is left out."""
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
            value = bool(value)  # the client asks only whether it is truthy
        elif name in _LINKS and value is not None and not isinstance(value, str):
            value = f"<{bytes(raw).decode('utf-8', 'replace')[:80]}>"  # a link to nothing is not the same as no link
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
    """The value of some JSON bytes, by the fast decoder or, where that refuses, by a lenient one. None where neither can.

    Half surrogate pairs and invalid UTF-8 become U+FFFD, as Claude Code shows them: every text that comes out of here can
    be stored and sent. NaN becomes a float. For bytes that are written again there is `decode_exactly`.
    """
    return decode_exactly(whole_pairs(bytes(raw)))


def whole_pairs(data: bytes) -> bytes:
    """JSON with the escape of U+FFFD in the place of each half surrogate pair; nothing else in it changes or moves."""
    return _HALF_PAIR.sub(_whole_character, data) if b"\\ud" in data or b"\\uD" in data else data


_HALF_PAIR: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape: a whole surrogate pair, half of one (the group), or anything else."""


def _whole_character(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape[1] else escape[0]


def decode_exactly(data: bytes) -> Any:
    """The same with half surrogate pairs left in the text, for entries that are changed and written again."""
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
    """JSON by the standard library: NaN, Infinity and numbers of any length are read."""
    return (_strict_reader if strict else _lenient_reader).decode(text)


def _constant(name: str) -> float:
    return float(name.replace("Infinity", "inf"))


def _whole_number(digits: str) -> int | float:
    return (
        int(digits) if len(digits) < 4000 else float(digits)
    )  # Python refuses longer ones; to the client it is a float


_strict_reader: Final = json.JSONDecoder(parse_constant=_constant, parse_int=_whole_number)
_lenient_reader: Final = json.JSONDecoder(strict=False, parse_constant=_constant, parse_int=_whole_number)
