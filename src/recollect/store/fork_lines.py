"""The lines of a fork's main file, one after the other: chosen rows in the order of the conversation, each below the one before.

Right for all clients since 2.0.77: the order of the file is the order of the chain (parallel calls and results are hung one
below the other, rows that a compaction preserved stand below its summary), there is one leaf, and it has the newest time.
What the client itself takes along when it forks decides about the state lines.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ..errors import DamagedData, StoreBusy
from ..format.decode import parse_row_entries
from ..format.encode import checkpoint, custom_title, encode_line
from ..format.entries import REQUEST_LOG_TYPES
from ..format.file_history import DELTA_TYPE, SNAPSHOT_TYPE
from ..format.line import RawLine
from ..format.relink import (
    Names,
    RowNames,
    agent_name,
    backups_named,
    renamed_row,
    renamed_state,
    rows_named,
    with_new_outputs,
)
from ..format.times import to_iso
from ..graph.ending import Ending, sent_on_resume
from ..graph.rows import Row, StateLine, Transcript, build_transcript
from .read import EntryBytes

CHUNK: Final = 1 << 20
_TICK: Final = 0.001
_LATEST: Final = 253_402_214_400.0
"""The last day of the year 9999: no later time could be written behind one."""

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
    {"torn", "glued", "nul", "not-json", "not-object", "nonstandard-number", "control-character", "oversize"}
)


@dataclass
class Titles:
    """What the fork is called."""

    title: str
    agent_name: bool = False
    """Whether the client's display name follows the title."""


