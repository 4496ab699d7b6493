"""Prepare what the usage page shows besides its table: the chart, blocks of five hours, the cache, budgets."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from ..errors import RecollectError
from ..export.conversation import ShownMessage
from ..export.money import dollars
from ..export.rendering import plain
from ..export.wording import model_name, tail
from ..library.background import StillIndexing
from ..library.service import Service
from ..library.usage import PERIODS, Ledger, Selection, UsageReport, message_cost

SPANS: Final = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("all", "All"))
LINES: Final = 7
"""How many parts have a colour of their own in the chart; the others are joined."""
BLOCKS: Final = 60
_SECONDS: Final = {"day": 86_400, "week": 7 * 86_400, "month": 30 * 86_400}

Parts = dict[str, dict[str, tuple[int, int]]]
"""Micro-dollars and tokens by period and part."""


def since(ledger: Ledger, span: str) -> int | None:
    """Return the midnight at which a span begins, in microseconds; None for all time."""
    return None if span == "all" else ledger.start_of_day(int(span) - 1)


def parts_of_models(report: UsageReport) -> Parts:
    """Split a report by day, week or month by model."""
    return {
        group.key: {model: (part.cost, part.counts.tokens) for model, part in group.models.items()}
        for group in report.groups
    }


def parts_by_day(report: UsageReport) -> Parts:
    """Split a report by day and another grouping (project, tool, session, ...) by day."""
    found: Parts = {}
    for group in report.groups:
        day, key = group.keys
        found.setdefault(day, {})[key] = (group.totals.cost, group.totals.counts.tokens)
    return found


def chart(parts: Parts, by: str, unit: str, period: str, names: Mapping[str, str]) -> str:
    """Return the data of the chart: periods with the largest parts stacked. `names` are labels for keys."""
    place = 0 if unit == "money" else 1
    periods = [(moment, key) for key in parts if (moment := _moment(key)) is not None]
    totals: dict[str, int] = {}
    for _, key in periods:
        for name, amounts in parts[key].items():
            totals[name] = totals.get(name, 0) + amounts[place]
    largest = sorted(totals, key=lambda name: -totals[name])[:LINES]
    series = [
        {"name": name_of(by, name, names), "values": [parts[key].get(name, (0, 0))[place] for _, key in periods]}
        for name in largest
    ]
    if len(totals) > LINES:
        rest = [
            sum(amounts[place] for name, amounts in parts[key].items() if name not in largest) for _, key in periods
        ]
        series.append({"name": "others", "values": rest})
    data = {
        "times": [moment for moment, _ in periods], "keys": [key for _, key in periods], "series": series, "unit": unit,
        "period": period, "step": _SECONDS[period],
    }  # fmt: skip
    return json.dumps(data)


def name_of(by: str, key: str, names: Mapping[str, str]) -> str:
    """Write a key of a report as the page shows it."""
    if by == "project":
        return tail(key)
    if by == "session":
        return names.get(key) or key[:8]
    return model_name(key) if by in ("model", *PERIODS) else plain(key)[:60]


def _moment(key: str) -> float | None:
    try:
        return datetime.fromisoformat((f"{key}-01" if len(key) == 7 else key) + "T12:00:00").timestamp()
    except ValueError:
        return None


def extras(ledger: Ledger, span: str) -> dict[str, Any]:
    """Return what the cache saved, the blocks of five hours, and the budgets."""
    chosen = Selection(since=since(ledger, span))
    models, cache = ledger.cache(chosen)
    now = time.time_ns() // 1000
    blocks = ledger.blocks(chosen)
    shown = [
        item.data(now)
        | {"start": item.start / 1e6, "end": item.end / 1e6, "first": item.first / 1e6, "last": item.last / 1e6}
        for item in reversed(blocks[-BLOCKS:])
    ]
    return {
        "cache": cache.data(), "blocks": shown, "block_count": len(blocks),
        "block": shown[0] if shown and shown[0]["active"] else None,
        "cache_models": [{"model": model, **use.data()} for model, use in models.items()],
        "budgets": [item.data() for item in ledger.library.budgets.states(ledger=ledger, now=now)],
    }  # fmt: skip


# Provide the cost of sessions, days and answers for the pages; nothing while the calls are not counted yet.

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
