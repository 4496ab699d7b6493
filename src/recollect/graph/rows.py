"""Rows: the small facts of each entry that the graph needs, with the place of its bytes. The words stay on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..format.decode import Located
from ..format.entries import KNOWN_TYPES, Entry, decode_loosely
from ..format.line import Damage
from ..format.times import parse_time


class Row(Struct):
    """One row of the tree (user, assistant, system, attachment, progress)."""

    index: int
    """Position among all rows of the transcript, in file order."""
    line: int
    offset: int
    length: int
    type: str
    uuid: str | None
    parent: str | None
    time: float | None
    timestamp: str | None
    side: bool | None
    """`isSidechain` as it stands: the client keeps "false" and "not there" apart when it mends a chain."""
    client_reads: bool
    usable: bool = True
    """False for user and assistant rows whose message the client cannot use; it bridges over them."""
    has_parent_field: bool = True
    subtype: str | None = None
    logical_parent: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error: bool = False
    transcript_only: bool = False
    prompt_id: str | None = None
    message_id: str | None = None
    request_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    block_types: tuple[str | None, ...] = ()
    tool_uses: tuple[tuple[str, str], ...] = ()
    """(id, tool name) of the calls made on this row."""
    tool_results: tuple[str, ...] = ()
    """Ids of the calls answered on this row."""
    failed: tuple[str, ...] = ()
    """Those of them that ended in an error."""
    result_agent: str | None = None
    """The sub-agent that a structured result speaks of."""
    source_assistant: str | None = None
    source_tool_use: str | None = None
    compact: Any = None
    """`compactMetadata` of a boundary."""
    detail: str | None = None
    """The attachment's or the progress's own type."""
    duration_ms: float | None = None
    file: int = 0
    """Which of the session's files the row is in (0 = the main one)."""

    @property
    def sidechain(self) -> bool:
        """Written by a sub-agent."""
        return self.side is True

    @property
    def is_boundary(self) -> bool:
        return self.type == "system" and self.subtype == "compact_boundary"

    @property
    def is_message(self) -> bool:
        return self.type == "user" or self.type == "assistant"

    @property
    def is_prompt(self) -> bool:
        """A row in which a person (or a program in their place) said something."""
        return (
            self.type == "user"
            and not self.is_meta
            and not self.is_compact_summary
            and not self.tool_results
            and not self.transcript_only
        )


class StateLine(Struct):
    """An entry without a place in the tree: titles, checkpoints, snapshots, request logs, and whatever is unknown."""

    index: int
    """How many rows of the tree stand before it in the file."""
    line: int
    offset: int
    length: int
    type: str | None
    session_id: str | None = None
    leaf: str | UnsetType | None = UNSET
    explicit: bool = False
    rewound: bool = False
    cut: str | None = None


class Transcript(Struct):
    """A file's rows and state lines in file order, with counts of what is in it and what is wrong with it."""

    rows: list[Row]
    states: list[StateLine]
    damage: list[Damage]
    types: Counter[str]
    unknown_types: Counter[str]
    versions: Counter[str]
    cwds: Counter[str]
    branches: Counter[str]
    session_ids: Counter[str]
    folded: dict[str, Any]
    """Last value of each small state line by its type."""
    size: int = 0
    lines: int = 0

    @property
    def first_time(self) -> float | None:
        return next((row.time for row in self.rows if row.time is not None), None)

    @property
    def last_time(self) -> float | None:
        return next((row.time for row in reversed(self.rows) if row.time is not None), None)


class _Head(Struct):
    model: str | None = None
    id: str | None = None
    role: Any = None
    content: Raw = Raw()
    stop_reason: str | None = None


class _BlockHead(Struct):
    type: str | None = None
    tool_use_id: str | None = None
    id: str | None = None
    name: str | None = None
    is_error: Any = None


_head_decoder: Final = msgspec.json.Decoder(_Head)
_blocks_decoder: Final = msgspec.json.Decoder(list[_BlockHead])
_REFUSED: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
_MISSING: Final = object()

