"""The lines of a fork's main file, one after the other: the planned rows, and the state lines that belong to them.

What the client itself takes along when it forks decides about the state lines.
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
from ..format.relink import (
    Names,
    agent_name,
    backups_named,
    renamed_row,
    renamed_state,
    rows_named,
    with_new_outputs,
)
from ..graph.rows import Row, StateLine, Transcript
from .fork_plan import ForkPlan
from .read import EntryBytes

CHUNK: Final = 1 << 20

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

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the file, in pieces of about a megabyte."""
        parts: list[bytes] = []
        waiting = 0
        for line in self._lines():
            parts += (line, b"\n")
            waiting += len(line)
            if waiting >= CHUNK:
                yield from _cut(b"".join(parts))
                parts.clear()
                waiting = 0
        yield b"".join(parts)
        yield b"".join(self._ending_lines())
        self._count_left_out()

    def _lines(self) -> Iterator[bytes]:
        """The rows, and state lines where they stood among them."""
        states = self._states()
        following = next(states, None)
        for row, line, plain in self.plan.rows:
            while following is not None and following.index <= row.index:
                yield self._state(following)
                following = next(states, None)
            self.rows += 1
            if row.is_message and not row.sidechain:
                self.messages += 1
            data = entry_bytes(self.source, row)
            if row.type == "user" and row.tool_results:
                data = with_new_outputs(data, self.names)
            yield renamed_row(data, line, self.names, plain=plain)[0]
        while following is not None:
            yield self._state(following)
            following = next(states, None)

    def _state(self, line: StateLine) -> bytes:
        self.states += 1
        return renamed_state(with_new_outputs(entry_bytes(self.source, line), self.names), self.names)

    def _states(self) -> Iterator[StateLine]:
        """State lines that stay where they are among the rows."""
        kept = {item.row.uuid for item in self.plan.rows}
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
        """State of which the last line counts, the title, and a checkpoint where the client would go astray without."""
        last: dict[str, StateLine] = {}
        for line in self.transcript.states:
            kind = line.type or ""
            if kind in LAST_COUNTS and (kind in _OF_THE_SESSION or line.index <= self.plan.ending.until + 1):
                last.pop(kind, None)
                last[kind] = line
        for line in last.values():
            yield self._state(line) + b"\n"
        session = self.names.session_id
        yield encode_line(custom_title(session, self.titles.title))
        if self.titles.agent_name:
            yield encode_line(agent_name(session, self.titles.title))
        if self.plan.checkpoint:
            yield encode_line(checkpoint(session, self.plan.leaf))

    def _count_left_out(self) -> None:
        kept = {item.row.index for item in self.plan.rows}
        for row in self.transcript.rows:
            if row.index not in kept:
                self.left_out["progress" if row.type == "progress" else "agent_rows" if row.sidechain else "rows"] += 1
        log = sum(1 for line in self.transcript.states if line.type in REQUEST_LOG_TYPES)
        self.left_out["request_log"] = log
        self.left_out["state_lines"] = len(self.transcript.states) - log - self.states
        self.left_out["damaged_lines"] = len({item.line for item in self.transcript.damage if item.kind in UNREADABLE})


def entry_bytes(source: EntryBytes, item: Row | StateLine) -> bytes:
    """The bytes of one entry and nothing around it."""
    data = source.bytes_at(item.offset, item.length).strip()
    if data[:1] != b"{" or data[-1:] != b"}":
        raise StoreBusy(
            "the session was changed while it was read", hint="nothing was done; try again", slug="changed-meanwhile"
        )
    return data


def _cut(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), 4 * CHUNK):
        yield data[start : start + 4 * CHUNK]
