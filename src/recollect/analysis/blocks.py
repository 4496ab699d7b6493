"""Five-hour blocks, as subscriptions count them: a block begins with the hour of its first call and lasts five hours."""

from __future__ import annotations

from collections.abc import Iterable
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


def find_blocks(found: Iterable[Response], book: PriceBook) -> list[Block]:
    """All blocks in order. Calls without a time belong to none."""
    blocks: list[Block] = []
    timed = sorted(((item.time, item) for item in found if item.time is not None), key=lambda pair: pair[0])
    for time, item in timed:
        if not blocks or time >= blocks[-1].end:
            blocks.append(Block(time // HOUR * HOUR, time, time))
        block = blocks[-1]
        block.last = time
        cost = item.cost(book)
        block.totals.add(item.counts, cost, *item.marks)
    return blocks
