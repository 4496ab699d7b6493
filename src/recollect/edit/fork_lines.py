"""Plan the rows of a fork, and make the lines of its main file: these rows, and the state lines that belong to them.

The state lines are those that Claude Code itself copies when it forks.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ..errors import DamagedData, StoreBusy
from ..format.decode import parse_row_entries
from ..format.encode import checkpoint, custom_title, encode_line
from ..format.entries import REQUEST_LOG_TYPES
from ..format.file_history import DELTA_TYPE, SNAPSHOT_TYPE
from ..format.line import RawLine
from ..format.names import Names, RowNames, renamed_lines
from ..format.relink import (
    OUTPUTS_FOLDER,
    PLAIN_SYSTEM,
    backups_named,
    renamed_row,
    renamed_state,
    rows_named,
    subagent_name,
    with_new_outputs,
)
from ..format.row_edit import on_one_line
from ..format.times import LATEST, newest_of, to_iso
from ..graph.client_state import LARGE_FILE, preserves
from ..graph.fork_point import ForkPoint, sent_on_resume
from ..graph.rows import SPOKEN, Row, StateLine, Transcript, build_transcript
from ..graph.thread import find_thread
from ..journal.disk import Piece
from ..store.read import EntryBytes

# Plan the rows of a fork, their order and their names before a byte is written, and prove the plan by resuming it.
# Right for all clients since 2.0.77: the order of the file is the order of the chain (parallel calls and results are
# hung one below the other, rows that a compaction preserved stand below its summary), there is one leaf, and it has
# the newest time.

_TICK: Final = 0.001
_NAMES_ROOM: Final = 200
"""About how many bytes the names of where it came from add to a line."""


@dataclass(frozen=True)
class ForkPlan:
    """The rows of a fork in the order of its file, with the new name of each."""

    ending: ForkPoint
    rows: list[Row]
    uuids: Sequence[str]
    parents: Sequence[str | None]
    special: dict[int, RowNames]
    """Of rows whose lines name more than their own place, or get a time: all that changes. Most rows have none."""
    checkpoint: bool = False
    """Whether Claude Code would end the conversation elsewhere if it were not told."""

    @property
    def leaf(self) -> str:
        """Return the new uuid of the message on which the fork ends."""
        last = range(len(self.rows) - 1, -1, -1)
        return self.uuids[next(place for place in last if self.rows[place] is self.ending.leaf)]

    def names_of(self, place: int) -> RowNames:
        row = self.rows[place]
        return self.special.get(place) or RowNames(
            row.uuid, self.uuids[place], row.parent, self.parents[place], row.session_id, row.source_assistant
        )


def plan_rows(
    transcript: Transcript, ending: ForkPoint, names: Names, subagent_rows: list[Row], read: Callable[[Row], bytes]
) -> ForkPlan:
    """Plan the rows of a fork. `read` returns the bytes of a row's entry."""
    bare = msgspec.structs.replace(ending, before=ending.before[-1:])
    for wanted in (ending, bare) if len(ending.before) > 1 else (ending,):
        plan = _planned(transcript, wanted, names, subagent_rows)
        meant = [uuid_of(row, names) for row in wanted.sent]
        made = _made(transcript, plan, names, read)
        for needed in (False, True):
            plan = dataclasses.replace(plan, checkpoint=needed)
            made.states = [_checkpoint(plan)] if needed else []
            if [row.uuid for row in sent_on_resume(made)] == meant and (meant or find_thread(made).found):
                return plan
        # What was summarised is in the way where rows of one response, or with one name, stand on both sides.
    raise DamagedData(
        "this conversation cannot be forked so that Claude Code would read it the same",
        hint="repair the session first, or fork it at another message", slug="fork-differs",
    )  # fmt: skip


def uuid_of(row: Row, names: Names) -> str:
    """Return the new uuid of a row. A row without one gets one, so that others can have it as their parent."""
    if row.uuid:
        return names.row(row.uuid)
    return Names(names.source, names.session_id).row(f"{row.line}:{row.offset}")


