"""Join tool calls to their results, wherever in the session the results stand."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from .rows import Row


class ToolCall(Struct, gc=False):
    id: str
    name: str
    call: Row
    result: Row | None = None
    extra_results: list[Row] = []
    """Further rows with a result for this call."""

    @property
    def is_error(self) -> bool:
        return self.result is not None and self.id in self.result.failed

    @property
    def duration(self) -> float | None:
        """Seconds from call to result by their timestamps, never negative; None where a timestamp or the result is missing."""
        if self.result is None or self.result.time is None or self.call.time is None:
            return None
        return max(self.result.time - self.call.time, 0.0)


class ToolPairs(Struct):
    calls: list[ToolCall]
    orphan_results: list[tuple[str, Row]]
    """(call id, row) of results whose call is missing."""


def pair_tools(rows: Sequence[Row]) -> ToolPairs:
    """Return the calls in file order with their results. Of several rows with the same uuid only the last counts."""
    named = {row.uuid for row in rows if row.tool_uses or row.tool_results}
    unique: dict[object, Row] = {}
    if named:
        for row in rows:
            if row.uuid in named:
                unique[row.uuid if row.uuid is not None else (row.file, row.index)] = row
    calls: dict[str, ToolCall] = {}
    for row in unique.values():
        for ident, name in row.tool_uses:
            calls.setdefault(ident, ToolCall(ident, name, row))
    orphans: list[tuple[str, Row]] = []
    for row in unique.values():
        for ident in row.tool_results:
            found = calls.get(ident)
            if found is None:
                orphans.append((ident, row))
            elif found.result is None:
                found.result = row
            else:
                found.extra_results.append(row)
    return ToolPairs(list(calls.values()), orphans)
