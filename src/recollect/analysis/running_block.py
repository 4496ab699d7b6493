"""The five-hour block that is running, without a look at every call that ever was.

A block begins where the one before has ended, so its start depends on all calls back to the last five hours without any. Blocks
begin and end with the hour: the hours in which calls were made are enough. They are looked for further and further back, until
such a pause comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from .blocks import HOUR, LENGTH

if TYPE_CHECKING:
    import apsw

_LOOK_BACK: Final = (24, 72, 216, 648, 1944, 1 << 40)
"""Hours that are looked at, the more as long as there is no pause in them; in the end all."""
_HOURS: Final = LENGTH // HOUR


class RunningBlock(NamedTuple):
    start: int

    @property
    def end(self) -> int:
        return self.start + LENGTH


def running_block(db: apsw.Connection, homes: Sequence[int], now: int) -> RunningBlock | None:
    """The block that a moment (microseconds) is in; None where none is running. `homes` are numbers of the catalogue."""
    this = now // HOUR
    for first in [this - back for back in _LOOK_BACK]:
        hours = _hours_since(db, homes, first)
        if not any(this - _HOURS < hour <= this for hour in hours):
            return None
        start = _chained(hours, this, first)
        if start is not None:
            found = RunningBlock(start * HOUR)
            return found if found.end > now else None
    return None


def _hours_since(db: apsw.Connection, homes: Sequence[int], first: int) -> set[int]:
    rows = db.execute(
        f"SELECT DISTINCT time / {HOUR} - (time < 0) FROM api_calls WHERE time >= ? AND file_id IN "
        f"(SELECT id FROM files WHERE home_id IN ({', '.join('?' * len(homes))}))",
        (max(first * HOUR, -(1 << 62)), *homes),
    )
    return {row[0] for row in rows}


def _chained(hours: Iterable[int], this: int, first: int) -> int | None:
    """The hour that the last block up to this one began with; None where there is no pause since the first hour."""
    start: int | None = None
    before = first - 1  # as if there had been a call just before
    for hour in sorted(hour for hour in hours if hour <= this):
        if hour - before >= _HOURS or (start is not None and hour >= start + _HOURS):
            start = hour
        before = hour
    return start
