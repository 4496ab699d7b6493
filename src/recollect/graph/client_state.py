"""What the client holds in memory after loading a transcript: rows by uuid, links rewritten, compaction applied.

Mirrors 2.1.326. A later copy of a uuid replaces the content and keeps the first copy's place. Progress rows and rows
without usable content are bridged: who hung on them hangs on their parent. After a compaction that preserved messages,
those are re-hung below its summary and everything else before the boundary is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET, Struct

from .rows import Row, StateLine, Transcript

LARGE_FILE = 5 << 20
"""From this size on the client drops all rows before the last plain boundary while it loads."""

MANY = 256
"""So many ordinary rows one after the other are taken at once."""
SOME = 4
"""So many of them, where only the newest matters."""


class Parents:
    """What each row hangs on: as the row says, but for those links that the client reads differently."""

    __slots__ = ("changed", "rows")

    def __init__(self, rows: dict[str, Row], changed: dict[str, str | None]) -> None:
        self.rows = rows
        self.changed = changed

    def __getitem__(self, uuid: str) -> str | None:
        return self.changed[uuid] if uuid in self.changed else self.rows[uuid].parent

    def get(self, uuid: str) -> str | None:
        return self[uuid] if uuid in self.rows else None


class ClientState(Struct):
    """Rows and links as the client sees them, and what it remembers of the checkpoints."""

    rows: dict[str, Row]
    parents: Parents
    original_parents: Parents
    """The links before compaction re-hung any of them."""
    superseded: set[int]
    """Indexes of rows of which a later copy exists."""
    last_row: str | None = None
    newest_row: str | None = None
    checkpoint: str | None = None
    checkpoint_explicit: bool = False
    """The checkpoint was set on purpose and no row came after it."""
    ever_explicit: bool = False
    checkpoint_rewound: bool = False
    since_rewind: set[str] | None = None
    """Rows stored since a checkpoint that says it was a rewind."""
    any_checkpoint: bool = False
    cleared: bool = False
    """Rewound to before the first prompt: the conversation is empty."""
    trailing_snapshots: int = 0
    preserved_tail: str | None = None
    dropped_before: int = -1
    """Index (in order of `rows`) below which compaction removed the rows."""
    in_order: list[Row] | None = None
    """All rows of the file, where every one of them is in `rows`: the one before another need not be looked for."""
    withdrawals: list[int] = []
    """How many rows stand before each checkpoint that names no row on purpose: what was said last is taken back."""


def load_as_client(transcript: Transcript) -> ClientState:
    """Replay a transcript line by line, as the client does."""
    rows: dict[str, Row] = {}
    changed: dict[str, str | None] = {}
    links = Parents(rows, changed)
    state = ClientState(rows, links, links, set())
    bridged: dict[str, str | None] = {}
    unusable: dict[str, str | None] = {}
    newest = ""
    plain_boundary = _plain_boundary_to_cut_at(transcript)
    # Rows before a boundary at which all are forgotten need not be taken, if none is a copy of another.
    forgotten = plain_boundary if plain_boundary >= MANY and transcript.has_no_copies else 0
    checkpoints = _checkpoints_by_place(transcript.states)
    for line in checkpoints.get(0, ()):
        _note_checkpoint(state, line)
    for start, stop, ordinary in _stretches(transcript, checkpoints, forgotten):
        if (
            ordinary
            and state.since_rewind is None
            and (stop <= forgotten or (not bridged and _take_all(state, transcript, start, stop)))
        ):
            newest = _note_newest(state, transcript.rows[start:stop], newest)
            _note_talk(state, transcript.rows[stop - 1].uuid or "")
        else:
            newest = _take_each(state, transcript.rows[start:stop], bridged, unusable, newest, plain_boundary)
        for line in checkpoints.get(stop, ()):
            _note_checkpoint(state, line)
    if unusable:
        _bridge_unusable(state, unusable)
    _apply_compaction(state)
    return state


def _stretches(transcript: Transcript, checkpoints: Iterable[int], forgotten: int) -> Iterator[tuple[int, int, bool]]:
    """The rows in parts (first, behind the last, all of them ordinary) that end wherever a checkpoint stands.

    Only many ordinary ones in a row are told apart: they can be taken at once. Of those that are forgotten, some will do.
    """
    # Before the row with that number (even), or the row itself (odd).
    marks = [2 * place for place in {*checkpoints, len(transcript.rows)}]
    marks += [2 * index + 1 for index in transcript.others]
    told = start = 0
    for mark in sorted(marks):
        place = mark // 2
        if place - start >= (MANY if place > forgotten else SOME):
            if told < start:
                yield told, start, False
            yield start, place, True
            told = place
        if mark % 2:
            start = place + 1
            continue
        if told < place:
            yield told, place, False
        told = start = place


def _take_all(state: ClientState, transcript: Transcript, start: int, stop: int) -> bool:
    """Ordinary rows at once; False, and nothing done, where any of them is a copy of another one or of one before."""
    if stop - start == len(transcript.rows):
        fresh = transcript.by_uuid
    else:
        fresh = {row.uuid: row for row in transcript.rows[start:stop] if row.uuid is not None}
    if len(fresh) < stop - start or (state.rows and not state.rows.keys().isdisjoint(fresh)):
        return False
    state.rows.update(fresh)
    if stop - start == len(transcript.rows):
        state.in_order = transcript.rows
    return True


def _note_newest(state: ClientState, rows: list[Row], newest: str) -> str:
    """The same as looking at one after the other: the first of those that are newer than all before them and behind them."""
    times = [row.timestamp or "" for row in rows]
    latest = max(times)
    if latest <= newest:
        return newest
    state.newest_row = rows[times.index(latest)].uuid
    return latest


def _take_each(
    state: ClientState,
    part: list[Row],
    bridged: dict[str, str | None],
    unusable: dict[str, str | None],
    newest: str,
    plain_boundary: int,
) -> str:
    rows, changed = state.rows, state.parents.changed
    untold: str | None = None  # the last row of a stretch of ordinary ones, of which the state has yet to hear
    for row in part:
        if not row.client_reads:
            continue
        kind = row.type
        uuid = row.uuid or ""  # all rows without a uuid share one place, as in the client
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


def _checkpoints_by_place(states: Sequence[StateLine]) -> dict[int, list[StateLine]]:
    found: dict[int, list[StateLine]] = {}
    for line in states:
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
    """What `_note_row` does, for a stretch of ordinary rows: messages of the main conversation that were not there before."""
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
    """Index of the last boundary without preserved messages, in a file large enough for the client to cut there."""
    if transcript.size <= LARGE_FILE:
        return -1
    for row in reversed(transcript.rows):
        if row.type == "system" and row.is_boundary and row.client_reads and not preserves(row.compact):
            return row.index
    return -1


def preserves(metadata: Any) -> bool:
    """Whether a compaction took messages along as they were."""
    return isinstance(metadata, dict) and bool(metadata.get("preservedMessages") or metadata.get("preservedSegment"))


def _forget_before(state: ClientState, boundary: str) -> None:
    row = state.rows[boundary]
    parent = state.parents[boundary]
    state.rows.clear()
    state.parents.changed.clear()
    state.rows[boundary] = row
    state.parents.changed[boundary] = parent


def _bridge_unusable(state: ClientState, unusable: dict[str, str | None]) -> None:
    """Rows whose parent had no usable content hang on that one's parent instead."""
    ends = shorten({uuid: parent for uuid, parent in unusable.items() if uuid not in state.rows})
    for uuid in state.rows:
        parent = state.parents[uuid]
        if parent is not None and parent in ends:
            state.parents.changed[uuid] = ends[parent]


def shorten(links: dict[str, str | None]) -> dict[str, str | None]:
    """For each name the first one on its way that has no link of its own; None where the way is a circle. Linear."""
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
    """Re-hang the preserved messages of the last compaction below its anchor; drop the rest before the boundary."""
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
    """(anchor, uuids in order) of the preserved messages: a list since 2.1.325, before that a segment by head and tail."""
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
