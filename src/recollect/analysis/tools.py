"""Measure tool calls: number, failures, duration, size of results, and the tokens that the results cost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .api_calls import ApiCall
from .calls_made import calls_made
from .timing import quantile

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue

MINUTE = 60_000_000
LONGEST = 24 * 60 * MINUTE
_Given = tuple[int, str, int, bool]
"""A tool's result: line, tool, size, and whether its call is one of those selected."""


@dataclass(slots=True)
class ToolUse:
    """The calls of one tool."""

    calls: int = 0
    errors: int = 0
    unanswered: int = 0
    seconds: list[float] = field(default_factory=list)
    output_bytes: int = 0
    fed_back: int = 0
    """Prompt tokens that its results added: the prompt's growth between two calls, divided among the results by size."""

    def data(self) -> dict[str, Any]:
        answered = self.calls - self.unanswered
        return {
            "calls": self.calls, "errors": self.errors, "unanswered": self.unanswered,
            "error_rate": round(self.errors / answered, 4) if answered else None,
            "seconds_total": round(sum(self.seconds), 1), "seconds_p50": quantile(self.seconds, 0.5),
            "seconds_p95": quantile(self.seconds, 0.95), "output_bytes": self.output_bytes, "tokens_fed_back": self.fed_back,
        }  # fmt: skip


def tool_use(catalogue: Catalogue, found: Iterable[ApiCall]) -> dict[str, ToolUse]:
    """Return the tool calls that these responses made, by tool; a call copied into another file counts once."""
    found = list(found)
    by_file: dict[int, list[ApiCall]] = {}
    for item in found:
        by_file.setdefault(item.file_id, []).append(item)
    result: dict[str, ToolUse] = {}
    ours: set[tuple[int, str]] = set()
    made = calls_made(
        catalogue, found,
        "t.file_id, t.tool_use_id, t.name, t.started, t.ended, t.is_error, t.output_bytes, t.result_entry_id",
    )  # fmt: skip
    for _, (file_id, ident, name, started, ended, is_error, size, answer) in made:
        use = result.setdefault(name, ToolUse())
        use.calls += 1
        if answer is None:
            use.unanswered += 1
            continue
        ours.add((file_id, ident))
        use.errors += bool(is_error)
        use.output_bytes += size or 0
        if started is not None and ended is not None and 0 <= ended - started <= LONGEST:
            use.seconds.append((ended - started) / 1e6)
    for file_id, given in _given(catalogue, by_file, ours).items():
        _feed_back(by_file[file_id], given, result)
    return result


def _given(catalogue: Catalogue, files: Iterable[int], ours: set[tuple[int, str]]) -> dict[int, list[_Given]]:
    """Return the results of all tool calls, by file and in the order of their lines, since all made the prompt grow."""
    rows = catalogue.connection.execute(
        "SELECT t.file_id, r.line, t.name, t.output_bytes, t.tool_use_id FROM tool_calls t "
        "JOIN entries r ON r.id = t.result_entry_id WHERE t.name IS NOT NULL "
        f"AND t.file_id IN ({', '.join(map(str, files))})"
    )
    found: dict[int, list[_Given]] = {}
    for file_id, line, name, size, ident in rows:
        found.setdefault(file_id, []).append((line, name, size or 0, (file_id, ident) in ours))
    for given in found.values():
        given.sort()
    return found


def _feed_back(items: list[ApiCall], given: list[_Given], result: dict[str, ToolUse]) -> None:
    lines = [line for line, *_ in given]
    ordered = sorted((item for item in items if not item.message_id.endswith("#advisor")), key=lambda item: item.line)
    for before, after in pairwise(ordered):
        if before.subagent_id != after.subagent_id:
            continue
        between = given[bisect_right(lines, before.line) : bisect_right(lines, after.line)]
        growth = after.counts.prompt - before.counts.prompt - before.counts.output
        total = sum(size for _, _, size, _ in between)
        if growth > 0 and total:
            for _, name, size, is_ours in between:
                if is_ours:
                    result[name].fed_back += growth * size // total
