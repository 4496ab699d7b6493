"""Rebuild what Claude Code holds in memory after loading a transcript: rows by uuid, links rewritten, compaction applied.

Mirrors Claude Code 2.1.326. A later row with a known uuid replaces the content and keeps the place of the first one. Progress
rows and rows without usable content are bridged: their children hang on their parent instead. After a compaction that
preserved messages, the preserved messages hang below its summary, and all other rows before the boundary are removed.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from .rows import Row, StateLine, Transcript

LARGE_FILE = 5 << 20
"""Above this size in bytes, Claude Code drops all rows before the last plain boundary while it loads a file."""


class Parents:
    """Map the uuid of a row to its parent: the parent on the row, except where Claude Code rewrote the link (`changed`)."""

    __slots__ = ("changed", "rows")

    def __init__(self, rows: dict[str, Row], changed: dict[str, str | None]) -> None:
        self.rows = rows
        self.changed = changed

    def __getitem__(self, uuid: str) -> str | None:
        return self.changed[uuid] if uuid in self.changed else self.rows[uuid].parent

    def get(self, uuid: str) -> str | None:
        return self[uuid] if uuid in self.rows else None


class ClientState(Struct):
    """Rows, links and checkpoints as Claude Code holds them in memory."""

    rows: dict[str, Row]
    parents: Parents
    original_parents: Parents
    """The links before a compaction rewrote any of them."""
    superseded: set[int]
    """Indexes of rows that a later row with the same uuid replaced."""
    last_row: str | None = None
    newest_row: str | None = None
    checkpoint: str | None = None
    checkpoint_explicit: bool = False
    """Whether the checkpoint is marked `explicit` and no row of the main conversation came after it."""
    ever_explicit: bool = False
    checkpoint_rewound: bool = False
    since_rewind: set[str] | None = None
    """New rows since the checkpoint, where that is marked as a rewind; None for any other checkpoint."""
    any_checkpoint: bool = False
    cleared: bool = False
    """Whether the user rewound to before the first prompt: the conversation is empty."""
    trailing_snapshots: int = 0
    preserved_tail: str | None = None
    """The uuid of the last message that the last compaction preserved."""
    dropped_before: int = -1
    """Position (in the order of `rows`) below which compaction removed the rows."""
    withdrawals: list[int] = []
    """For each explicit checkpoint that names no row (the user took back what was said), how many rows stand before it."""


def load_as_client(transcript: Transcript) -> ClientState:
    """Replay a transcript line by line as Claude Code loads it."""
    rows: dict[str, Row] = {}
    changed: dict[str, str | None] = {}
    links = Parents(rows, changed)
    state = ClientState(rows, links, links, set())
    bridged: dict[str, str | None] = {}
    unusable: dict[str, str | None] = {}
    newest = ""
    plain_boundary = _plain_boundary_to_cut_at(transcript)
    start = 0
    for stop, lines in sorted(_checkpoints_by_place(transcript).items()):
        newest = _take_each(state, transcript.rows[start:stop], bridged, unusable, newest, plain_boundary)
        for line in lines:
            _note_checkpoint(state, line)
        start = stop
    if unusable:
        _bridge_unusable(state, unusable)
    _apply_compaction(state)
    return state


def _take_each(
    state: ClientState,
    part: list[Row],
    bridged: dict[str, str | None],
    unusable: dict[str, str | None],
    newest: str,
    plain_boundary: int,
) -> str:
    rows, changed = state.rows, state.parents.changed
    untold: str | None = None  # the last of a run of ordinary rows for which `_note_talk` is still to be called
    for row in part:
        if not row.client_reads:
            continue
        kind = row.type
        uuid = row.uuid or ""  # all rows without a uuid share one key, as in Claude Code
        if (
            (kind == "assistant" or kind == "user")
            and row.usable
            and row.side is not True
            and state.since_rewind is None
            and uuid not in rows
        ):
            rows[uuid] = row
            if bridged and row.parent in bridged:
                changed[uuid] = bridged[row.parent]
            timestamp = row.timestamp
            if timestamp is not None and timestamp > newest:
                state.newest_row, newest = uuid, timestamp
            untold = uuid
        elif kind == "progress":
            bridged[uuid] = bridged.get(row.parent, row.parent) if row.parent else row.parent
        else:
            if untold is not None:
                _note_talk(state, untold)
                untold = None
            newest = _note_row(state, row, uuid, bridged, unusable, newest)
            if row.index == plain_boundary:
                _forget_before(state, uuid)
                bridged.clear()
    if untold is not None:
        _note_talk(state, untold)
    return newest


def _checkpoints_by_place(transcript: Transcript) -> dict[int, list[StateLine]]:
    """Return the checkpoints by the number of rows before them, with an item for the end of the file."""
    found: dict[int, list[StateLine]] = {len(transcript.rows): []}
    for line in transcript.states:
        if line.type == "last-prompt":
            found.setdefault(line.index, []).append(line)
    return found


def _note_row(
    state: ClientState,
    row: Row,
    uuid: str,
    bridged: dict[str, str | None],
    unusable: dict[str, str | None],
    newest: str,
) -> str:
    parent = row.parent
    is_bridged = parent is not None and parent in bridged
    if parent is not None and is_bridged:
        parent = bridged[parent]
    if not row.usable:
        if uuid not in state.rows:
            unusable[uuid] = parent
        return newest
    known = state.rows.get(uuid)
    if known is not None:
        state.superseded.add(known.index)
    state.rows[uuid] = row
    if is_bridged:
        state.parents.changed[uuid] = parent
    elif known is not None:
        state.parents.changed.pop(uuid, None)
    if row.type == "system" and row.subtype == "file_snapshot":
        state.trailing_snapshots += 1
    elif row.side is not True and not (row.type == "attachment" and row.detail == "fork_briefing"):
        if known is None and state.since_rewind is not None:
            state.since_rewind.add(uuid)
        state.last_row = uuid
        state.trailing_snapshots = 0
        if row.timestamp is not None and row.timestamp > newest:
            state.newest_row, newest = uuid, row.timestamp
        state.checkpoint_explicit = False
        state.cleared = False
    if row.type == "system" and row.is_boundary:
        state.checkpoint = None
        state.checkpoint_explicit = state.ever_explicit = state.checkpoint_rewound = False
    return newest


def _note_talk(state: ClientState, last: str) -> None:
    """Update the state after a run of new, ordinary rows that ends with the uuid `last`, as `_note_row` does for one row."""
    state.last_row = last
    state.trailing_snapshots = 0
    state.checkpoint_explicit = state.cleared = False


def _note_checkpoint(state: ClientState, line: StateLine) -> None:
    leaf = line.leaf
    if leaf is UNSET:
        return
    state.any_checkpoint = True
    if leaf:
        same = leaf == state.checkpoint
        state.checkpoint_explicit = line.explicit or (state.checkpoint_explicit and same)
        state.ever_explicit = line.explicit or (state.ever_explicit and same)
        state.checkpoint_rewound = line.rewound or (state.checkpoint_rewound and same)
        state.since_rewind = set() if line.rewound else None
        state.checkpoint = str(leaf)
        state.cleared = False
        if line.explicit and str(leaf).strip("0-") == "":
            state.withdrawals.append(line.index)
    elif leaf is None and line.explicit:
        state.cleared = True
        state.withdrawals.append(line.index)
        state.checkpoint = None
        state.checkpoint_explicit = state.ever_explicit = state.checkpoint_rewound = False


def _plain_boundary_to_cut_at(transcript: Transcript) -> int:
    """Return the index of the last boundary without preserved messages; -1 in a file too small to be cut there."""
    if transcript.size <= LARGE_FILE:
        return -1
    for row in reversed(transcript.rows):
        if row.type == "system" and row.is_boundary and row.client_reads and not preserves(row.compact):
            return row.index
    return -1


def preserves(metadata: Any) -> bool:
    """Return whether a compaction preserved messages, by its `compactMetadata`."""
    return isinstance(metadata, dict) and bool(metadata.get("preservedMessages") or metadata.get("preservedSegment"))


def _forget_before(state: ClientState, boundary: str) -> None:
    row = state.rows[boundary]
    parent = state.parents[boundary]
    state.rows.clear()
    state.parents.changed.clear()
    state.rows[boundary] = row
    state.parents.changed[boundary] = parent


def _bridge_unusable(state: ClientState, unusable: dict[str, str | None]) -> None:
    """Link rows whose parent has no usable content to the closest usable ancestor instead."""
    ends = shorten({uuid: parent for uuid, parent in unusable.items() if uuid not in state.rows})
    for uuid in state.rows:
        parent = state.parents[uuid]
        if parent is not None and parent in ends:
            state.parents.changed[uuid] = ends[parent]


def shorten(links: dict[str, str | None]) -> dict[str, str | None]:
    """Map each key to the first name on its path of links that is not itself a key; to None where the path is a circle.

    Linear in the number of links.
    """
    ends: dict[str, str | None] = {}
    for start in links:
        path: list[str] = []
        step: str | None = start
        while step is not None and step in links and step not in ends:
            ends[step] = None  # ends a circle
            path.append(step)
            step = links[step]
        end = ends[step] if step is not None and step in ends else step
        for name in path:
            ends[name] = end
    return ends


def _apply_compaction(state: ClientState) -> None:
    """Link the preserved messages of the last compaction below its anchor; remove all other rows before the boundary."""
    metadata: dict[str, Any] | None = None
    preserving = last = -1
    for place, row in enumerate(state.rows.values()):
        if row.type == "system" and row.is_boundary:
            last = place
            if preserves(row.compact):
                metadata, preserving = row.compact, place
    if metadata is None:
        return
    kept: list[str] = []
    anchor: str | None = None
    if preserving == last:
        found = _preserved(metadata, state)
        if found is None:
            return
        anchor, kept = found
        if any(uuid not in state.rows for uuid in kept):
            return
    rows = dict(state.rows)
    parents = Parents(rows, dict(state.parents.changed))
    if kept:
        above = anchor
        for uuid in kept:
            parents.changed[uuid] = above
            above = uuid
        for uuid in state.rows:
            if parents[uuid] == anchor and uuid != kept[0]:
                parents.changed[uuid] = kept[-1]
    keep = set(kept)
    dropped = [uuid for place, uuid in enumerate(state.rows) if place < last and uuid not in keep]
    state.dropped_before = last
    for uuid in dropped:
        del rows[uuid]
    if kept and dropped:
        gone = set(dropped)
        for uuid, row in rows.items():
            if row.is_message and parents[uuid] in gone:
                parents.changed[uuid] = kept[-1]
    state.rows, state.parents = rows, parents
    state.preserved_tail = kept[-1] if kept else None


def _preserved(metadata: dict[str, Any], state: ClientState) -> tuple[str | None, list[str]] | None:
    """Return (anchor, uuids in order) of the preserved messages; None where the metadata does not lead to them.

    Claude Code writes a list of uuids since 2.1.325; before that it wrote a segment, given by its head and its tail.
    """
    listed = metadata.get("preservedMessages")
    if isinstance(listed, dict) and isinstance(listed.get("uuids"), list):
        anchor = listed.get("anchorUuid")
        return (anchor if isinstance(anchor, str) else None), [u for u in listed["uuids"] if isinstance(u, str)]
    segment = metadata.get("preservedSegment")
    if not isinstance(segment, dict):
        return None
    head, tail, anchor = segment.get("headUuid"), segment.get("tailUuid"), segment.get("anchorUuid")
    walked: list[str] = []
    seen: set[str] = set()
    step = tail if isinstance(tail, str) else None
    while step is not None and step in state.rows and step not in seen:
        seen.add(step)
        walked.append(step)
        if step == head:
            walked.reverse()
            return (anchor if isinstance(anchor, str) else None), walked
        step = state.parents[step]
    return None
