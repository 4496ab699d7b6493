"""Find the rates of a response: by model, day, length of the prompt, speed, region and tier.

The rules, each explicit:

- A price holds from midnight UTC of its first day. A response before a model's first day is priced as on that day; one
  without a time as today. Both are marked `assumed`.
- Long prompts: if a model has a second set of rates, *every* token of a response whose prompt (input, cache written
  and cache read together) is longer than the bound is charged at it. It is not a marginal rate.
- Fast mode has rates of its own. Region (`geo`) and tier (`service_tier`) multiply all token rates, searches never.
- A model that is not in the table has no price. It is named and counted, never taken as free.

Names of models are compared in one form (`plain_name`), as the API, Bedrock or Vertex write them, with and without a date.
"""

from __future__ import annotations

import json
import pkgutil
import re
from bisect import bisect_right
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

#: Bedrock: an ARN up to its last part, then any region.
_ARN: Final = re.compile(r"^arn:aws[a-z-]*:bedrock:[^/]*/")
_BEFORE: Final = re.compile(r"^(?:[a-z]{2,6}(?:-[a-z]+)?\.)?anthropic[./]")
_AFTER: Final = re.compile(
    r"(?:\[1m\]|(?<!claude)(?<!instant)-v\d+(?::\d+)?|:\d+k|[@-]\d{8}|-\d{4}-\d\d-\d\d|-latest)$"
)
_VERSION_FIRST: Final = re.compile(r"^claude-(?P<version>\d+(?:-\d+)?)-(?P<family>[a-z]+)$")
_NOUGHT: Final = re.compile(r"^(claude-(?:[a-z]+-)?\d+)-0$")
#: Minor versions of the first models, at the same price. Instant 1.2 has a name of its own.
_FIRST: Final = re.compile(r"^(claude-(?:instant-)?1)-(?:[013-9])$|^(claude-1)-2$")


@lru_cache(maxsize=512)
def plain_name(model: str) -> str:
    """Return ``claude-opus-4-5`` for ``us.anthropic.claude-opus-4-5-20251101-v1:0``; names of other models stay."""
    name = _BEFORE.sub("", _ARN.sub("", model.strip().lower()))
    before = None
    while before != name:
        before = name
        name = _AFTER.sub("", name)
    if not name.startswith("claude"):
        return model.strip()
    name = name.replace(".", "-").replace(":", "-").replace("claude-v", "claude-").replace("instant-v", "instant-")
    found = _VERSION_FIRST.match(name)
    if found is not None:
        name = f"claude-{found['family']}-{found['version']}"
    return _FIRST.sub(r"\1\2", _NOUGHT.sub(r"\1", name))


def short_name(model: str) -> str:
    """Return a model's name for a narrow column: ``opus-4-5``."""
    return plain_name(model).removeprefix("claude-")


TABLE: Final = "table.json"
FACTOR_UNIT: Final = 10_000
"""Rates carry two factors in hundredths, so that they stay whole numbers."""
NO_BOUND: Final = 1 << 62
"""A length that no prompt reaches, for models without rates for long prompts."""
_MICRO: Final = 1_000_000


class Tariff(NamedTuple):
    """The rates of a response, and where they come from."""

    rates: tuple[int, int, int, int, int]
    """Input, output, 5-minute write, 1-hour write, read: micro-dollars per million tokens, times `FACTOR_UNIT`."""
    model: str
    since: str
    rule: str
    """In words: standard, long prompt, fast, and the factors."""
    source: str
    assumed: str
    """What had to be assumed, else empty."""

    def dollars(self) -> tuple[str, ...]:
        """Return the five rates as dollars per million tokens, exact."""
        return tuple(_exact(rate, FACTOR_UNIT * _MICRO) for rate in self.rates)


class _Period(NamedTuple):
    start: int
    """Microseconds since 1970."""
    since: str
    rates: tuple[int, ...]
    above: int
    long_rates: tuple[int, ...]
    source: str


