"""One API call as one file records it: the row that indexing writes to a sink (see `store`), and the names of its flags."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

#: Bits of a call's `flags`.
LOWER_BOUND: Final = 1
ODD: Final = 2
PROGRESS: Final = 4
ADVISOR: Final = 8
COPIED: Final = 16
PARTIAL: Final = 32
"""No line of the call has both an input and an output count."""
ZONELESS: Final = 64

FOR_ALL: Final = LOWER_BOUND | PARTIAL
"""Flags that a call has only if every copy of it has them."""

#: The counts of a call, in the order of every tuple of counts.
COUNTS: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "thinking", "web_searches")


class CallRow(Struct, gc=False):
    """An API call in one file: its lines joined, with the largest of each count. Key: message, request and model."""

    message_id: str
    """The id of the API's message, with `#advisor` appended for an advisor's part of a response."""
    request_id: str
    model: str
    line: int
    """The first line of the call, from 1."""
    part: int
    """Number of the call among those that begin on this line, from 0. Line and part identify a call in its file."""
    time: int | None
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    thinking: int
    web_searches: int
    service_tier: str | None
    speed: str | None
    geo: str | None
    stop_reason: str | None
    subagent_id: str | None
    """None for the subagent to which the file belongs, and for the main conversation."""
    git_branch: str | None
    cwd: str | None
    session_id: str | None
    """The session that made the request, if a copied line names it (`requestSessionId`, since Claude Code 2.1.326)."""
    flags: int
    output_line: int
    """The line with the largest output."""

    @property
    def counts(self) -> tuple[int, ...]:
        return (
            self.input, self.output, self.cache_write_5m, self.cache_write_1h, self.cache_read, self.thinking,
            self.web_searches,
        )  # fmt: skip

    def join(self, later: CallRow) -> None:
        """Add later lines of this call."""
        if later.output > self.output:
            self.output_line = later.output_line
        for name in COUNTS:
            if (count := getattr(later, name)) > getattr(self, name):
                setattr(self, name, count)
        both = FOR_ALL | PROGRESS
        self.flags = self.flags & ~both | self.flags & later.flags & both | later.flags & ODD
        if later.stop_reason is not None:
            self.stop_reason = later.stop_reason
        for name in ("service_tier", "speed", "geo", "session_id"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(later, name))
        if self.time is None:
            self.time = later.time
            self.flags |= later.flags & ZONELESS
        self.model = self.model or later.model


def joined_in_file(rows: list[CallRow]) -> list[CallRow]:
    """Join rows of one file that belong to one call. Rows are in the order of the file's lines.

    A row without a model belongs to the first call of its message and request that has one.
    """
    named: dict[tuple[str, str], str] = {}
    for row in rows:
        if row.model:
            named.setdefault((row.message_id, row.request_id), row.model)
    found: dict[tuple[str, str, str], CallRow] = {}
    for row in rows:
        model = row.model or named.get((row.message_id, row.request_id), "")
        before = found.setdefault((row.message_id, row.request_id, model), row)
        if before is not row:
            before.join(row)
        before.model = model
    return list(found.values())