def _planned(transcript: Transcript, ending: ForkPoint, names: Names, subagent_rows: list[Row]) -> ForkPlan:
    """Return the conversation, the parent of each row being the row before it, with the rows of subagents among them."""
    chain = [*ending.before, *ending.live]
    olds = [row.uuid for row in chain if row.uuid]
    uuids = names.rows(olds) if len(olds) == len(chain) else [uuid_of(row, names) for row in chain]
    parents: list[str | None] = [None, *uuids[:-1]]
    special = _special(transcript, ending, chain, uuids, parents)
    if not subagent_rows:
        return ForkPlan(ending, chain, uuids, parents, special)
    return _with_subagent_rows(ForkPlan(ending, chain, uuids, parents, special), names, subagent_rows)


def _special(
    transcript: Transcript, ending: ForkPoint, chain: list[Row], uuids: Sequence[str], parents: list[str | None]
) -> dict[int, RowNames]:
    """Return the places of rows of which more changes than their names. Boundaries have no parent, only a logical one."""
    times = _new_times(chain, ending.leaf, transcript.first_time or 0.0)
    found: dict[int, RowNames] = {}
    boundary = ending.boundary
    odd = [place for place, row in enumerate(chain) if row.type == "system" or not (row.has_parent_field and row.uuid)]
    for place in sorted({*times, *[place for place in odd if not _is_plain(chain[place])]}):
        row, above, logical = chain[place], parents[place], None
        if row.is_boundary:
            parents[place], above, logical = None, None, above
        found[place] = RowNames(
            row.uuid, uuids[place], row.parent, above, row.session_id, row.source_assistant, times.get(place),
            logical, tuple(ending.preserved) if row is boundary else None,
        )  # fmt: skip
    return found


def _is_plain(row: Row) -> bool:
    """Whether a row's line names no rows but its parent and the call it answers."""
    if row.type == "system" and not (row.subtype in PLAIN_SYSTEM and row.logical_parent is None):
        return False
    return row.has_parent_field and bool(row.uuid)


def _new_times(chain: list[Row], leaf: Row | None, start: float) -> dict[int, str | None]:
    """Return a time for each row without one, and for the leaf if it is not the newest: 2.0.77 finds the leaf by its time."""
    end = next((place for place in range(len(chain) - 1, -1, -1) if chain[place] is leaf), len(chain))
    newest, later = (newest_of([row.timestamp for row in part]) for part in (chain[:end], chain[end:]))
    if newest is not None and later is not None and max(newest, later) <= LATEST:
        moment = chain[end].time
        return {end: to_iso(newest + _TICK)} if moment is not None and moment <= newest else {}
    times: dict[int, str | None] = {}
    newest = None
    for place, row in enumerate(chain):
        moment, is_leaf = row.time, row is leaf
        if moment is not None and moment > LATEST:
            moment = None
        if moment is None or (is_leaf and newest is not None and moment <= newest):
            moment = (start if newest is None else newest) + (_TICK if is_leaf else 0.0)
            times[place] = to_iso(moment)
        if newest is None or moment > newest:
            newest = moment
    return times


def _with_subagent_rows(plan: ForkPlan, names: Names, subagent_rows: list[Row]) -> ForkPlan:
    rows: list[Row] = []
    uuids: list[str] = []
    parents: list[str | None] = []
    special: dict[int, RowNames] = {}
    beside = iter(subagent_rows)
    following = next(beside, None)

    def add(row: Row, uuid: str, parent: str | None, line: RowNames | None) -> None:
        if line is not None:
            special[len(rows)] = line
        rows.append(row)
        uuids.append(uuid)
        parents.append(parent)

    def add_subagent_row(row: Row) -> None:
        uuid, parent = uuid_of(row, names), None if row.parent is None else names.row(row.parent)
        line = RowNames(row.uuid, uuid, row.parent, parent, row.session_id, row.source_assistant)
        add(row, uuid, parent, None if _is_plain(row) else line)

    for place, row in enumerate(plan.rows):
        while following is not None and following.index < row.index:
            add_subagent_row(following)
            following = next(beside, None)
        add(row, plan.uuids[place], plan.parents[place], plan.special.get(place))
    while following is not None:
        add_subagent_row(following)
        following = next(beside, None)
    return ForkPlan(plan.ending, rows, uuids, parents, special)


