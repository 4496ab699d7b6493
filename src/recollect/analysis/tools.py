"""Measure tool calls: number, failures, duration, size of results, and the tokens that the results cost.

Tool calls are joined with the responses that made them, so that the tool calls of a report match its cost. A call that was copied
into other files counts once, with the response that is counted. If the counted file has only a `progress` line of a response,
its calls are read from the subagent's own file. In usage by tool, a response is divided among the tools it called, so that the
sum stays the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any

from ..format.entries import decode_loosely
from ..index.api_calls.rows import ADVISOR, PROGRESS
from ..index.catalogue.schema import shown_uuid
from .api_calls import ApiCall
from .cost import Counts
from .timing import quantile

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.reading_back import PlaceOf
    from .prices.book import PriceBook


def calls_made(
    catalogue: Catalogue, found: Iterable[ApiCall], columns: str, *, source: str = "tool_calls t",
    once: str = "t.tool_use_id", where: str = "t.name IS NOT NULL",
) -> Iterator[tuple[ApiCall, tuple[Any, ...]]]:  # fmt: skip
    """Yield each tool call of these responses with the requested columns. `once` is what copies of a call share."""
    makers: dict[str, ApiCall] = {}
    for item in found:
        if not item.flags & ADVISOR:
            makers.setdefault(item.answer, item)
    homes = sorted({item.home for item in makers.values()})
    rows = catalogue.connection.execute(
        f"SELECT coalesce(nullif(e.message_id, ''), nullif(e.request_id, '')), e.uuid, t.file_id, {once}, {columns} "
        f"FROM {source} JOIN entries e ON e.id = t.entry_id JOIN files f ON f.id = t.file_id "
        f"WHERE f.home_id IN (SELECT id FROM homes WHERE path IN ({', '.join('?' * len(homes))})) AND {where}",
        homes,
    )
    seen: set[str] = set()
    copies: list[tuple[ApiCall, str, tuple[Any, ...]]] = []
    for message, uuid, file_id, ident, *values in rows:
        maker = makers.get(message or f"row:{shown_uuid(uuid)}")
        if maker is None:
            continue
        if maker.file_id != file_id:
            copies.append((maker, ident, tuple(values)))
        elif ident not in seen:
            seen.add(ident)
            yield maker, tuple(values)
    for maker, ident, kept in copies:
        if ident not in seen:
            seen.add(ident)
            yield maker, kept


NO_TOOL = "(no tool)"
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def tool_shares(
    catalogue: Catalogue, found: Iterable[ApiCall], book: PriceBook, place_of: PlaceOf
) -> Callable[[ApiCall], list[tuple[str, Counts, int | None]]]:
    """Return a function that divides a response into (tool, counts, cost), in proportion to the calls of each tool."""
    named = _tool_names(catalogue, found, place_of)

    def shares(item: ApiCall) -> list[tuple[str, Counts, int | None]]:
        cost = item.cost(book)
        tools = named.get(item.answer, [])
        if len(tools) < 2:
            return [(tools[0] if tools else NO_TOOL, item.counts, cost)]
        amounts = zip(*(_split(count, len(tools)) for count in item.counts), strict=True)
        costs: Sequence[int | None] = [None] * len(tools) if cost is None else _split(cost, len(tools))
        found: dict[str, tuple[Counts, int | None]] = {}
        for tool, part, price in zip(tools, amounts, costs, strict=True):
            before, paid = found.get(tool, (Counts(), 0))
            whole = None if price is None or paid is None else paid + price
            found[tool] = Counts(*map(add, before, part)), whole
        return [(tool, *share) for tool, share in found.items()]

    return shares


def _tool_names(catalogue: Catalogue, found: Iterable[ApiCall], place_of: PlaceOf) -> dict[str, list[str]]:
    """Return the tools that each response called, in the order of their lines."""
    found = [
        item._replace(message_id=item.answer, flags=item.flags & ~ADVISOR) if item.flags & ADVISOR else item
        for item in found
    ]
    calls: dict[str, list[tuple[int, str, str]]] = {}
    for item, call in calls_made(catalogue, found, "e.line, t.tool_use_id, t.name"):
        calls.setdefault(item.answer, []).append(call)
    named = {key: [name for _, _, name in sorted(made)] for key, made in calls.items()}
    left = {item.file_id for item in found if item.flags & PROGRESS and item.answer not in named}
    if left:
        for key, tools in _named_in_progress(catalogue, left, place_of).items():
            named.setdefault(key, tools)
    return named


def _named_in_progress(catalogue: Catalogue, files: set[int], place_of: PlaceOf) -> dict[str, list[str]]:
    """Return tools called by subagents that only `progress` lines record (2.1.0 to 2.1.42).

    The catalogue does not hold these calls.
    """
    from ..index.catalogue.reading_back import EntryReader

    rows = catalogue.connection.execute(
        "SELECT file_id, offset, length FROM entries WHERE type = 'progress' "
        f"AND file_id IN ({', '.join(map(str, files))}) ORDER BY file_id, line"
    )
    calls: dict[str, dict[str, str]] = {}
    with EntryReader(place_of) as reader:
        for file_id, offset, length in rows:
            data = reader.bytes_at(file_id, offset, length)
            if b'tool_use"' in data:
                for key, ident, name in _calls_in(decode_loosely(data)):
                    calls.setdefault(key, {}).setdefault(ident, name)
    return {key: list(made.values()) for key, made in calls.items()}


def _calls_in(entry: Any) -> Iterator[tuple[str, str, str]]:
    """Yield message (or request), call and tool of the tool calls in a `progress` line."""
    inner = _inside(_inside(entry, "data"), "message")
    answer = _inside(inner, "message")
    blocks, key = answer.get("content"), answer.get("id") or inner.get("requestId")
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") in _CALLS and isinstance(key, str):
            ident, name = block.get("id"), block.get("name")
            if isinstance(ident, str) and isinstance(name, str):
                yield key, ident, name


def _inside(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _split(amount: int, count: int) -> list[int]:
    """Split an amount into equal parts; the first parts get the remainder."""
    part, rest = divmod(amount, count)
    return [part + (place < rest) for place in range(count)]


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
