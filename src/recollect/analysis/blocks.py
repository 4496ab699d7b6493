"""Five-hour blocks, as subscriptions count them: a block begins with the hour of its first call and lasts five hours."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ..format.times import to_iso
from .prices.book import PriceBook
from .responses import Response
from .totals import Totals

HOUR: Final = 3_600_000_000
LENGTH: Final = 5 * HOUR
MINUTE: Final = 60_000_000


@dataclass(slots=True)
class Block:
    start: int
    first: int
    last: int
    totals: Totals = field(default_factory=Totals)

    @property
    def end(self) -> int:
        return self.start + LENGTH

    def is_active(self, now: int) -> bool:
        return self.start <= now < self.end

    def minutes(self, now: int | None = None) -> float:
        """From the first call to the last one; while the block runs, to now. At least one."""
        end = min(now, self.end) if now is not None and self.is_active(now) else self.last
        return max((end - self.first) / MINUTE, 1.0)

    def burn(self, now: int | None = None) -> tuple[float, float]:
        """Tokens a minute, and micro-dollars an hour."""
        minutes = self.minutes(now)
        return self.totals.counts.tokens / minutes, self.totals.cost / minutes * 60

    def projection(self, now: int) -> int:
        """The cost at the end of the block, if it goes on like this."""
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
    found: Iterable[Response], book: PriceBook, *, among: Container[tuple[int, int]] | None = None,
    since: int | None = None, until: int | None = None,
) -> list[Block]:  # fmt: skip
    """Blocks in order. Calls without a time belong to none.

    With `among` (files and numbers) the others only tell when blocks begin, and a block of nothing else is left out. `since`
    and `until` (microseconds) leave out blocks without a call in that time.
    """
    blocks: list[Block] = []
    touched: set[int] = set()
    start = end = -(1 << 62)
    low = since if since is not None else -(1 << 62)
    high = until if until is not None else 1 << 62
    timed = sorted(((item.time, item) for item in found if item.time is not None), key=lambda pair: pair[0])
    for time, item in timed:
        if time >= end:
            start = time // HOUR * HOUR
            end = start + LENGTH
        if among is not None and (item.file_id, item.number) not in among:
            continue
        if not blocks or blocks[-1].start != start:
            blocks.append(Block(start, time, time))
        if low <= time < high:
            touched.add(start)
        block = blocks[-1]
        block.last = time
        cost = item.cost(book)
        block.totals.add(item.counts, cost, *item.marks)
    return [block for block in blocks if block.start in touched]
