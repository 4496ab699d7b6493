"""Which rows a fork has, in which order and under which names; settled before a byte is written, and proven by resuming them.

Right for all clients since 2.0.77: the order of the file is the order of the chain (parallel calls and results are hung one
below the other, rows that a compaction preserved stand below its summary), there is one leaf, and it has the newest time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from ..errors import DamagedData
from ..format.decode import parse_row_entries
from ..format.line import RawLine
from ..format.relink import PLAIN_SYSTEM, Names, RowNames, renamed_row
from ..format.times import to_iso
from ..graph.ending import Ending, sent_on_resume
from ..graph.rows import Row, StateLine, Transcript, build_transcript
from ..graph.thread import find_thread

_TICK: Final = 0.001
_LATEST: Final = 253_402_214_400.0
"""The last day of the year 9999: no later time could be written behind one."""
_NAMES_ROOM: Final = 200
"""About how many bytes the names of where it came from add to a line."""


class PlannedRow(NamedTuple):
    row: Row
    names: RowNames
    plain: bool
    """Whether its line names no rows but those in `names`."""


@dataclass(frozen=True)
class ForkPlan:
    ending: Ending
    rows: list[PlannedRow]
    """In the order of the file, rows of sub-agents inside it where they stood."""
    checkpoint: bool
    """Whether the client would end the conversation elsewhere if it were not told."""

    @property
    def leaf(self) -> str:
        """The new uuid of the message on which the fork ends."""
        return next(item.names.uuid for item in reversed(self.rows) if item.row is self.ending.leaf)


def plan_rows(
    transcript: Transcript, ending: Ending, names: Names, agent_rows: list[Row], read: Callable[[Row], bytes]
) -> ForkPlan:
    """Settle the rows of a fork. `read` gives the bytes of a row's entry."""
    bare = msgspec.structs.replace(ending, before=ending.before[-1:])
    for wanted in (ending, bare) if len(ending.before) > 1 else (ending,):
        rows = list(_in_order(transcript, wanted, names, agent_rows))
        meant = [uuid_of(row, names) for row in wanted.sent]
        made = _made(transcript, rows, names, read)
        for checkpoint in (False, True):
            plan = ForkPlan(wanted, rows, checkpoint)
            made.states = [_checkpoint(plan)] if checkpoint else []
            if [row.uuid for row in sent_on_resume(made)] == meant and (meant or find_thread(made).found):
                return plan
        # What was summarised is in the way where rows of one response, or with one name, stand on both sides.
    raise DamagedData(
        "this conversation cannot be forked so that the client would read it the same",
        hint="repair the session first, or fork it at another message", slug="fork-differs",
    )  # fmt: skip


def uuid_of(row: Row, names: Names) -> str:
    """A row's new uuid. One that has none gets one, or nothing could hang on it."""
    if row.uuid:
        return names.row(row.uuid)
    return Names(names.source, names.session_id).row(f"{row.line}:{row.offset}")


def _in_order(transcript: Transcript, ending: Ending, names: Names, agent_rows: list[Row]) -> Iterator[PlannedRow]:
    beside = iter(agent_rows)
    following = next(beside, None)
    for item in _Chain(transcript, ending, names).rows():
        while following is not None and following.index < item.row.index:
            yield _agent_row(following, names)
            following = next(beside, None)
        yield item
    while following is not None:
        yield _agent_row(following, names)
        following = next(beside, None)


def _agent_row(row: Row, names: Names) -> PlannedRow:
    parent = None if row.parent is None else names.row(row.parent)
    line = RowNames(row.uuid, uuid_of(row, names), row.parent, parent, row.session_id, row.source_assistant)
    return PlannedRow(row, line, _is_plain(row))


def _is_plain(row: Row) -> bool:
    if row.type == "system":
        return row.subtype in PLAIN_SYSTEM and row.logical_parent is None and row.has_parent_field
    return not row.is_compact_summary and row.has_parent_field


class _Chain:
    """The conversation, each row below the one before it."""

    def __init__(self, transcript: Transcript, ending: Ending, names: Names) -> None:
        self.ending = ending
        self.names = names
        self.start = transcript.first_time or 0.0
        self.previous: str | None = None
        self.newest: float | None = None

    def rows(self) -> Iterator[PlannedRow]:
        leaf, boundary = self.ending.leaf, self.ending.boundary
        for row in (*self.ending.before, *self.ending.live):
            new = uuid_of(row, self.names)
            above, self.previous = self.previous, new
            logical = None
            if row.is_boundary:
                above, logical = None, above
            line = RowNames(
                row.uuid, new, row.parent, above, row.session_id, row.source_assistant, self._new_time(row, row is leaf),
                logical, tuple(self.ending.preserved) if row is boundary else None,
            )  # fmt: skip
            yield PlannedRow(row, line, _is_plain(row))

    def _new_time(self, row: Row, is_leaf: bool) -> str | None:
        """A time for a row that has none, and for the leaf if it is not the newest: by that 2.0.77 finds it."""
        moment, newest = row.time, self.newest
        if moment is not None and moment > _LATEST:
            moment = None
        told = None
        if moment is None or (is_leaf and newest is not None and moment <= newest):
            moment = (self.start if newest is None else newest) + (_TICK if is_leaf else 0.0)
            told = to_iso(moment)
        if newest is None or moment > newest:
            self.newest = moment
        return told


def _made(transcript: Transcript, rows: list[PlannedRow], names: Names, read: Callable[[Row], bytes]) -> Transcript:
    """The fork's rows as a reader will find them. Lines that name other rows are renamed and read for this."""
    made: list[Row] = []
    size = 0
    for row, line, plain in rows:
        if plain:
            copy = msgspec.structs.replace(row, index=len(made), uuid=line.uuid, parent=line.parent)
            if line.source_assistant is not None:
                copy.source_assistant = names.row(line.source_assistant)
            if line.timestamp is not None:
                copy.timestamp = line.timestamp
            made.append(copy)
        else:
            renamed, _ = renamed_row(read(row), line, names, plain=False)
            for copy in build_transcript(parse_row_entries([RawLine(renamed + b"\n", 0, 2)], []), []).rows:
                copy.index = len(made)
                made.append(copy)
        size += row.length + _NAMES_ROOM
    return msgspec.structs.replace(transcript, rows=made, states=[], size=size)


def _checkpoint(plan: ForkPlan) -> StateLine:
    return StateLine(len(plan.rows), 0, 0, 0, "last-prompt", leaf=plan.leaf, explicit=True)
