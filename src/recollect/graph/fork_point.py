"""Find where a conversation can be left: the rows that a fork at a given row copies, and the parent for the next message.

**Fork.** A row of the thread ends the thread right there. For any other row (on an abandoned branch, before a compaction) the
file is resumed as it was when the row was written, by the rules of Claude Code.

**Append.** Claude Code must resume with the next message and with everything before it. In a sound file the parent is the end of
the conversation. Circles of parents, a uuid that occurs twice, or a checkpoint on a row on which Claude Code cannot end may hide
a message that is appended there. Each candidate is therefore tested before anything is written: the transcript is resumed
in memory with a trial message below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from ..format.times import to_iso
from .client_state import load_as_client, preserves
from .leaf import choose_leaf
from .parallel import put_back
from .request import rows_sent
from .rows import Row, StateLine, Transcript
from .thread import Thread, find_thread, walk_up

_TRIED: Final = "the message that is tried"
"""The uuid of the trial message. It is not a valid uuid, so no row of a file has it."""


class AppendPoint(NamedTuple):
    """The parent of the next message, and whether Claude Code would read the message there."""

    parent: str | None
    """The uuid of the parent row; None where the next message begins the conversation."""
    is_read: bool
    """Whether Claude Code would resume with the message and with every message that it resumes with now."""


def append_point(transcript: Transcript, moment: float) -> AppendPoint:
    """Return the first parent below which Claude Code would read a message written at `moment`.

    Without such a parent, return the first candidate (the end of the conversation) with `is_read` False.
    """
    thread = find_thread(transcript)
    tried: dict[str | None, None] = {}
    for parent in _places(transcript, thread):
        if parent not in tried:
            if _is_read(transcript, thread, parent, moment):
                return AppendPoint(parent, True)
            tried[parent] = None
    return AppendPoint(next(iter(tried)), False)


def _places(transcript: Transcript, thread: Thread) -> Iterator[str | None]:
    if thread.leaf is not None:
        yield last_row_to_append_to(thread)
        yield thread.leaf
        yield thread.chain[-1].uuid if thread.chain else None
        return
    if not thread.cleared:  # Claude Code cannot end on a row without a time, but a later message can hang on it
        state = load_as_client(transcript)
        for uuid in (state.checkpoint, state.last_row):
            if uuid is not None and uuid in state.rows and not state.rows[uuid].sidechain:
                yield uuid
    yield None


def last_row_to_append_to(thread: Thread) -> str | None:
    """Return the uuid of the last row of the thread that is the leaf or descends from it; None where the thread is empty.

    The last row of the thread may be the result of a parallel call, which Claude Code puts back behind the leaf although it
    does not descend from it. A message below such a result would not be found, because a checkpoint counts until a row
    that descends from the checkpoint's row follows.
    """
    if not thread.chain:
        return thread.leaf
    above = {row.uuid: row.parent for row in thread.chain}
    last = place = thread.chain[-1].uuid
    while place is not None and place != thread.leaf:
        place = above.pop(place, None)
    return last if place is not None else thread.leaf


def _is_read(transcript: Transcript, thread: Thread, parent: str | None, moment: float) -> bool:
    message = Row(len(transcript.rows), 0, 0, 0, "user", _TRIED, parent, to_iso(moment), False)
    after = find_thread(transcript.with_rows([*transcript.rows, message], transcript.states, transcript.size))
    if after.leaf != _TRIED:
        return False
    now = {row.index for row in after.chain}
    return all(row.index in now for row in thread.chain if row.is_message)


class ForkPoint(Struct):
    before: list[Row]
    """The rows that compactions summarised, oldest first; the last one is the boundary of the last compaction."""
    live: list[Row]
    """Rows since the last compaction, attachments and system rows among them, in the order of the conversation."""
    sent: list[Row]
    """The rows of `live` whose content is sent to the model."""
    until: int
    """Index of the last row in the file that belongs to the conversation at this point."""
    preserved: list[str] = []
    """Uuids of the rows of `live` that the last compaction preserved."""

    @property
    def boundary(self) -> Row | None:
        """The boundary of the last compaction."""
        return self.before[-1] if self.before else None

    @property
    def leaf(self) -> Row | None:
        """The user or assistant row on which the conversation ends."""
        return next((row for row in reversed(self.live) if row.is_message), None)


def fork_point_at_end(transcript: Transcript, thread: Thread) -> ForkPoint:
    """Return the fork point at the end of the thread."""
    before = _history(thread)
    return ForkPoint(before, thread.chain, thread.sent, len(transcript.rows) - 1, _preserved(transcript, before))


def fork_point_at(transcript: Transcript, thread: Thread, uuid: str, until: int | None = None) -> ForkPoint | None:
    """Return the conversation that ends on the row with this uuid; None where no message leads to it.

    `until` is the index of a later row up to which the file counts, for rows that accompany the last message.
    """
    by_uuid = {row.uuid: row for row in transcript.rows if row.uuid is not None and row.client_reads}
    row, is_before_boundary = _readable(by_uuid, by_uuid.get(uuid))
    if row is None:
        return None
    place = next((place for place, item in enumerate(thread.chain) if item.uuid == row.uuid), None)
    if place is not None and until is None and not is_before_boundary:
        live, later = thread.chain[: place + 1], {item.uuid for item in thread.chain[place + 1 :]}
        before = _history(thread)
        kept = _preserved(transcript, before)
        if not later.isdisjoint(
            kept
        ):  # preserved rows behind this end count as summarised: they are older than the compaction
            said = [item for item in thread.chain if item.uuid in later and item.uuid in kept]
            before = [*sorted([*before[:-1], *said], key=lambda item: item.index), before[-1]]
        end = max(item.index for item in live)
        found = ForkPoint(before, live, rows_sent(live), end, [uuid for uuid in kept if uuid not in later])
        return found if found.leaf is not None and not found.leaf.sidechain else None
    last = row.index if until is None else max(until, row.index)
    above = _ancestors(by_uuid, row)
    wanted = [item for item in transcript.rows if item.index <= last or item.uuid in above]
    ending = _end_on(transcript, wanted, row, last)
    if ending is None:  # a compaction on another branch removed the row
        wanted = [item for item in wanted if not item.is_boundary or item.uuid in above]
        ending = _end_on(transcript, wanted, row, last)
    return ending


def rewound(transcript: Transcript, uuid: str, size: int) -> Thread:
    """Return the thread after an explicit checkpoint on `uuid` at the end of the file, which then has `size` bytes."""
    checkpoint = StateLine(len(transcript.rows), 0, 0, 0, "last-prompt", leaf=uuid, explicit=True)
    return find_thread(transcript.with_rows(transcript.rows, [*transcript.states, checkpoint], size))


def ends_on(thread: Thread, row: Row) -> bool:
    """Return whether the thread ends on this row: a message must be the leaf, any other row must follow the leaf.

    Results of the leaf's calls may follow the leaf in the thread, because Claude Code puts them back.
    """
    if row.is_message:
        return thread.leaf is not None and thread.leaf == row.uuid
    uuids = [item.uuid for item in thread.chain]
    return row.uuid in uuids and thread.leaf in uuids and uuids.index(thread.leaf) < uuids.index(row.uuid)


def sent_on_resume(transcript: Transcript) -> list[Row]:
    """Return the rows that are sent to the model when this transcript is resumed.

    Faster than `find_thread`: it computes only what decides which rows are sent.
    """
    if any(preserves(row.compact) for row in transcript.rows if row.compact is not None):
        return find_thread(transcript).sent  # the compaction may have linked rows to any other row
    state = load_as_client(transcript)
    leaf = choose_leaf(state)
    if leaf.uuid is None:
        return []
    seen: set[str] = set()
    chain = put_back(state, walk_up(state, leaf.uuid, seen, {}), seen)
    boundaries = [place for place, row in enumerate(chain) if row.is_boundary]
    return rows_sent(chain[boundaries[-1] + 1 :] if boundaries else chain)


def _readable(by_uuid: dict[str, Row], row: Row | None) -> tuple[Row | None, bool]:
    """Return the row, or its closest ancestor that Claude Code holds in memory, and whether a boundary was passed.

    From a boundary the search goes on with the last row that it summarised. Behind a boundary the row is wanted as part of
    the conversation before the compaction, also where the compaction preserved it.
    """
    passed: set[str | None] = set()
    is_before_boundary = False
    while row is not None and row.uuid not in passed:
        passed.add(row.uuid)
        if row.is_boundary:
            row, is_before_boundary = by_uuid.get(row.logical_parent or ""), True
        elif not row.usable or row.type == "progress":
            row = by_uuid.get(row.parent or "")
        else:
            return row, is_before_boundary
    return None, False


def _ancestors(by_uuid: dict[str, Row], row: Row) -> set[str | None]:
    found: set[str | None] = set()
    step: Row | None = row
    while step is not None and step.uuid not in found:
        found.add(step.uuid)
        above = step.logical_parent if step.is_boundary and step.parent is None else step.parent
        step = by_uuid.get(above or "")
    return found


def _end_on(transcript: Transcript, rows: list[Row], end: Row, until: int) -> ForkPoint | None:
    """Resume a transcript of these rows alone, with an explicit checkpoint on the row `end`; None where it ends elsewhere."""
    copies = [msgspec.structs.replace(row, index=index) for index, row in enumerate(rows)]
    for copy in copies:
        if copy.uuid == end.uuid and copy.time is None:
            copy.timestamp = "1970-01-01T00:00:00.000Z"  # Claude Code does not end on a row without a time
    checkpoint = StateLine(len(copies), 0, 0, 0, "last-prompt", leaf=end.uuid, explicit=True)
    then = transcript.with_rows(copies, [checkpoint], size=0)
    thread = find_thread(then)
    if thread.leaf is None or (end.is_message and thread.leaf != end.uuid):
        return None

    def originals(found: list[Row]) -> list[Row]:
        return [rows[row.index] for row in found]

    before = _history(thread)
    return ForkPoint(
        originals(before), originals(thread.chain), originals(thread.sent), until, _preserved(then, before)
    )  # fmt: skip


def _history(thread: Thread) -> list[Row]:
    """Return the summarised rows without the preserved ones, with the last boundary moved to the end."""
    alive = {row.index for row in thread.chain}
    rows = [row for row in thread.summarised if row.index not in alive]
    last = next((place for place in range(len(rows) - 1, -1, -1) if rows[place].is_boundary), None)
    return rows if last is None else [*rows[:last], *rows[last + 1 :], rows[last]]


def _preserved(transcript: Transcript, before: list[Row]) -> list[str]:
    """Return the uuids of the rows that the last compaction preserved, in their order.

    The boundary holds a list of uuids since Claude Code 2.1.325; before that it holds a segment.
    """
    boundary = before[-1] if before else None
    if boundary is None or not preserves(boundary.compact):
        return []
    state = load_as_client(transcript)
    if state.preserved_tail is None:
        return []
    listed = boundary.compact.get("preservedMessages")
    if isinstance(listed, dict) and isinstance(listed.get("uuids"), list):
        return [uuid for uuid in listed["uuids"] if isinstance(uuid, str)]
    segment = boundary.compact.get("preservedSegment")
    head = segment.get("headUuid") if isinstance(segment, dict) else None
    found: dict[str, None] = {}
    step: str | None = state.preserved_tail
    while step is not None and step not in found:
        found[step] = None
        step = None if step == head else state.original_parents.get(step)
    return list(found)[::-1]