#: State lines that are small and of which the last one counts: their values are folded while reading.
FOLDED: Final = frozenset(
    {
        "custom-title", "ai-title", "tag", "agent-name", "agent-color", "agent-setting", "mode", "permission-mode",
        "relocated", "worktree-state", "pr-link", "cost-state", "tools-used", "summary", "last-prompt",
        "ended-by-model", "continued-in", "bridge-session", "history-suppression", "session-owner", "memory-mode",
        "atis-latch", "isolation-latch", "repl-mode", "derived-from",
    }
)  # fmt: skip
_ROWS: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})


def build_transcript(located: Iterable[Located], damage: list[Damage], *, file: int = 0) -> Transcript:
    """Rows and state lines of the entries of one file."""
    rows: list[Row] = []
    states: list[StateLine] = []
    types: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    context = _Context()
    folded: dict[str, tuple[int, int, Entry]] = {}
    for item in located:
        entry = item.entry
        kind = entry.type
        types[kind or "(no type)"] += 1
        if kind in _ROWS:
            row = _row(item, entry, kind or "", len(rows), file)
            rows.append(row)
            context.note(entry)
            continue
        if kind not in KNOWN_TYPES:
            unknown[kind or "(no type)"] += 1
        state = StateLine(len(rows), item.line, item.offset, item.length, kind, entry.sessionId)
        if kind == "last-prompt":
            state.leaf = entry.leafUuid
            state.explicit = entry.explicit is True
            state.rewound = entry.rewound is True
            state.cut = entry.cutUuid
        states.append(state)
        if kind in FOLDED:
            folded[kind or ""] = (item.offset, item.length, entry)
    return Transcript(
        rows, states, damage, types, unknown, context.versions, context.cwds, context.branches, context.session_ids,
        {kind: _fold(kind, entry) for kind, (_, _, entry) in folded.items()},
    )  # fmt: skip


class _Context:
    """Counts of the fields that hardly ever change from one line to the next: only runs are counted, not lines."""

    def __init__(self) -> None:
        self.versions: Counter[str] = Counter()
        self.cwds: Counter[str] = Counter()
        self.branches: Counter[str] = Counter()
        self.session_ids: Counter[str] = Counter()

    def note(self, entry: Entry) -> None:
        if entry.version:
            self.versions[entry.version] += 1
        if entry.cwd:
            self.cwds[entry.cwd] += 1
        if entry.gitBranch:
            self.branches[entry.gitBranch] += 1
        if entry.sessionId:
            self.session_ids[entry.sessionId] += 1


def _fold(kind: str, entry: Entry) -> Any:
    named = {
        "custom-title": entry.customTitle,
        "ai-title": entry.aiTitle,
        "tag": entry.tag,
        "relocated": entry.relocatedCwd,
        "summary": entry.summary,
        "last-prompt": entry.lastPrompt,
    }
    return named.get(kind, True)


def _row(item: Located, entry: Entry, kind: str, index: int, file: int) -> Row:
    parent = entry.parentUuid
    row = Row(
        index, item.line, item.offset, item.length, kind, entry.uuid, parent if isinstance(parent, str) else None,
        parse_time(entry.timestamp), entry.timestamp, entry.isSidechain, item.client_reads,
    )  # fmt: skip
    row.file = file
    if parent is UNSET:
        row.has_parent_field = False
    row.subtype = entry.subtype
    row.agent_id = entry.agentId
    row.session_id = entry.sessionId
    row.prompt_id = entry.promptId
    if kind == "assistant" or kind == "user":
        row.is_meta = entry.isMeta is True
        row.is_compact_summary = entry.isCompactSummary is True
        row.is_api_error = entry.isApiErrorMessage is True
        row.transcript_only = entry.isVisibleInTranscriptOnly is True
        row.request_id = entry.requestId
        row.source_assistant = entry.sourceToolAssistantUUID
        row.source_tool_use = entry.sourceToolUseID
        _read_message(row, entry.message)
        if row.tool_results and b'"agentId"' in bytes(entry.toolUseResult):
            row.result_agent = _agent_of(entry.toolUseResult)
    elif kind == "system":
        row.logical_parent = entry.logicalParentUuid
        row.duration_ms = entry.durationMs
        if entry.subtype == "compact_boundary":
            row.compact = decode_loosely(entry.compactMetadata)
    elif kind == "attachment":
        row.detail = _type_of(entry.attachment)
    else:
        row.detail = _type_of(entry.data)
        row.source_tool_use = entry.parentToolUseID or entry.toolUseID
        if row.detail == "agent_progress":
            row.result_agent = _agent_of(entry.data)
    return row