class PriceBook:
    """The price table, indexed for lookups."""

    def __init__(self, table: dict[str, Any], *, at: int | None = None) -> None:
        self.version: str = table["version"]
        self.source: str = table["source"]
        self.search: int = table["search"]
        """Micro-dollars for a web search."""
        self.at = at
        """Price every call as if it happened at this moment (microseconds); None for its own time."""
        self._factors: dict[tuple[str, str], int] = {
            (field, value): percent for field, value, percent, _ in table["factors"]
        }
        self._models: dict[str, list[_Period]] = {}
        self._fast: dict[str, list[_Period]] = {}
        self.windows: dict[str, int] = {}
        for name, model in table["models"].items():
            self.windows[name] = model["window"]
            self._models[name] = [_period(row) for row in model["periods"]]
            if "fast" in model:
                self._fast[name] = [_period(row) for row in model["fast"]]
        self._known: dict[tuple[Any, ...], Tariff | None] = {}
        self._bounds: dict[tuple[str, str | None], tuple[list[_Period], list[int]] | None] = {}

    @property
    def models(self) -> list[str]:
        return sorted(self._models)

    def window(self, model: str) -> int | None:
        """Return the context window of a model; ``[1m]`` after its name means a million."""
        if model.endswith("[1m]"):
            return 1_000_000
        return self.windows.get(plain_name(model)) or None

    def tariff(
        self, model: str, time: int | None, prompt: int, speed: str | None, tier: str | None, geo: str | None
    ) -> Tariff | None:
        """Return the rates for a response; None for a model that is not in the table."""
        if (model, speed) not in self._bounds:
            self._bounds[model, speed] = self._places(model, speed)
        places = self._bounds[model, speed]
        if places is None:
            return None
        periods, starts = places
        moment = time if self.at is None else self.at
        number = len(starts) - 1 if moment is None else bisect_right(starts, moment) - 1
        period = periods[max(number, 0)]
        key = (model, number, speed, tier, geo, bool(period.above and prompt > period.above), moment is None)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make(model, period, number, speed, tier, geo, key[5], moment is None)
        return found

    def bound(self, model: str, speed: str | None) -> int:
        """Return the prompt length above which a response without a time costs more; `NO_BOUND` if there is none."""
        places = self._places(model, speed)
        return (places[0][-1].above if places is not None else 0) or NO_BOUND

    def spell(
        self, model: str, time: int, speed: str | None, tier: str | None, geo: str | None
    ) -> tuple[int, int, int, Tariff, Tariff] | None:
        """Return the rates around a time, for pricing many similar responses.

        That is: start and end of the time in which they apply, the prompt length above which the second rates apply,
        and both.
        """
        if (model, speed) not in self._bounds:
            self._bounds[model, speed] = self._places(model, speed)
        places = self._bounds[model, speed]
        if places is None:
            return None
        periods, starts = places
        number = bisect_right(starts, time) - 1
        low = starts[number] if number >= 0 else -(1 << 62)
        high = starts[number + 1] if number + 1 < len(starts) else 1 << 62
        above = periods[max(number, 0)].above or NO_BOUND
        short, long = (self.tariff(model, time, prompt, speed, tier, geo) for prompt in (0, above + 1))
        assert short is not None and long is not None
        return (low, high, above, short, long) if self.at is None else (-(1 << 62), 1 << 62, above, short, long)

    def _places(self, model: str, speed: str | None) -> tuple[list[_Period], list[int]] | None:
        name = plain_name(model)
        periods = self._fast.get(name) if speed == "fast" else None
        periods = periods or self._models.get(name)
        return None if periods is None else (periods, [period.start for period in periods])

    def _make(
        self, model: str, period: _Period, number: int, speed: str | None, tier: str | None, geo: str | None,
        long: bool, timeless: bool,
    ) -> Tariff:  # fmt: skip
        name = plain_name(model)
        words = ["fast mode" if speed == "fast" and name in self._fast else "standard"]
        if long:
            words.append(f"prompt above {period.above:,} tokens: all tokens at the higher rates")
        factor = FACTOR_UNIT
        for field, value in (("geo", geo), ("service_tier", tier)):
            percent = self._factors.get((field, value or ""))
            if percent is not None:
                factor = factor * percent // 100
                words.append(f"{field} {value}: {percent} %")
        assumed = ""
        if timeless:
            assumed = "the response has no time: priced as today"
        elif number < 0:
            assumed = f"before the first price known ({period.since})"
        elif speed == "fast" and name not in self._fast:
            assumed = "no price of fast mode is known for this model: standard rates"
        elif tier == "priority":
            assumed = "priority tier is agreed by contract: standard rates"
        rates = period.long_rates if long else period.rates
        scaled = tuple(rate * factor for rate in rates)
        return Tariff(
            (scaled[0], scaled[1], scaled[2], scaled[3], scaled[4]), name, period.since, ", ".join(words),
            period.source, assumed,
        )  # fmt: skip


def _period(row: dict[str, Any]) -> _Period:
    start = datetime.fromisoformat(row["from"]).replace(tzinfo=UTC)
    long_rates = tuple(row.get("long_rates", ()))
    return _Period(
        int(start.timestamp()) * _MICRO,
        row["from"],
        tuple(row["rates"]),
        row.get("above", 0),
        long_rates,
        row["source"],
    )


def _exact(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def _table() -> bytes:
    """Read the price table, also if the package is in an archive."""
    data = pkgutil.get_data(__package__, TABLE)
    assert data is not None  # every installation has the file
    return data


@lru_cache(maxsize=4)
def price_book(at: int | None = None) -> PriceBook:
    """Return the table that came with the package; with `at`, priced as if everything happened at that moment."""
    return PriceBook(json.loads(_table()), at=at)
