"""Compute the cost of a response in whole micro-dollars, and of its parts.

A response is rounded once (half to even), after all its parts are added; the parts are rounded so that they add up to
that. So every total is the sum of its responses, and every response the sum of its parts.

`Totals` sums responses: counts, money, and caveats.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .prices.book import FACTOR_UNIT, PriceBook, Tariff, price_book

if TYPE_CHECKING:
    from ..format.usage import Usage
    from ..index.api_calls.rows import CallRow

PARTS: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_searches")
UNIT: Final = 1_000_000 * FACTOR_UNIT
HALF: Final = UNIT // 2


def rounded(exact: int) -> int:
    """Round to whole micro-dollars; a half goes to the even side, so that many responses do not drift."""
    whole, rest = divmod(exact, UNIT)
    return whole + 1 if rest > HALF or (rest == HALF and whole & 1) else whole


class Counts(NamedTuple):
    """Tokens and searches of one response."""

    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    thinking: int = 0
    web_searches: int = 0

    @property
    def prompt(self) -> int:
        """The tokens that the model had to read; they decide whether a prompt is charged as a long one."""
        return self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read

    @property
    def tokens(self) -> int:
        return self.prompt + self.output


def micro_dollars(counts: Counts, tariff: Tariff, search: int) -> int:
    """Return the cost of a response."""
    rates = tariff.rates
    exact = (
        counts[0] * rates[0] + counts[1] * rates[1] + counts[2] * rates[2] + counts[3] * rates[3] + counts[4] * rates[4]
    )
    return rounded(exact) + counts[6] * search


def parts(counts: Counts, tariff: Tariff, search: int) -> tuple[int, ...]:
    """Return the cost of each part, in the order of `PARTS`; the parts add up to `micro_dollars`."""
    found = []
    exact = given_out = 0
    for amount, rate in zip(counts[:5], tariff.rates, strict=True):
        exact += amount * rate
        so_far = rounded(exact)
        found.append(so_far - given_out)
        given_out = so_far
    return (*found, counts.web_searches * search)


def without_cache(counts: Counts, tariff: Tariff, search: int) -> int:
    """Return the cost if every token of the prompt had been plain input."""
    return micro_dollars(
        counts._replace(input=counts.prompt, cache_write_5m=0, cache_write_1h=0, cache_read=0), tariff, search
    )


def dollars(micro: int | None, digits: int = 2) -> str:
    """Format an amount as ``$1.23``; below a cent with as many digits as are significant."""
    if micro is None:
        return "?"
    sign, amount = ("-", -micro) if micro < 0 else ("", micro)
    if digits < 6 and 0 < amount < 10_000:
        digits = 4 if amount >= 100 else 6
    unit = 10 ** (6 - digits)
    whole, rest = divmod((amount + unit // 2) // unit, 10**digits)
    return f"{sign}${whole:,}.{rest:0{digits}d}"


def exact_dollars(micro: int) -> str:
    """Format an amount with all six digits."""
    return dollars(micro, 6)


#: Model, speed, tier and region (`geo`).
_Kind = tuple[str, "str | None", "str | None", "str | None"]
#: Start and end of the time in which rates apply, the prompt length above which the second rates apply, and both rates.
_Spell = tuple[int, int, int, Tariff, Tariff]


class Pricing:
    """Computes costs by a price book, fast for many similar calls."""

    def __init__(self, book: PriceBook) -> None:
        self.version = book.version
        self._book = book
        self._spells: dict[_Kind, _Spell] = {}
        """The rates of the last call of each kind, and the time in which they apply."""

    def costs(self, calls: Iterable[CallRow]) -> list[int | None]:
        """Return the micro-dollars of each call; None if the model has no price."""
        found: list[int | None] = []
        search = self._book.search
        last: _Kind | None = None
        low = high = bound = 0
        below: tuple[int, ...] = ()
        above: tuple[int, ...] = ()
        for call in calls:
            time = call.time
            kind = (call.model, call.speed, call.service_tier, call.geo)
            if kind != last or time is None or not low <= time < high:
                spell = self._spell(kind, time)
                if spell is None:
                    found.append(None)
                    continue
                last, (low, high, bound) = kind, spell[:3]
                below, above = spell[3].rates, spell[4].rates
            fresh, short, long, read = call.input, call.cache_write_5m, call.cache_write_1h, call.cache_read
            a, b, c, d, e = below if fresh + short + long + read <= bound else above
            whole, rest = divmod(fresh * a + call.output * b + short * c + long * d + read * e, UNIT)
            if rest >= HALF and (rest > HALF or whole & 1):  # `rounded`, inlined for speed
                whole += 1
            found.append(whole + call.web_searches * search)
        return found

    def _spell(self, kind: _Kind, time: int | None) -> _Spell | None:
        known = self._spells.get(kind)
        if known is not None and time is not None and known[0] <= time < known[1]:
            return known
        model, *terms = kind
        if time is not None:
            found = self._book.spell(model, time, *terms)
            if found is not None:
                self._spells[kind] = found
            return found
        bound = self._book.bound(model, terms[0])
        short, long = (self._book.tariff(model, None, prompt, *terms) for prompt in (0, bound + 1))
        return None if short is None or long is None else (0, 0, bound, short, long)


def usual_prices() -> Pricing:
    """Return the prices stored in the catalogue: those of each call's day, by the table that came with the package."""
    return Pricing(price_book())


