"""Rows: for each entry the few fields that the graph needs, and where its bytes are. The text stays on disk."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from sys import intern
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, structs

from ..format.entries import KNOWN_TYPES, ROW_TYPES, BlockHead, GraphEntry, ResultHead
from ..format.line import Damage
from ..format.times import parse_time


@contextmanager
def gc_paused() -> Iterator[None]:
    """Turn automatic collections off inside the block and restore them after it. Objects built inside form no cycles."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


#: Types of rows that are messages.
SPOKEN: Final = frozenset({"user", "assistant"})


class Row(Struct, gc=False, omit_defaults=True):
    """One row of a conversation (user, assistant, system, attachment, progress). Fields that most rows have come first."""

    index: int
    """Position among all rows of the transcript, in file order."""
    line: int
    offset: int
    length: int
    type: str
    uuid: str | None
    parent: str | None
    timestamp: str | None
    side: bool | None
    """`isSidechain` as written: Claude Code distinguishes false from missing when it repairs a chain."""
    session_id: str | None = None
    prompt_id: str | None = None
    block_types: tuple[str | None, ...] = ()
    message_id: str | None = None
    request_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    tool_uses: tuple[tuple[str, str], ...] = ()
    """(id, tool name) of the calls made on this row."""
    tool_results: tuple[str, ...] = ()
    """Ids of the calls answered on this row."""
    failed: tuple[str, ...] = ()
    """Ids of the calls whose result on this row is an error."""
    client_reads: bool = True
    """Whether Claude Code can read the line of the row."""
    usable: bool = True
    """False for user and assistant rows whose message Claude Code cannot use; it bridges such rows."""
    answer_is_text: bool = False
    """True for an assistant row whose content is a string, not a list of blocks: older versions of Claude Code fail on it."""
    has_parent_field: bool = True
    subtype: str | None = None
    logical_parent: str | None = None
    subagent_id: str | None = None
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error: bool = False
    transcript_only: bool = False
    result_subagent: str | None = None
    """The id of the subagent that a structured result or a progress row names."""
    source_assistant: str | None = None
    source_tool_use: str | None = None
    compact: Any = None
    """`compactMetadata` of a boundary."""
    detail: str | None = None
    """The type of the attachment or of the progress data."""
    duration_ms: float | None = None
    file: int = 0
    """The number of the session's file that holds the row (0 = the main transcript)."""

    @property
    def time(self) -> float | None:
        """Seconds since the epoch; None where the timestamp is missing or not a date."""
        return parse_time(self.timestamp)

    @property
    def sidechain(self) -> bool:
        """Whether a subagent wrote the row."""
        return self.side is True

    @property
    def is_boundary(self) -> bool:
        return self.type == "system" and self.subtype == "compact_boundary"

    @property
    def is_message(self) -> bool:
        return self.type == "user" or self.type == "assistant"

    @property
    def is_prompt(self) -> bool:
        """Whether the row is a prompt: written by a person, or by a program in their place."""
        return (
            self.type == "user"
            and not self.is_meta
            and not self.is_compact_summary
            and not self.tool_results
            and not self.transcript_only
        )


class StateLine(Struct, gc=False, omit_defaults=True):
    """An entry that is not a row: titles, checkpoints, snapshots, request logs, and entries of unknown types."""

    index: int
    """How many rows stand before the entry in the file."""
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
    """The rows and state lines of a file in file order, with its damage and with counts of types, versions and folders."""

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
    """The last value of each small state line, by type."""
    size: int = 0
    lines: int = 0
    others: list[int] = []
    """Indexes of the rows that are not ordinary. Ordinary rows are usable messages of the main conversation."""
    _by_uuid: dict[str, Row] | None = None

    @property
    def by_uuid(self) -> dict[str, Row]:
        """Rows by uuid: the content of the last row with a uuid at the place of the first. Cached; must not be changed."""
        if self._by_uuid is None:
            self._by_uuid = {row.uuid: row for row in self.rows if row.uuid is not None}
        return self._by_uuid

    def with_rows(self, rows: list[Row], states: list[StateLine], size: int) -> Transcript:
        """Return a copy of the transcript with other rows (with indexes from 0 on), state lines and size."""
        others = [row.index for row in rows if not _is_ordinary(row)]
        return structs.replace(self, rows=rows, states=states, size=size, others=others, _by_uuid=None)

    @property
    def first_time(self) -> float | None:
        return next((row.time for row in self.rows if row.time is not None), None)

    @property
    def last_time(self) -> float | None:
        return next((row.time for row in reversed(self.rows) if row.time is not None), None)