def _agent_of(raw: Raw) -> str | None:
    value = decode_loosely(raw)
    agent = value.get("agentId") if isinstance(value, dict) else None
    return agent if isinstance(agent, str) else None


def _type_of(raw: Raw) -> str | None:
    try:
        return _type_decoder.decode(raw).type
    except _REFUSED:
        value = decode_loosely(raw)
        kind = value.get("type") if isinstance(value, dict) else None
        return kind if isinstance(kind, str) else None


class _Typed(Struct):
    type: str | None = None


_type_decoder: Final = msgspec.json.Decoder(_Typed)


def _read_message(row: Row, raw: Raw) -> None:
    """Model, ids, blocks and calls of a message, and whether the client can use it (its content is text or blocks)."""
    try:
        head = _head_decoder.decode(raw)
    except _REFUSED:
        _read_odd_message(row, decode_loosely(raw))
        return
    row.message_id = head.id
    row.model = head.model
    row.stop_reason = head.stop_reason
    content = head.content
    if bytes(memoryview(content)[:1]) == b"[":
        try:
            blocks = _blocks_decoder.decode(content)
        except _REFUSED:
            _read_odd_content(row, decode_loosely(content))
            return
        _note_blocks(row, blocks)
    else:
        _read_odd_content(row, decode_loosely(content))


def _note_blocks(row: Row, blocks: list[_BlockHead]) -> None:
    row.block_types = tuple([block.type for block in blocks])
    if row.type == "assistant":
        if "tool_use" in row.block_types:
            row.tool_uses = tuple([(b.id, b.name or "") for b in blocks if b.type == "tool_use" and b.id is not None])
    elif "tool_result" in row.block_types:
        row.tool_results = tuple(
            [b.tool_use_id for b in blocks if b.type == "tool_result" and b.tool_use_id is not None]
        )
        row.failed = tuple([b.tool_use_id for b in blocks if b.is_error is True and b.tool_use_id is not None])
    if blocks and None in row.block_types:
        row.usable = any(kind is not None for kind in row.block_types)


def _read_odd_message(row: Row, value: Any) -> None:
    if not isinstance(value, dict):
        row.usable = False
        return

    def text(name: str) -> str | None:
        found = value.get(name)
        return found if isinstance(found, str) else None

    row.message_id, row.model, row.stop_reason = text("id"), text("model"), text("stop_reason")
    _read_odd_content(row, value.get("content"))


def _read_odd_content(row: Row, content: Any) -> None:
    if isinstance(content, str):
        row.block_types = ("text",)
        # An assistant's blank text is dropped on load (2.1.325); a user's never is.
        row.usable = row.type == "user" or bool(content.strip())
        return
    if not isinstance(content, list):
        row.usable = False
        return
    heads: list[_BlockHead] = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        head = _BlockHead(kind if isinstance(kind, str) else None)
        if isinstance(block, dict):
            for name in ("tool_use_id", "id", "name"):
                if isinstance(block.get(name), str):
                    setattr(head, name, block[name])
            head.is_error = block.get("is_error")
        heads.append(head)
    _note_blocks(row, heads)
