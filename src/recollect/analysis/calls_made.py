"""Join tool calls with the responses that made them, so that the tool calls of a report match its cost.

A call that was copied into other files counts once, with the response that is counted. If the counted file has only a
`progress` line of a response, its calls are read from the subagent's own file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..index.api_calls.rows import ADVISOR
from ..index.catalogue.schema import shown_uuid
from .api_calls import ApiCall

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue


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
