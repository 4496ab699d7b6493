"""Group calls into five-hour blocks, as subscriptions count them.

A block begins with the hour of its first call and lasts five hours.

The running block is found without reading every call. A block begins after the one before has ended, so its start depends on all
calls back to the last five hours without any. Blocks begin and end with the hour, so the hours in which calls were made are
enough. They are read further and further back, until such a pause is found.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..format.times import to_iso
from .api_calls import ApiCall, total_of
from .cost import Totals
from .prices.book import PriceBook

if TYPE_CHECKING:
    import apsw

HOUR: Final = 3_600_000_000
LENGTH: Final = 5 * HOUR
MINUTE: Final = 60_000_000


@dataclass(slots=True)
class Block:
    start: int
    first: int
    last: int
    totals: Totals

    @property
    def end(self) -> int:
        return self.start + LENGTH

    def is_active(self, now: int) -> bool:
        return self.start <= now < self.end

    def minutes(self, now: int | None = None) -> float:
        """Return the minutes from the first call to the last one, or to now while the block runs; at least one."""
        end = min(now, self.end) if now is not None and self.is_active(now) else self.last
        return max((end - self.first) / MINUTE, 1.0)

    def burn(self, now: int | None = None) -> tuple[float, float]:
        """Return the tokens per minute and the micro-dollars per hour."""
        minutes = self.minutes(now)
        return self.totals.counts.tokens / minutes, self.totals.cost / minutes * 60

    def projection(self, now: int) -> int:
        """Return the expected cost at the end of the block, at the current rate."""
        if not self.is_active(now):
            return self.totals.cost
        _, per_hour = self.burn(now)
        return self.totals.cost + round(per_hour * max(self.end - max(now, self.first), 0) / HOUR)

    def data(self, now: int) -> dict[str, Any]:
        tokens, money = self.burn(now)
        return {
            "start": to_iso(self.start / 1e6), "end": to_iso(self.end / 1e6), "first": to_iso(self.first / 1e6),
            "last": to_iso(self.last / 1e6), "active": self.is_active(now), **self.totals.data(),
            "tokens_per_minute": round(tokens, 1), "micro_usd_per_hour": round(money),
            "projected_micro_usd": self.projection(now),
        }  # fmt: skip


def find_blocks(
    found: Iterable[ApiCall], book: PriceBook, *, among: Container[tuple[int, int, int]] | None = None,
    since: int | None = None, until: int | None = None,
) -> list[Block]:  # fmt: skip
    """Return the blocks in order. Calls without a time belong to none.

    With `among` (file, line and part), all other calls only determine when blocks begin, and a block of nothing else is
    left out. `since` and `until` (microseconds) leave out blocks without a call in that time.
    """
    blocks: list[Block] = []
    low = since if since is not None else -(1 << 62)
    high = until if until is not None else 1 << 62
    for start, every in _grouped(found):
        items = [pair for pair in every if among is None or pair[1][:3] in among]
        if any(low <= time < high for time, _ in items):
            blocks.append(Block(start, items[0][0], items[-1][0], total_of((item for _, item in items), book)))
    return blocks


def follows_a_pause(times: Iterable[int], begin: int, since: int) -> bool:
    """Return whether the calls from `begin` on are enough to find the blocks with a call from `since` on.

    They are if they contain a pause as long as a block: a block that began earlier has then ended. Calls before `begin`
    are not known; there may have been one just before it.
    """
    before = begin
    for time in sorted(times):
        if time - before >= LENGTH:
            return True
        if time >= since:
            return False
        before = time
    return True


def _grouped(found: Iterable[ApiCall]) -> list[tuple[int, list[tuple[int, ApiCall]]]]:
    """Return the starts of blocks, each with its calls in order of time."""
    groups: list[tuple[int, list[tuple[int, ApiCall]]]] = []
    timed = sorted(((item.time, item) for item in found if item.time is not None), key=lambda pair: pair[0])
    for time, item in timed:
        if not groups or time >= groups[-1][0] + LENGTH:
            groups.append((time // HOUR * HOUR, []))
        groups[-1][1].append((time, item))
    return groups


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
