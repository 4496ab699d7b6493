"""What sessions, days and answers cost, for the pages; nothing where it is not counted yet."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache

from ..analysis.cost import Counts, cost_of, dollars
from ..analysis.prices.book import PriceBook, price_book
from ..errors import RecollectError
from ..library.accounting import Accounting, Selection
from .conversation import Shown
from .desk import Desk
from .work import StillIndexing

DAY = 86_400_000_000
QUICK_SECONDS = 0.3
"""A page of sessions does not wait longer for what they cost."""


@dataclass(slots=True)
class Spent:
    tokens: int
    cost: int


@dataclass(slots=True)
class SessionAccounts:
    """By the session's id: what it cost, in words, and which models answered. Empty while nothing is counted yet."""

    costs: dict[str, str] = field(default_factory=dict)
    models: dict[str, list[str]] = field(default_factory=dict)


def session_accounts(desk: Desk) -> SessionAccounts:
    def count(accounting: Accounting) -> SessionAccounts:
        found = SessionAccounts()
        for group in accounting.usage("session").groups:
            if group.totals.cost:
                found.costs[group.key] = dollars(group.totals.cost)
            found.models[group.key] = sorted(group.models)
        return found

    try:
        return desk.accounts.ask("sessions", count, patience=QUICK_SECONDS)
    except (StillIndexing, RecollectError):
        return SessionAccounts()


def spent_lately(desk: Desk, days: int = 30) -> Spent | None:
    since = (time.time_ns() // 1000) - days * DAY

    def count(accounting: Accounting) -> Spent:
        start = accounting.zone.local(since).replace(hour=0, minute=0, second=0, microsecond=0)
        totals = accounting.usage("day", Selection(since=int(start.timestamp() * 1e6))).totals
        return Spent(totals.counts.tokens, totals.cost)

    try:
        return desk.accounts.ask(("spent", days), count, patience=QUICK_SECONDS)
    except (StillIndexing, RecollectError):
        return None


@cache
def _book() -> PriceBook:
    return price_book()


def price_messages(desk: Desk, shown: list[Shown]) -> None:
    """Note the price of each response on the page, as it was on its day."""
    book = _book()
    for item in shown:
        if item.usage is None or not item.full_model:
            continue
        usage = item.usage
        counts = Counts(
            usage.input_tokens, usage.output_tokens, usage.cache_write_5m, usage.cache_write_1h, usage.cache_read, 0,
            usage.web_searches,
        )  # fmt: skip
        moment = None if item.time is None else int(item.time * 1e6)
        item.cost = cost_of(book, item.full_model, moment, counts, None, None, None)[0]
