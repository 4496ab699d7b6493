"""What sessions, days and answers cost, for the pages; nothing where it is not counted yet."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache

from ..analysis.cost import dollars, message_cost
from ..analysis.prices.book import PriceBook, price_book
from ..errors import RecollectError
from ..export.conversation import ShownMessage
from ..library.accounting import Accounting, Selection
from ..library.background import StillIndexing
from ..library.service import Service

DAY = 86_400_000_000
QUICK_SECONDS = 0.3
"""A page of sessions does not wait longer for what they cost."""


@dataclass(slots=True)
class Spent:
    tokens: int
    cost: int


@dataclass(slots=True)
class SessionAccounts:
    """By the session's id: what it cost, in words, which models answered, and on which days. Empty while nothing is counted."""

    costs: dict[str, str] = field(default_factory=dict)
    amounts: dict[str, int] = field(default_factory=dict)
    """The same in micro-dollars."""
    models: dict[str, list[str]] = field(default_factory=dict)
    days: dict[str, set[str]] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    """Those whose lines the index found damaged."""
    read_through: bool = False
    """Whether all lines were looked at for that."""


def session_accounts(service: Service) -> SessionAccounts:
    read_through = service.index.is_ready

    def count(accounting: Accounting) -> SessionAccounts:
        found = SessionAccounts(days=accounting.session_days())
        if read_through:  # else every line would be read for it
            accounting.entries()
            found.damaged, found.read_through = accounting.damaged_sessions(), True
        for group in accounting.usage("session").groups:
            if group.totals.cost:
                found.costs[group.key] = dollars(group.totals.cost)
                found.amounts[group.key] = group.totals.cost
            found.models[group.key] = sorted(group.models)
        return found

    try:
        return service.usage.ask(("sessions", read_through), count, patience=QUICK_SECONDS)
    except (StillIndexing, RecollectError):
        before = service.usage.last(("sessions", False))
        return before if isinstance(before, SessionAccounts) else SessionAccounts()


def spent_lately(service: Service, days: int = 30) -> Spent | None:
    since = (time.time_ns() // 1000) - days * DAY

    def count(accounting: Accounting) -> Spent:
        start = accounting.zone.start_of(accounting.zone.local(since).date())
        totals = accounting.usage("day", Selection(since=start)).totals
        return Spent(totals.counts.tokens, totals.cost)

    try:
        return service.usage.ask(("spent", days), count, patience=QUICK_SECONDS)
    except (StillIndexing, RecollectError):
        return None


@cache
def _book() -> PriceBook:
    return price_book()


def price_messages(service: Service, shown: list[ShownMessage]) -> None:
    """Note the price of each response on the page, as it was on its day."""
    book = _book()
    for item in shown:
        if item.usage is None or not item.model:
            continue
        item.cost = message_cost(book, item.model, item.seconds, item.usage)