def message_cost(book: PriceBook, model: str | None, seconds: float | None, usage: Usage) -> int | None:
    """Return the cost of a message by its recorded usage; None if its model has no price."""
    counts = Counts(
        usage.input_tokens, usage.output_tokens, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read,
        usage.thinking, usage.web_searches,
    )  # fmt: skip
    when = None if seconds is None else round(seconds * 1_000_000)
    return cost_of(book, model or "", when, counts, usage.speed, usage.service_tier, usage.geo)[0]


def cost_of(
    book: PriceBook, model: str, time: int | None, counts: Counts, speed: str | None, tier: str | None, geo: str | None
) -> tuple[int | None, Tariff | None]:
    """Return cost and tariff of a response; (None, None) if the model is not in the table."""
    tariff = book.tariff(model, time, counts.prompt, speed, tier, geo)
    return (None, None) if tariff is None else (micro_dollars(counts, tariff, book.search), tariff)


@dataclass(slots=True)
class Totals:
    """What some responses used together. Money is whole micro-dollars."""

    calls: int = 0
    counts: Counts = field(default_factory=Counts)
    cost: int = 0
    unpriced: int = 0
    """Calls of models that are not in the price table: their tokens count, their cost is not known."""
    lower_bounds: int = 0
    """Calls for which Claude Code wrote only a placeholder for the output: the sum is at least this."""
    odd: int = 0
    """Calls with counts that are missing or invalid (negative, text, absurdly large); such a count is taken as zero."""
    zoneless: int = 0
    """Calls whose time has no zone; it is taken as UTC."""
    copies: int = 0
    """How many further copies of these calls are in other files; they are not counted again."""

    def add(
        self, counts: Counts, cost: int | None, lower_bound: bool = False, odd: bool = False, zoneless: bool = False,
        copies: int = 0,
    ) -> None:  # fmt: skip
        self.calls += 1
        self.counts = Counts._make(map(add, self.counts, counts))
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost
        self.lower_bounds += lower_bound
        self.odd += odd
        self.zoneless += zoneless
        self.copies += copies

    def join(self, other: Totals) -> None:
        self.calls += other.calls
        self.counts = Counts._make(map(add, self.counts, other.counts))
        self.cost += other.cost
        self.unpriced += other.unpriced
        self.lower_bounds += other.lower_bounds
        self.odd += other.odd
        self.zoneless += other.zoneless
        self.copies += other.copies

    def data(self) -> dict[str, Any]:
        """Return the totals as a row of JSON."""
        counts = self.counts
        return {
            "calls": self.calls,
            "input": counts.input,
            "output": counts.output,
            "cache_write_5m": counts.cache_write_5m,
            "cache_write_1h": counts.cache_write_1h,
            "cache_read": counts.cache_read,
            "thinking": counts.thinking,
            "web_searches": counts.web_searches,
            "tokens": counts.tokens,
            "cost_micro_usd": self.cost,
            "unpriced_calls": self.unpriced,
            "lower_bound_calls": self.lower_bounds,
            "odd_calls": self.odd,
            "zoneless_calls": self.zoneless,
        }
