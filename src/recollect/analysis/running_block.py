"""The five-hour block that is running, without a look at every call that ever was.

A block begins where the one before has ended, so its start depends on all calls back to the last five hours without any. Blocks
begin and end with the hour: the hours in which calls were made are enough. They are looked for backwards, the newest files first,
until such a pause comes, or it is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..index.call_packs import times_of
from .blocks import HOUR, LENGTH

if TYPE_CHECKING:
    import apsw

_DAY: Final = 24
_LOOK_BACK: Final = (72, 216, 648, 1944)
"""Hours that are looked at where the last day had no such pause. Nobody works for the last of them without one."""
MOST_CALLS: Final = 50_000
"""So many are looked at beyond the last day: that takes about as long as starting the interpreter."""
_HOURS: Final = LENGTH // HOUR


class RunningBlock(NamedTuple):
    start: int
    certain: bool
    """Whether a pause was found, or the first call of all; else the block may have begun at another hour."""

    @property
    def end(self) -> int:
        return self.start + LENGTH


def running_block(db: apsw.Connection, homes: Sequence[int], now: int) -> RunningBlock | None:
    """The block that a moment (microseconds) is in; None where none is running. `homes` are numbers of the catalogue."""
    this = now // HOUR
    day = (this - _DAY) * HOUR
    hours: set[int] = set()
    for _, _, file_id in _packs(db, homes, "p.last >= ?", day):
        hours |= _hours_of(db, file_id)
    if not any(this - _HOURS < hour <= this for hour in hours):
        return None
    found = _chained(hours, this, this - _DAY)
    if not found.certain:
        found = _further_back(db, hours, this, _packs(db, homes, "p.last < ?", day)) or found
    return found if found.end > now else None


def _further_back(
    db: apsw.Connection, hours: set[int], this: int, packs: list[tuple[int, int, int]]
) -> RunningBlock | None:
    """The same by older calls, too, as many as may be looked at; None where that are none."""
    left, found = MOST_CALLS, None
    for first in [this - back for back in _LOOK_BACK]:
        while packs and packs[-1][0] >= first * HOUR:
            _, calls, file_id = packs.pop()
            left -= calls
            if left < 0:
                return found
            hours |= _hours_of(db, file_id)
        found = _chained(hours, this, first if packs else None)
        if found.certain:
            break
    return found


def _packs(db: apsw.Connection, homes: Sequence[int], which: str, value: int) -> list[tuple[int, int, int]]:
    """Time of the last call, number of calls, and file; the newest behind."""
    rows: Any = db.execute(
        "SELECT p.last, p.calls, p.file_id FROM call_packs p JOIN files f ON f.id = p.file_id "
        f"WHERE {which} AND f.home_id IN ({', '.join('?' * len(homes))}) ORDER BY p.last",
        (value, *homes),
    )
    return list(rows)


def _hours_of(db: apsw.Connection, file_id: int) -> set[int]:
    return {time // HOUR for time in times_of(db, file_id) if time is not None}


def _chained(hours: Iterable[int], this: int, first: int | None) -> RunningBlock:
    """The last block up to this hour, in which there is some. Hours before `first` are not all there; without it they are."""
    low = min(hours) if first is None else first
    certain = first is None
    start, before = low, low - 1  # as if there had been a call just before
    for hour in sorted(hour for hour in hours if low <= hour <= this):
        if hour - before >= _HOURS:
            certain = True
            start = hour
        elif before < low or hour >= start + _HOURS:
            start = hour
        before = hour
    return RunningBlock(start * HOUR, certain)
