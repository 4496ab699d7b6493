"""What a response cost, in whole micro-dollars, and of which parts.

A response is rounded once (half to even), when all its parts are added; its parts are cut so that they add up to that.
So every total is the sum of its responses, and every response the sum of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from .prices.book import FACTOR_UNIT, PriceBook, Tariff, price_book

if TYPE_CHECKING:
    from ..format.usage import Usage
    from ..index.api_calls.rows import CallRow

PARTS: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_searches")
UNIT: Final = 1_000_000 * FACTOR_UNIT
HALF: Final = UNIT // 2


def rounded(exact: int) -> int:
    """Whole micro-dollars; a half goes to the even side, so that many responses do not drift."""
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
        """What the model had to read: this is what long prompts are known by."""
        return self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read

    @property
    def tokens(self) -> int:
        return self.prompt + self.output


def micro_dollars(counts: Counts, tariff: Tariff, search: int) -> int:
    """The cost of a response."""
    rates = tariff.rates
    exact = (
        counts[0] * rates[0] + counts[1] * rates[1] + counts[2] * rates[2] + counts[3] * rates[3] + counts[4] * rates[4]
    )
    return rounded(exact) + counts[6] * search


def parts(counts: Counts, tariff: Tariff, search: int) -> tuple[int, ...]:
    """The same by part, in the order of `PARTS`; they add up to `micro_dollars`."""
    found = []
    exact = told = 0
    for amount, rate in zip(counts[:5], tariff.rates, strict=True):
        exact += amount * rate
        so_far = rounded(exact)
        found.append(so_far - told)
        told = so_far
    return (*found, counts.web_searches * search)


def without_cache(counts: Counts, tariff: Tariff, search: int) -> int:
    """What it would have cost had every token of the prompt been read anew."""
    return micro_dollars(
        counts._replace(input=counts.prompt, cache_write_5m=0, cache_write_1h=0, cache_read=0), tariff, search
    )


def dollars(micro: int | None, digits: int = 2) -> str:
    """``$1.23``; below a cent as many digits as say something."""
    if micro is None:
        return "?"
    sign, amount = ("-", -micro) if micro < 0 else ("", micro)
    if digits < 6 and 0 < amount < 10_000:
        digits = 4 if amount >= 100 else 6
    unit = 10 ** (6 - digits)
    whole, rest = divmod((amount + unit // 2) // unit, 10**digits)
    return f"{sign}${whole:,}.{rest:0{digits}d}"


def exact_dollars(micro: int) -> str:
    """All six digits."""
    return dollars(micro, 6)


#: Model, speed, tier and place.
_Kind = tuple[str, "str | None", "str | None", "str | None"]
#: From when to when rates hold, above which prompt the second ones do, and both.
_Spell = tuple[int, int, int, Tariff, Tariff]


class Pricing:
    """What calls cost by a price book: quick at many calls alike."""

    def __init__(self, book: PriceBook) -> None:
        self.version = book.version
        self._book = book
        self._spells: dict[_Kind, _Spell] = {}
        """The rates of the last call of each kind, and from when to when they hold."""

    def costs(self, calls: Iterable[CallRow]) -> list[int | None]:
        """Micro-dollars of each; None where the model has no price."""
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
            if rest >= HALF and (rest > HALF or whole & 1):  # as `rounded` does it, without the way there
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
    """The prices that the catalogue has calls with: those of their day, by the table that came with the package."""
    return Pricing(price_book())


def message_cost(book: PriceBook, model: str | None, seconds: float | None, usage: Usage) -> int | None:
    """What a message cost by the usage it tells; None where its model has no price."""
    counts = Counts(
        usage.input_tokens, usage.output_tokens, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read,
        usage.thinking, usage.web_searches,
    )  # fmt: skip
    when = None if seconds is None else round(seconds * 1_000_000)
    return cost_of(book, model or "", when, counts, usage.speed, usage.service_tier, usage.geo)[0]


def cost_of(
    book: PriceBook, model: str, time: int | None, counts: Counts, speed: str | None, tier: str | None, geo: str | None
) -> tuple[int | None, Tariff | None]:
    """Cost and tariff of a response; (None, None) where the model is not in the table."""
    tariff = book.tariff(model, time, counts.prompt, speed, tier, geo)
    return (None, None) if tariff is None else (micro_dollars(counts, tariff, book.search), tariff)
