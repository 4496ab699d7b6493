"""Decode one JSON object of a transcript, in two views whose field names are those on disk.

An `Entry` holds the small fields decoded and the large ones (`message`, `toolUseResult`, ...) as raw JSON. A `GraphEntry` is
made in one pass and holds only what the graph needs of messages, results and attachments. A field that is not listed here is
not lost: the bytes of the line are kept, and `decode_loosely` decodes all of them.

The decoders refuse a line where any field has an unexpected type. Such a line is decoded into plain data, and the fields that
fit are copied (`fitted`): one mechanism for every struct, so that a field is listed once, in the struct itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, inspect

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


class SharedFields(Struct, gc=False):
    """The small fields that both views of an entry have, in the order in which Claude Code writes them."""

    parentUuid: str | UnsetType | None = UNSET
    logicalParentUuid: str | None = None
    isSidechain: bool | None = None
    promptId: str | None = None
    agentId: str | None = None
    type: str | None = None
    subtype: str | None = None
    isMeta: bool | None = None
    isApiErrorMessage: bool | None = None
    isCompactSummary: bool | None = None
    isVisibleInTranscriptOnly: bool | None = None
    durationMs: int | float | None = None
    requestId: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    sourceToolAssistantUUID: str | None = None
    sourceToolUseID: str | None = None
    toolUseID: str | None = None
    parentToolUseID: str | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    leafUuid: str | UnsetType | None = UNSET
    explicit: bool | None = None
    rewound: bool | None = None
    cutUuid: str | None = None
    summary: str | None = None
    lastPrompt: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    tag: str | None = None
    relocatedCwd: str | None = None


class Entry(SharedFields, omit_defaults=True, gc=True):
    """The fields of one entry; large ones as raw JSON."""

    level: str | None = None
    attachment: Raw = NOT_THERE
    message: Raw = NOT_THERE
    data: Raw = NOT_THERE
    content: Raw = NOT_THERE
    compactMetadata: Raw = NOT_THERE
    toolUseResult: Raw = NOT_THERE
    forkedFrom: Raw = NOT_THERE
    slug: str | None = None
    messageId: str | None = None
    agentName: str | None = None
    prUrl: str | None = None
    worktreeSession: Raw = NOT_THERE


_decoder = msgspec.json.Decoder(Entry)
decode_entry = _decoder.decode
"""Decode the bytes of one object. Raises one of `REFUSED` unless they are valid JSON with fields of the expected types."""

_RAW_FIELDS: Final = frozenset(name for name, kind in Entry.__annotations__.items() if kind == "Raw")
_BOOL_FIELDS: Final = frozenset(name for name, kind in SharedFields.__annotations__.items() if kind == "bool | None")
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


S = TypeVar("S", bound=Struct)
Whole = Callable[[Any, int | None], int | None]
"""Converts a value to an integer not above the given maximum; None where the value is not a whole number."""
_UNFIT: Final = object()


def fitted(value: Any, kind: type[S], whole: Whole | None = None) -> S | None:
    """Build a struct of this kind from the members of a value that fit; None where the value is not an object.

    A member of another type is left out, and a list item of another type becomes an empty one.
    """
    found = _fit(value, _type_of(kind), whole)
    return None if found is _UNFIT else cast("S", found)


def view_of(entry: Entry, kind: type[S]) -> S:
    """Convert an entry to another struct: fields of the same name are copied, and raw JSON is decoded where needed."""
    values: dict[str, Any] = {}
    for field in _type_of(kind).fields:
        value = getattr(entry, field.name, _UNFIT)
        if isinstance(value, Raw) and not isinstance(field.type, inspect.RawType):
            value = _fit(decode_loosely(value), field.type, None)
        if value is not _UNFIT:
            values[field.name] = value
    return kind(**values)


@cache
def _type_of(kind: type[Struct]) -> inspect.StructType:
    return cast("inspect.StructType", inspect.type_info(kind))


def _fit(value: Any, kind: inspect.Type, whole: Whole | None) -> Any:
    """Return the value converted to this type; `_UNFIT` where it is of another type."""
    match kind:
        case inspect.UnionType():
            found = (_fit(value, inner, whole) for inner in kind.types)
            return next((item for item in found if item is not _UNFIT), _UNFIT)
        case inspect.StructType():
            return _fit_struct(value, kind, whole) if isinstance(value, dict) else _UNFIT
        case inspect.ListType():
            return [_fit_item(item, kind.item_type, whole) for item in value] if isinstance(value, list) else _UNFIT
        case inspect.IntType() if whole is not None and value is not None:
            number = whole(value, kind.le)
            return _UNFIT if number is None else number
        case inspect.RawType():
            return raw_of(value)
    return value if isinstance(value, _PLAIN.get(type(kind), ())) else _UNFIT


_PLAIN: Final[dict[type, type | tuple[type, ...]]] = {
    inspect.StrType: str, inspect.BoolType: bool, inspect.NoneType: type(None), inspect.DictType: dict,
    inspect.AnyType: object,
}  # fmt: skip


def _fit_struct(value: dict[str, Any], kind: inspect.StructType, whole: Whole | None) -> Struct:
    values = {}
    for field in kind.fields:
        if field.name in value and (found := _fit(value[field.name], field.type, whole)) is not _UNFIT:
            values[field.name] = found
    return kind.cls(**values)


def _fit_item(item: Any, kind: inspect.Type, whole: Whole | None) -> Any:
    found = _fit(item, kind, whole)
    if found is _UNFIT:
        return kind.cls() if isinstance(kind, inspect.StructType) else None
    return found


def raw_of(value: Any) -> Raw:
    """Return the JSON of a value; empty where the value is None or cannot be encoded."""
    if value is None:
        return Raw()
    try:
        return Raw(msgspec.json.encode(value))
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        return Raw()


class BlockHead(Struct, gc=False):
    """The fields of a content block that the graph needs."""

    type: str | None = None
    tool_use_id: str | None = None
    id: str | None = None
    name: str | None = None
    is_error: bool | None = None


class MessageHead(Struct, gc=False):
    model: str | None = None
    id: str | None = None
    content: str | list[BlockHead] | None = None
    stop_reason: str | None = None


class ResultHead(Struct, gc=False):
    agentId: str | None = None


class PartHead(Struct, gc=False):
    """The type of an attachment or of progress data, and the subagent that progress is about."""

    type: str | None = None
    agentId: str | None = None


class GraphEntry(SharedFields, gc=False):
    """An entry as the graph reads it; names as on disk."""

    attachment: PartHead | None = None
    message: MessageHead | None = None
    data: PartHead | None = None
    compactMetadata: dict[str, Any] | None = None
    toolUseResult: ResultHead | str | list[Raw] | None = None


decode_graph_entry: Final = msgspec.json.Decoder(GraphEntry).decode
"""Decode the bytes of one object. Raises one of `REFUSED` unless they are valid JSON with fields of the expected types."""


def graph_entry_of(entry: Entry) -> GraphEntry:
    """Convert an entry that the decoder refused; fields of unexpected types are left out."""
    return view_of(entry, GraphEntry)
