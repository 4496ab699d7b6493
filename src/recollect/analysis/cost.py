"""What a response cost, in whole micro-dollars, and of which parts.

A response is rounded once (half to even), when all its parts are added; its parts are cut so that they add up to that.
So every total is the sum of its responses, and every response the sum of its parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from .prices.book import FACTOR_UNIT, PriceBook, Tariff

if TYPE_CHECKING:
    from ..format.usage import Usage

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