def _made(transcript: Transcript, plan: ForkPlan, names: Names, read: Callable[[Row], bytes]) -> Transcript:
    """Return the rows of the fork as a reader will find them. Lines that name other rows are renamed and decoded for this."""
    size = sum([row.length for row in plan.rows]) + len(plan.rows) * _NAMES_ROOM
    made: list[Row] = []
    for place in range(_first_that_counts(plan.rows, size), len(plan.rows)):
        row = plan.rows[place]
        if place in plan.special:
            renamed, _ = renamed_row(read(row), plan.special[place], names, plain=False)
            for copy in build_transcript(parse_row_entries([RawLine(renamed + b"\n", 0, 2)], []), []).rows:
                copy.index = len(made)
                made.append(copy)
        else:
            copy = msgspec.structs.replace(row, index=len(made), uuid=plan.uuids[place], parent=plan.parents[place])
            if row.source_assistant is not None:
                copy.source_assistant = names.row(row.source_assistant)
            made.append(copy)
    return transcript.with_rows(made, [], size)


def _first_that_counts(rows: list[Row], size: int) -> int:
    """Return the first row that Claude Code remembers: in a large file, the first after the last plain boundary."""
    if size > LARGE_FILE:
        for place in range(len(rows) - 1, -1, -1):
            if rows[place].is_boundary and not preserves(rows[place].compact):
                return place
    return 0


def _checkpoint(plan: ForkPlan) -> StateLine:
    return StateLine(len(plan.rows), 0, 0, 0, "last-prompt", leaf=plan.leaf, explicit=True)


PIECE: Final = 2 << 20
"""Bytes of rows that are renamed and handed on at once: with fewer, the thread that writes them gets in the way."""

ALONE: Final = 1 << 18
"""Smaller ones wait for those behind them."""

#: The last one counts: written once, at the end, where listings look for it.
LAST_COUNTS: Final = frozenset(
    {
        "tag", "mode", "permission-mode", "agent-color", "agent-setting", "relocated", "pr-link", "tools-used",
        "atis-latch", "isolation-latch", "repl-mode", "session-owner", "history-suppression", "dev-mods", "derived-from",
    }
)  # fmt: skip
#: Said of the session as it is now, not of the moment at which the fork ends.
_OF_THE_SESSION: Final = frozenset({"tag", "relocated", "session-owner", "history-suppression"})
#: Not taken along, as by Claude Code: checkpoints, bookkeeping and links of the other session; titles are written anew.
LEFT_BEHIND: Final = REQUEST_LOG_TYPES | {
    "last-prompt", "custom-title", "ai-title", "agent-name", "cost-state", "queue-operation", "worktree-state",
    "ended-by-model", "continued-in", "bridge-session", "observer-ref", "resume-head-vouch", "speculation-accept",
    "task-summary", "artifact-comment-monitor", "artifact-autoreact-ledger", "started", "result",
}  # fmt: skip
_FILE_HISTORY: Final = frozenset({SNAPSHOT_TYPE, DELTA_TYPE})
#: Damage after which a line, or part of it, is not there for Claude Code.
UNREADABLE: Final = frozenset(
    {
        "torn",
        "glued",
        "nul",
        "not-json",
        "not-object",
        "nonstandard-number",
        "control-character",
        "oversize",
        "several-lines-unread",
    }
)


_Part = range | int | StateLine
"""Plain rows that are renamed at once, by their places in the plan; a single one of the others; a state line."""


