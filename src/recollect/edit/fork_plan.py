"""Plan the rows of a fork, their order and their names before a byte is written, and prove the plan by resuming it.

Right for all versions since 2.0.77: the order of the file is the order of the chain (parallel calls and results are hung one
below the other, rows that a compaction preserved stand below its summary), there is one leaf, and it has the newest time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from ..errors import DamagedData
from ..format.decode import parse_row_entries
from ..format.line import RawLine
from ..format.names import Names, RowNames
from ..format.relink import PLAIN_SYSTEM, renamed_row
from ..format.times import LATEST, newest_of, to_iso
from ..graph.client_state import LARGE_FILE, preserves
from ..graph.fork_point import ForkPoint, sent_on_resume
from ..graph.rows import Row, StateLine, Transcript, build_transcript
from ..graph.thread import find_thread

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
        for checkpoint in (False, True):
            plan = dataclasses.replace(plan, checkpoint=checkpoint)
            made.states = [_checkpoint(plan)] if checkpoint else []
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
