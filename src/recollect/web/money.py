"""Provide the cost of sessions, days and answers for the pages; nothing while the calls are not counted yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import RecollectError
from ..export.conversation import ShownMessage
from ..export.money import dollars
from ..library.background import StillIndexing
from ..library.service import Service
from ..library.usage import Ledger, Selection, message_cost

QUICK_SECONDS = 0.3
"""A list of sessions does not wait longer for their costs, in seconds."""


@dataclass(slots=True)
class Spent:
    """What some days used, in tokens and micro-dollars."""

    tokens: int
    cost: int


@dataclass(slots=True)
class SessionAccounts:
    """The figures of each session, by its id; empty while nothing is counted.

    `costs` are formatted texts; `models` answered in the session, `days` are those on which it made calls.
    """

    costs: dict[str, str] = field(default_factory=dict)
    amounts: dict[str, int] = field(default_factory=dict)
    """The costs in micro-dollars."""
    models: dict[str, list[str]] = field(default_factory=dict)
    days: dict[str, set[str]] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    """The sessions in which the index found damaged lines."""
    read_through: bool = False
    """Whether all lines were checked for damage."""


def session_accounts(service: Service) -> SessionAccounts:
    """Return the figures of each session, without waiting long for them."""
    read_through = service.index.is_ready

    def count(ledger: Ledger) -> SessionAccounts:
        found = SessionAccounts(days=ledger.session_days())
        if read_through:  # otherwise every line would have to be read
            ledger.entries()
            found.damaged, found.read_through = ledger.damaged_sessions(), True
        for group in ledger.usage("session").groups:
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
    """Return what the last days used; None while nothing is counted."""

    def count(ledger: Ledger) -> Spent:
        totals = ledger.usage("day", Selection(since=ledger.start_of_day(days))).totals
        return Spent(totals.counts.tokens, totals.cost)

    try:
        return service.usage.ask(("spent", days), count, patience=QUICK_SECONDS)
    except (StillIndexing, RecollectError):
        return None


def price_messages(shown: list[ShownMessage]) -> None:
    """Set the cost of each response on the page, at the price of its day."""
    for item in shown:
        if item.usage is None or not item.model:
            continue
        item.cost = message_cost(item.model, item.seconds, item.usage)