#: Types of small state lines of which only the last one counts: their values are kept in `folded`.
FOLDED: Final = frozenset(
    {
        "custom-title", "ai-title", "tag", "agent-name", "agent-color", "agent-setting", "mode", "permission-mode",
        "relocated", "worktree-state", "pr-link", "cost-state", "tools-used", "summary", "last-prompt",
        "ended-by-model", "continued-in", "bridge-session", "history-suppression", "session-owner", "memory-mode",
        "atis-latch", "isolation-latch", "repl-mode", "derived-from",
    }
)  # fmt: skip
#: One string object per type: types are compared so often that comparing characters would cost noticeable time.
_ROWS: Final[dict[str | None, str]] = {kind: kind for kind in ROW_TYPES}


def build_transcript(
    located: Iterable[tuple[GraphEntry, int, int, int, bool]], damage: list[Damage], *, file: int = 0
) -> Transcript:
    """Build the transcript of one file from its entries: (entry, line, offset, length, whether Claude Code reads it)."""
    rows: list[Row] = []
    states: list[StateLine] = []
    types: dict[str | None, int] = {}
    folded: dict[str, GraphEntry] = {}
    others: list[int] = []
    context = _Context()
    uuid = session_id = prompt_id = version = cwd = branch = None
    index = since = 0
    for entry, line, offset, length, client_reads in located:
        kind = entry.type
        types[kind] = types.get(kind, 0) + 1
        row_type = _ROWS.get(kind)
        if row_type is not None:
            # Equal strings of neighbouring rows become one object: a long session then needs a third less memory.
            if entry.parentUuid == uuid:
                entry.parentUuid = uuid
            if entry.promptId == prompt_id:
                entry.promptId = prompt_id
            if (
                entry.sessionId == session_id
                and entry.version == version
                and entry.cwd == cwd
                and entry.gitBranch == branch
            ):
                entry.sessionId = session_id
            else:
                context.count(index - since, version, cwd, branch, session_id)
                version, cwd, branch, session_id = entry.version, entry.cwd, entry.gitBranch, entry.sessionId
                since = index
            uuid, prompt_id = entry.uuid, entry.promptId
            if row_type == "assistant" or row_type == "user":
                row = _message_row(entry, row_type, index, line, offset, length)
                if not (client_reads and uuid and row.usable) or row.side is True:  # see `_is_ordinary`
                    others.append(index)
            else:
                row = _other_row(entry, row_type, index, line, offset, length)
                others.append(index)
            if not client_reads:
                row.client_reads = False
            if file:
                row.file = file
            rows.append(row)
            index += 1
            continue
        state = StateLine(index, line, offset, length, kind, entry.sessionId)
        if kind == "last-prompt":
            state.leaf = entry.leafUuid
            state.explicit = entry.explicit is True
            state.rewound = entry.rewound is True
            state.cut = entry.cutUuid
        states.append(state)
        if kind in FOLDED:
            folded[kind or ""] = entry
    context.count(index - since, version, cwd, branch, session_id)
    counted = Counter({kind or "(no type)": count for kind, count in types.items()})
    return Transcript(
        rows, states, damage, counted, Counter({kind: count for kind, count in counted.items() if kind not in KNOWN_TYPES}),
        context.versions, context.cwds, context.branches, context.session_ids,
        {kind: _fold(kind, entry) for kind, entry in folded.items()}, others=others,
    )  # fmt: skip


def _is_ordinary(row: Row) -> bool:
    return bool(row.is_message and row.client_reads and row.uuid and row.usable) and row.side is not True


class _Context:
    """Count fields that rarely change from one row to the next; a run of equal values is counted in one step."""

    def __init__(self) -> None:
        self.versions: Counter[str] = Counter()
        self.cwds: Counter[str] = Counter()
        self.branches: Counter[str] = Counter()
        self.session_ids: Counter[str] = Counter()

    def count(self, run: int, version: str | None, cwd: str | None, branch: str | None, session_id: str | None) -> None:
        if run:
            counters = (self.versions, self.cwds, self.branches, self.session_ids)
            for counter, value in zip(counters, (version, cwd, branch, session_id), strict=True):
                if value:
                    counter[value] += run


def _fold(kind: str, entry: GraphEntry) -> Any:
    named = {
        "custom-title": entry.customTitle,
        "ai-title": entry.aiTitle,
        "tag": entry.tag,
        "relocated": entry.relocatedCwd,
        "summary": entry.summary,
        "last-prompt": entry.lastPrompt,
    }
    return named.get(kind, True)


