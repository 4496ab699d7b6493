"""Usage by what became of it: still part of the conversation, on an abandoned branch, before a compaction, of a sub-agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .responses import Response

if TYPE_CHECKING:
    from ..index.catalogue import Catalogue


def status_test(catalogue: Catalogue, status: str) -> Callable[[Response], bool]:
    """Whether the first line of a response has a status. The statuses of the entries must be current."""
    rows = catalogue.connection.execute(
        "SELECT file_id, line FROM entries WHERE status = ? AND type IN ('assistant', 'progress')", (status,)
    )
    places = set(rows)
    if status == "agent":
        return lambda item: item.agent_id is not None or (item.file_id, item.line) in places
    return lambda item: (item.file_id, item.line) in places
