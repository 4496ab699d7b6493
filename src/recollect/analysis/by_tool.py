"""Usage by tool: a response that called tools is shared out among its calls, so that the sum stays what it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add
from typing import TYPE_CHECKING

from .cost import Counts
from .responses import Response

if TYPE_CHECKING:
    from ..index.catalogue import Catalogue
    from .prices.book import PriceBook

NO_TOOL = "(no tool)"


def tool_names(catalogue: Catalogue) -> dict[tuple[int, str], list[str]]:
    """The tools that each response called, by (file, message)."""
    rows = catalogue.connection.execute(
        "SELECT t.file_id, e.message_id, t.name FROM tool_calls t JOIN entries e ON e.id = t.entry_id "
        "WHERE t.name IS NOT NULL AND e.message_id IS NOT NULL ORDER BY t.file_id, e.line, t.tool_use_id"
    )
    found: dict[tuple[int, str], list[str]] = {}
    for file_id, message, name in rows:
        found.setdefault((file_id, message), []).append(name)
    return found


def tool_shares(catalogue: Catalogue, book: PriceBook) -> Callable[[Response], list[tuple[str, Counts, int | None]]]:
    """How a response is shared out: (tool, counts, cost) for each tool that it called, by how often it did."""
    named = tool_names(catalogue)

    def shares(item: Response) -> list[tuple[str, Counts, int | None]]:
        cost = item.cost(book)
        tools = named.get((item.file_id, item.message_id.removesuffix("#advisor")), [])
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


def _split(amount: int, count: int) -> list[int]:
    """An amount in equal parts; the first ones take what is left over."""
    part, rest = divmod(amount, count)
    return [part + (place < rest) for place in range(count)]