def _message_row(entry: GraphEntry, kind: str, index: int, line: int, offset: int, length: int) -> Row:
    """Build a user or assistant row: its blocks and calls, and whether Claude Code can use the message (text or blocks).

    Fields are set only where they differ from the default: passing all of them would take longer than everything else.
    """
    message = entry.message
    content = message.content if message is not None else None
    kinds: tuple[str | None, ...] = ()
    if isinstance(content, str):
        kinds = _ONE_TEXT
    elif content is not None:
        if len(content) == 1:
            only = content[0].type
            kinds = _ONE.get(only) or (only,)
        else:
            kinds = tuple([block.type for block in content])
    link = entry.parentUuid
    parent = link if link is not UNSET else None
    if kind == "assistant" and message is not None:
        model, stop_reason = message.model, message.stop_reason
        row = Row(
            index, line, offset, length, kind, entry.uuid, parent, entry.timestamp, entry.isSidechain, entry.sessionId,
            entry.promptId, kinds, message.id, entry.requestId, intern(model) if model is not None else None,
            intern(stop_reason) if stop_reason is not None else None,
        )  # fmt: skip
        if isinstance(content, str):
            row.answer_is_text = True
            if not content.strip():
                row.usable = False  # an assistant's blank text is dropped on load (2.1.325); a user's never is
    else:
        row = Row(
            index, line, offset, length, kind, entry.uuid, parent, entry.timestamp, entry.isSidechain, entry.sessionId,
            entry.promptId, kinds,
        )  # fmt: skip
        if message is not None:
            if entry.sourceToolAssistantUUID is not None:
                row.source_assistant = entry.sourceToolAssistantUUID
            if entry.sourceToolUseID is not None:
                row.source_tool_use = entry.sourceToolUseID
    if content is None:
        row.usable = False
    elif kinds is not _ONE_TEXT and not isinstance(content, str):
        _note_blocks(row, content, entry)
    if link is UNSET:
        row.has_parent_field = False
    if entry.subtype is not None:
        row.subtype = entry.subtype
    if entry.agentId is not None:
        row.subagent_id = entry.agentId
    if entry.isMeta is True:
        row.is_meta = True
    if entry.isCompactSummary is True:
        row.is_compact_summary = True
    if entry.isApiErrorMessage is True:
        row.is_api_error = True
    if entry.isVisibleInTranscriptOnly is True:
        row.transcript_only = True
    return row


def _note_blocks(row: Row, content: list[BlockHead], entry: GraphEntry) -> None:
    kinds = row.block_types
    if None in kinds:
        row.usable = any(one is not None for one in kinds)
    if row.type == "assistant":
        if "tool_use" in kinds:
            row.tool_uses = tuple([(b.id, b.name or "") for b in content if b.type == "tool_use" and b.id is not None])
    elif "tool_result" in kinds:
        row.tool_results = tuple(
            [b.tool_use_id for b in content if b.type == "tool_result" and b.tool_use_id is not None]
        )
        row.failed = tuple([b.tool_use_id for b in content if b.is_error is True and b.tool_use_id is not None])
        result = entry.toolUseResult
        if isinstance(result, ResultHead):
            row.result_subagent = result.agentId


def _other_row(entry: GraphEntry, kind: str, index: int, line: int, offset: int, length: int) -> Row:
    """Build a system row, an attachment row or a progress row."""
    link = entry.parentUuid
    row = Row(
        index, line, offset, length, kind, entry.uuid, link if link is not UNSET else None, entry.timestamp,
        entry.isSidechain, entry.sessionId, entry.promptId,
    )  # fmt: skip
    row.has_parent_field = link is not UNSET
    row.subtype, row.logical_parent, row.subagent_id = entry.subtype, entry.logicalParentUuid, entry.agentId
    if kind == "system":
        row.duration_ms = entry.durationMs
        if entry.subtype == "compact_boundary":
            row.compact = entry.compactMetadata
    elif kind == "attachment":
        row.detail = entry.attachment.type if entry.attachment is not None else None
    elif entry.data is not None:
        row.detail = entry.data.type
        row.source_tool_use = entry.parentToolUseID or entry.toolUseID
        if row.detail == "agent_progress":
            row.result_subagent = entry.data.agentId
    return row


_ONE_TEXT: Final = ("text",)
#: Most rows have one block: such rows share one tuple per block type.
_ONE: Final[dict[str | None, tuple[str | None, ...]]] = {
    "text": _ONE_TEXT,
    **{kind: (kind,) for kind in ("thinking", "tool_use", "tool_result", "image", "redacted_thinking")},
}
