"""Prepare what the usage page shows besides its table: the chart, blocks of five hours, the cache, budgets."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ..export.rendering import plain
from ..export.wording import model_name, tail
from ..library.usage import PERIODS, Ledger, Selection, UsageReport

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
    told = {
        "times": [moment for moment, _ in periods], "keys": [key for _, key in periods], "series": series, "unit": unit,
        "period": period, "step": _SECONDS[period],
    }  # fmt: skip
    return json.dumps(told)


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