@dataclass
class ForkLines:
    """Makes the lines. What was written and what was left out is known when the last one was taken."""

    source: EntryBytes
    transcript: Transcript
    ending: Ending
    names: Names
    titles: Titles
    agent_rows: list[Row]
    """Rows of sub-agents inside the main file that come along."""
    with_file_history: bool = True
    rows: int = 0
    messages: int = 0
    states: int = 0
    leaf: str | None = None
    left_out: Counter[str] = field(default_factory=Counter)
    backups: set[str] = field(default_factory=set)
    """Names of file backups that the lines speak of."""
    _made: list[Row] = field(default_factory=list)
    _made_states: list[StateLine] = field(default_factory=list)
    _size: int = 0
    _previous: str | None = None
    _newest: float | None = None

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the file, in pieces of about a megabyte."""
        parts: list[bytes] = []
        waiting = 0
        for line in self._lines():
            parts.append(line)
            waiting += len(line)
            if waiting >= CHUNK:
                yield from _cut(b"".join(parts))
                parts.clear()
                waiting = 0
        yield b"".join(parts)
        yield self._ending_lines()
        self._count_left_out()

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[bytes]:
        """Rows of the conversation; rows of sub-agents and state lines where they stood among them."""
        beside: Iterator[Row | StateLine] = heapq.merge(self._states(), self.agent_rows, key=lambda item: item.index)
        following = next(beside, None)
        for row, line in self._conversation():
            while following is not None and following.index <= row.index:
                yield from self._beside(following)
                following = next(beside, None)
            yield self._row(row, line)
        while following is not None:
            yield from self._beside(following)
            following = next(beside, None)

    def _conversation(self) -> Iterator[tuple[Row, RowNames]]:
        before, live = self.ending.before, self.ending.live
        leaf, boundary = self.ending.leaf, self.ending.boundary
        for row in [*before, *live]:
            preserved = tuple(self.ending.preserved) if row is boundary else None
            yield row, self._names_of(row, preserved, is_leaf=row is leaf)

    def _names_of(self, row: Row, preserved: tuple[str, ...] | None, *, is_leaf: bool) -> RowNames:
        new = self._uuid_of(row)
        above, self._previous = self._previous, new
        logical = None
        if row.is_boundary:
            above, logical = None, above
        return RowNames(
            row.uuid, new, row.parent, above, row.session_id, row.source_assistant,
            self._new_time(row, is_leaf), logical, preserved,
        )  # fmt: skip

    def _uuid_of(self, row: Row) -> str:
        """A row's new uuid. One that has none gets one, or nothing could hang on it."""
        if row.uuid:
            return self.names.row(row.uuid)
        return Names(self.names.source, self.names.session_id).row(f"{row.line}:{row.offset}")

    def _new_time(self, row: Row, is_leaf: bool) -> str | None:
        """A time for a row that has none, and for the leaf if it is not the newest: by that 2.0.77 finds it."""
        moment, newest = row.time, self._newest
        if moment is not None and moment > _LATEST:
            moment = None
        if moment is None or (is_leaf and newest is not None and moment <= newest):
            start = newest if newest is not None else self.transcript.first_time or 0.0
            moment = start + (_TICK if is_leaf else 0.0)
            told = to_iso(moment)
        else:
            told = None
        if newest is None or moment > newest:
            self._newest = moment
        return told

    def _row(self, row: Row, line: RowNames) -> bytes:
        data = self._bytes(row)
        if row.type == "user" and row.tool_results:
            data = with_new_outputs(data, self.names)
        self.rows += 1
        if row.is_message and not row.sidechain:
            self.messages += 1
            self.leaf = line.uuid
        plain = row.type != "system" and not row.is_compact_summary and row.has_parent_field
        renamed, only_names = renamed_row(data, line, self.names, plain=plain)
        if only_names:
            copy = msgspec.structs.replace(
                row, index=len(self._made), uuid=line.uuid, parent=line.parent, session_id=self.names.session_id
            )
            if line.source_assistant is not None:
                copy.source_assistant = self.names.row(line.source_assistant)
            self._made.append(copy)
            self._size += len(renamed) + 1
        else:
            self._note(renamed)
        return renamed + b"\n"

    def _bytes(self, item: Row | StateLine) -> bytes:
        data = self.source.bytes_at(item.offset, item.length).strip()
        if data[:1] != b"{" or data[-1:] != b"}":
            raise StoreBusy(
                "the session was changed while it was read", hint="nothing was done; try again",
                slug="changed-meanwhile",
            )  # fmt: skip
        return data

    # --- what stands beside the conversation --------------------------------------------------------------------------

    def _beside(self, item: Row | StateLine) -> Iterator[bytes]:
        if isinstance(item, Row):
            old = item.parent
            parent = None if old is None else self.names.row(old)
            line = RowNames(item.uuid, self._uuid_of(item), old, parent, item.session_id, item.source_assistant)
            yield self._row(item, line)
            return
        yield self._state(item)

    def _state(self, item: StateLine) -> bytes:
        self.states += 1
        data = renamed_state(with_new_outputs(self._bytes(item), self.names), self.names)
        self._note(data)
        return data + b"\n"

    def _states(self) -> Iterator[StateLine]:
        """State lines that stay where they are among the rows."""
        kept = {row.uuid for row in (*self.ending.before, *self.ending.live) if row.uuid is not None}
        for line in self.transcript.states:
            if line.type in LEFT_BEHIND or line.type in LAST_COUNTS:
                continue
            if line.type in _FILE_HISTORY:
                if self.with_file_history and self._is_about(line, kept):
                    self.backups |= backups_named(self._bytes(line))
                    yield line
            elif line.type == "summary":
                if self._is_about(line, kept):
                    yield line
            elif line.index <= self.ending.until + 1:
                yield line

    def _is_about(self, line: StateLine, kept: set[str]) -> bool:
        named = rows_named(self._bytes(line))
        return bool(named) and named <= kept

    def _ending_lines(self) -> bytes:
        """State of which the last line counts, the title, and a checkpoint where the client would go astray without."""
        last: dict[str, StateLine] = {}
        for line in self.transcript.states:
            kind = line.type or ""
            if kind in LAST_COUNTS and (kind in _OF_THE_SESSION or line.index <= self.ending.until + 1):
                last.pop(kind, None)
                last[kind] = line
        session = self.names.session_id
        lines = [self._state(line) for line in last.values()]
        lines.append(self._authored(custom_title(session, self.titles.title)))
        if self.titles.agent_name:
            lines.append(self._authored(agent_name(session, self.titles.title)))
        if not self._as_meant():
            lines.append(self._authored(checkpoint(session, self.leaf)))
            if not self._as_meant():
                raise DamagedData(
                    "this conversation cannot be forked so that the client would read it the same",
                    hint="repair the session first, or fork it at another message", slug="fork-differs",
                )  # fmt: skip
        return b"".join(lines)

    def _authored(self, entry: Mapping[str, object]) -> bytes:
        line = encode_line(entry)
        self._note(line[:-1])
        return line

    # --- what was written, as a reader finds it -----------------------------------------------------------------------

    def _note(self, data: bytes) -> None:
        found = build_transcript(parse_row_entries([RawLine(data + b"\n", self._size, 2)], []), [])
        for row in found.rows:
            row.index += len(self._made)
        for state in found.states:
            state.index += len(self._made)
        self._made += found.rows
        self._made_states += found.states
        self._size += len(data) + 1

    def _as_meant(self) -> bool:
        """Whether a resume of what was written sends what was meant."""
        made = msgspec.structs.replace(self.transcript, rows=self._made, states=self._made_states, size=self._size)
        return [row.uuid for row in sent_on_resume(made)] == [self._uuid_of(row) for row in self.ending.sent]

    def _count_left_out(self) -> None:
        kept = {row.index for row in (*self.ending.before, *self.ending.live, *self.agent_rows)}
        for row in self.transcript.rows:
            if row.index not in kept:
                self.left_out["progress" if row.type == "progress" else "agent_rows" if row.sidechain else "rows"] += 1
        log = sum(1 for line in self.transcript.states if line.type in REQUEST_LOG_TYPES)
        self.left_out["request_log"] = log
        self.left_out["state_lines"] = len(self.transcript.states) - log - self.states
        self.left_out["damaged_lines"] = len({item.line for item in self.transcript.damage if item.kind in UNREADABLE})


def _cut(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 4 * CHUNK):
        yield data[start : start + 4 * CHUNK]
