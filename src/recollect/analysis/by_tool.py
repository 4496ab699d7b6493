"""Compute usage by tool: a response is divided among the tools it called, so that the sum stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add
from typing import TYPE_CHECKING, Any

from ..format.entries import decode_loosely
from ..index.api_calls.rows import ADVISOR, PROGRESS
from .api_calls import ApiCall
from .calls_made import calls_made
from .cost import Counts

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.reading_back import PlaceOf
    from .prices.book import PriceBook

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
