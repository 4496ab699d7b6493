"""Find the five-hour block that is running, without reading every call.

A block begins after the one before has ended, so its start depends on all calls back to the last five hours without
any. Blocks begin and end with the hour, so the hours in which calls were made are enough. They are read further and
further back, until such a pause is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from .blocks import HOUR, LENGTH

if TYPE_CHECKING:
    import apsw

_LOOK_BACK: Final = (24, 72, 216, 648, 1944, 1 << 40)
"""How many hours back to read, more at each step until there is a pause in them; in the end all."""
_HOURS: Final = LENGTH // HOUR


class RunningBlock(NamedTuple):
    start: int

    @property
    def end(self) -> int:
        return self.start + LENGTH


def running_block(db: apsw.Connection, homes: Sequence[int], now: int) -> RunningBlock | None:
    """Return the block that contains a moment (microseconds); None if none is running.

    `homes` are numbers of homes in the catalogue.
    """
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
    """Return the hour with which the last block up to `this` began; None if there is no pause since `first`."""
    start: int | None = None
    before = first - 1  # assume a call just before
    for hour in sorted(hour for hour in hours if hour <= this):
        if hour - before >= _HOURS or (start is not None and hour >= start + _HOURS):
            start = hour
        before = hour
    return start
