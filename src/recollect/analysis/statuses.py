"""Classify calls: still in the conversation, on an abandoned branch, before a compaction, of a subagent, ...

Every call has exactly one status, so the calls of all statuses together are all calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..graph.thread import ABANDONED, BRIDGED, LIVE, PRECOMPACT, SUBAGENT, UNREACHABLE
from ..index.api_calls.rows import PROGRESS
from ..index.catalogue.schema import shown_uuid
from .api_calls import ApiCall

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue

_BEST_FIRST: Final = (LIVE, PRECOMPACT, ABANDONED, SUBAGENT, UNREACHABLE, BRIDGED)
"""A call has the best status of its lines: one of them may be an older copy that Claude Code skips."""
_Key = tuple[int, str | int]
"""A file, and a call or a line in it."""


def status_test(catalogue: Catalogue, status: str) -> Callable[[ApiCall], bool]:
    """Return a function that decides whether a response has a status. The statuses of the entries must be current."""
    best = _best_of_calls(catalogue)

    def fits(item: ApiCall) -> bool:
        if item.subagent_id is not None or item.flags & PROGRESS:  # progress lines record a subagent's calls
            return status == SUBAGENT
        found = best.get((item.file_id, item.answer), best.get((item.file_id, item.line)))
        # Lines that are not rows have no status: Claude Code does not treat them as rows, either.
        return status == (UNREACHABLE if found is None else _BEST_FIRST[found])

    return fits


def _best_of_calls(catalogue: Catalogue) -> dict[_Key, int]:
    """Return the index in `_BEST_FIRST` by call, and by line for calls that have no other key."""
    rank = {status: place for place, status in enumerate(_BEST_FIRST)}
    best: dict[_Key, int] = {}
    rows = catalogue.connection.execute(
        "SELECT file_id, line, coalesce(nullif(message_id, ''), nullif(request_id, '')), uuid, status FROM entries "
        "WHERE status IS NOT NULL AND type IN ('assistant', 'progress')"
    )
    for file_id, line, call, uuid, status in rows:
        place = rank[status]
        keys: tuple[_Key, ...] = ((file_id, call),) if call else ((file_id, f"row:{shown_uuid(uuid)}"), (file_id, line))
        for key in keys:
            if place < best.get(key, len(rank)):
                best[key] = place
    return best
