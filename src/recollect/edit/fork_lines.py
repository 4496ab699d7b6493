"""Make the lines of a fork's main file: the planned rows, and the state lines that belong to them.

The state lines are those that Claude Code itself copies when it forks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..errors import StoreBusy
from ..format.encode import checkpoint, custom_title, encode_line
from ..format.entries import REQUEST_LOG_TYPES
from ..format.file_history import DELTA_TYPE, SNAPSHOT_TYPE
from ..format.names import Names, renamed_lines
from ..format.relink import (
    OUTPUTS_FOLDER,
    backups_named,
    renamed_row,
    renamed_state,
    rows_named,
    subagent_name,
    with_new_outputs,
)
from ..format.row_edit import on_one_line
from ..graph.rows import SPOKEN, Row, StateLine, Transcript
from ..journal.disk import Piece
from ..store.read import EntryBytes
from .fork_plan import ForkPlan

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
#: Not taken along, as by the client: checkpoints, bookkeeping and links of the other session; titles are written anew.
LEFT_BEHIND: Final = REQUEST_LOG_TYPES | {
    "last-prompt", "custom-title", "ai-title", "agent-name", "cost-state", "queue-operation", "worktree-state",
    "ended-by-model", "continued-in", "bridge-session", "observer-ref", "resume-head-vouch", "speculation-accept",
    "task-summary", "artifact-comment-monitor", "artifact-autoreact-ledger", "started", "result",
}  # fmt: skip
_FILE_HISTORY: Final = frozenset({SNAPSHOT_TYPE, DELTA_TYPE})
#: Damage after which a line, or part of it, is not there for the client.
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
    """Whether the client's display name follows the title."""


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
