"""Count what a status line shows: the cost of the session, today and the current five-hour block, and the window.

A status line is printed again and again during work, so each call indexes only a part of what is new, the newest files first.
A sum that may be incomplete carries a mark until everything is indexed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from ..analysis.api_calls import api_calls, home_numbers, total_of
from ..analysis.blocks import running_block
from ..analysis.cost import Totals
from ..analysis.status_figures import StatusFigures, Sum

if TYPE_CHECKING:
    from ..analysis.api_calls import ApiCall
    from .usage import Ledger

__all__ = ["StatusFigures", "status_figures"]

# Microseconds. The calls of this time usually decide when the current block began.
_DAY: Final = 86_400_000_000


def status_figures(ledger: Ledger, session: str | None, most_bytes: Callable[[], int]) -> StatusFigures | None:
    """Index at most `most_bytes` bytes of what is new, and count. `session` is a whole session id.

    Returns None if the index turns out to be damaged: then it is deleted, so that the next status line has figures again.
    """
    from ..index.catalogue.catalogue import is_damage

    try:
        return _figures(ledger, session, most_bytes)
    except BaseException as problem:
        if not is_damage(problem):
            raise
        ledger.make_anew(problem)
        return None


def _figures(ledger: Ledger, session: str | None, most_bytes: Callable[[], int]) -> StatusFigures:
    lag = ledger.sync_some(most_bytes, session)
    now = time.time_ns() // 1000
    today = date.fromisoformat(ledger.zone.day(now))
    begin, end = (ledger.zone.start_of(day) for day in (today, today + timedelta(days=1)))
    numbers = home_numbers(ledger.catalogue, ledger.homes)
    block = running_block(ledger.catalogue.connection, numbers, now) if numbers else None
    since = begin if block is None else min(begin, block.start) if len(numbers) > 1 else block.start
    recent: list[ApiCall] = []
    if block is not None or len(numbers) > 1:
        recent = list(api_calls(ledger.catalogue, ledger.homes, since=since))
    if len(numbers) > 1:  # a call may be in several homes
        spent = total_of((item for item in recent if begin <= (item.time or 0) < end), ledger.book)
    else:
        spent = Totals()
        for totals in ledger.day_totals(numbers[0], begin, end).values() if numbers else ():
            spent.join(totals)
    found = StatusFigures(Sum(spent, lag.mark(begin)))
    items = [] if session is None else _calls_of(ledger, session)
    if items:
        from ..analysis.context import context_timelines

        found.session = Sum(total_of(items, ledger.book), lag.mark(0) if lag.of_session else "")
        for timeline in context_timelines(items, ledger.book):
            if timeline.window and not lag.of_session:
                found.context_percent = round(timeline.last * 100 / timeline.window)
    if block is not None:
        from ..analysis.blocks import find_blocks

        inside = [item for item in recent if block.start <= (item.time or 0) < block.end]
        for item in find_blocks(inside, ledger.book):
            found.block = Sum(item.totals, lag.mark(now - _DAY))
            found.block_left = item.end - now
            found.block_hourly = round(item.burn(now)[1])
    return found


def _calls_of(ledger: Ledger, session: str) -> list[ApiCall]:
    rows = ledger.catalogue.connection.execute("SELECT id FROM files WHERE session_id = ?", (session,))
    files = [row[0] for row in rows]
    calls = api_calls(ledger.catalogue, ledger.homes, files=files) if files else ()
    return [item for item in calls if item.session_id == session]