@dataclass
class Titles:
    """The title of the fork."""

    title: str
    subagent_name: bool = False
    """Whether Claude Code's display name follows the title."""


@dataclass
class ForkLines:
    """Makes the lines. The counts of what was written and left out are complete after the last line."""

    source: EntryBytes
    transcript: Transcript
    plan: ForkPlan
    names: Names
    titles: Titles
    with_file_history: bool = True
    rows: int = 0
    messages: int = 0
    states: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    backups: set[str] = field(default_factory=set)
    """Names of file backups that the lines speak of."""
    _room: bytearray = field(default_factory=bytearray)
    _held_from: int = 0
    _held_up_to: int = 0
    """What the room holds of the source."""

    def chunks(self) -> Iterator[Piece]:
        """Yield the bytes of the file in pieces."""
        parts: list[Piece] = []
        waiting = 0
        for piece in self._pieces():
            if len(piece) < ALONE:
                parts.append(piece)
                waiting += len(piece)
                if waiting < ALONE:
                    continue
                piece = b""
            yield b"".join(parts)
            parts.clear()
            waiting = 0
            yield from _cut(piece)
        yield b"".join(parts)
        yield b"".join(self._ending_lines())
        self._count_states()
        # What was read of a long session takes a while to be freed: now, while the last lines are still being written.
        del self.transcript, self.plan

    def _pieces(self) -> Iterator[Piece]:
        """Yield the rows, and the state lines where they stood among them, as one or more whole lines each."""
        for part in self._parts():
            if isinstance(part, StateLine):
                yield self._state(part)
            elif isinstance(part, int):
                yield self._one(part)
            else:
                lines = self._many(part)
                yield lines if lines is not None else b"".join(map(self._one, part))
        self._count_rows()

    def _parts(self) -> Iterator[_Part]:
        rows, place = self.plan.rows, 0
        for state in self._states():
            behind = place
            while behind < len(rows) and rows[behind].index < state.index:
                behind += 1
            yield from self._rows(place, behind)
            yield state
            place = behind
        yield from self._rows(place, len(rows))

    def _rows(self, start: int, stop: int) -> Iterator[_Part]:
        """Yield the rows from `start` to `stop` of the plan, as many at once as possible."""
        rows, special = self.plan.rows, self.plan.special
        while start < stop:
            behind, last = start, -1
            limit = rows[start].offset + PIECE
            while (
                behind < stop
                and behind not in special
                and last < (row := rows[behind]).offset
                and (last := row.offset + row.length) <= limit
            ):
                behind += 1
            if behind > start:
                yield from self._plain_rows(start, behind)
                start = behind
            else:
                yield start
                start += 1

    def _plain_rows(self, start: int, stop: int) -> Iterator[_Part]:
        """Yield plain rows that stand close to each other; those that name long outputs are yielded one by one."""
        alone: list[int] = []
        if self.names.outputs:
            block, base = self._block(start, stop)
            if OUTPUTS_FOLDER in block:
                alone = [place for place in range(start, stop) if self._leads_to_output(place, block, base)]
        for place in (*alone, stop):
            if start < place:
                yield range(start, place)
            if place < stop:
                yield place
            start = place + 1

    def _many(self, part: range) -> bytes | None:
        plan, places = self.plan, slice(part.start, part.stop)
        block, base = self._block(part.start, part.stop)
        return renamed_lines(block, base, plan.rows[places], plan.uuids[places], plan.parents[places], self.names)

    def _block(self, start: int, stop: int) -> tuple[bytearray, int]:
        """Return a buffer with the bytes of the source that hold these rows, and the offset of its first byte."""
        first, last = self.plan.rows[start], self.plan.rows[stop - 1]
        offset, length = first.offset, last.offset + last.length - first.offset
        if self._held_from <= offset and offset + length <= self._held_up_to:
            return self._room, self._held_from
        if len(self._room) < length:
            self._room = bytearray(length)
        self._held_from = self._held_up_to = offset
        if self.source.read_into(self._room, offset, length) < length:
            raise _changed_meanwhile()  # what stood in the room before is still there
        self._held_up_to = offset + length
        return self._room, offset

    def _leads_to_output(self, place: int, block: bytearray, base: int) -> bool:
        row = self.plan.rows[place]
        start = row.offset - base
        return bool(row.tool_results) and block.find(OUTPUTS_FOLDER, start, start + row.length) >= 0

    def _one(self, place: int) -> bytes:
        row = self.plan.rows[place]
        data = entry_bytes(self.source, row)
        if row.type == "user" and row.tool_results:
            data = with_new_outputs(data, self.names)
        plain = place not in self.plan.special
        return renamed_row(data, self.plan.names_of(place), self.names, plain=plain)[0] + b"\n"

    def _state(self, line: StateLine) -> bytes:
        self.states += 1
        return renamed_state(with_new_outputs(entry_bytes(self.source, line), self.names), self.names) + b"\n"

    def _states(self) -> Iterator[StateLine]:
        """Yield the state lines that keep their places among the rows."""
        kept = {row.uuid for row in self.plan.rows}
        for line in self.transcript.states:
            if line.type in LEFT_BEHIND or line.type in LAST_COUNTS:
                continue
            if line.type in _FILE_HISTORY:
                if self.with_file_history and self._is_about(line, kept):
                    self.backups |= backups_named(entry_bytes(self.source, line))
                    yield line
            elif line.type == "summary":
                if self._is_about(line, kept):
                    yield line
            elif line.index <= self.plan.ending.until + 1:
                yield line

    def _is_about(self, line: StateLine, kept: set[str | None]) -> bool:
        named = rows_named(entry_bytes(self.source, line))
        return bool(named) and named <= kept

    def _ending_lines(self) -> Iterator[bytes]:
        """Yield state lines of which only the last counts, the title, and a checkpoint if Claude Code needs one."""
        last: dict[str, StateLine] = {}
        for line in self.transcript.states:
            kind = line.type or ""
            if kind in LAST_COUNTS and (kind in _OF_THE_SESSION or line.index <= self.plan.ending.until + 1):
                last.pop(kind, None)
                last[kind] = line
        for line in last.values():
            yield self._state(line)
        session = self.names.session_id
        yield encode_line(custom_title(session, self.titles.title))
        if self.titles.subagent_name:
            yield encode_line(subagent_name(session, self.titles.title))
        if self.plan.checkpoint:
            yield encode_line(checkpoint(session, self.plan.leaf))

    def _count_rows(self) -> None:
        rows = self.plan.rows
        self.rows = len(rows)
        self.messages = sum([row.type in SPOKEN and row.side is not True for row in rows])
        kept = {row.index for row in rows}
        for row in [row for row in self.transcript.rows if row.index not in kept]:
            self.left_out["progress" if row.type == "progress" else "subagent_rows" if row.sidechain else "rows"] += 1

    def _count_states(self) -> None:
        log = sum(1 for line in self.transcript.states if line.type in REQUEST_LOG_TYPES)
        self.left_out["request_log"] = log
        self.left_out["state_lines"] = len(self.transcript.states) - log - self.states
        self.left_out["damaged_lines"] = len({item.line for item in self.transcript.damage if item.kind in UNREADABLE})


def entry_bytes(source: EntryBytes, item: Row | StateLine) -> bytes:
    """Return the bytes of one entry on one line, without the white space around it."""
    data = source.bytes_at(item.offset, item.length).strip()
    if data[:1] != b"{" or data[-1:] != b"}":
        raise _changed_meanwhile()
    return on_one_line(data) if b"\n" in data else data


def _changed_meanwhile() -> StoreBusy:
    return StoreBusy(
        "the session was changed while it was read", hint="nothing was done; try again", slug="changed-meanwhile"
    )


def _cut(data: Piece) -> Iterator[Piece]:
    for start in range(0, len(data), 4 * PIECE):
        yield data[start : start + 4 * PIECE]
