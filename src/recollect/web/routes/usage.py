"""Tokens and money: charts by day, tables by anything, each total taken apart on request."""

from __future__ import annotations

import csv
import io
import json
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...analysis.blocks import find_blocks
from ...analysis.cache import cache_use
from ...analysis.explain import OMITTED, explain
from ...analysis.usage import PERIODS, Group, UsageReport, key_function
from ...library.accounting import Accounting, Selection
from ...library.budgets import budget_states, read_budgets
from ..desk import Desk
from ..pages import desk_of, is_fragment, page
from ..rendering import plain
from ..work import StillIndexing

BY = ("day", "week", "month", "model", "project", "session", "tool", "branch", "agent")
SPANS = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("all", "All"))
SHOWN = 200
EXPLAINED = 300
LINES = 7
"""So many models have a colour of their own in the chart; the others are joined."""


def _asked(request: Request) -> tuple[str, str, str]:
    known = request.query_params
    by = known.get("by", "day")
    span = known.get("span", "30")
    unit = known.get("unit", "money")
    return (
        by if by in BY else "day",
        span if span in dict(SPANS) else "30",
        unit if unit in ("money", "tokens") else "money",
    )


def since(accounting: Accounting, span: str) -> int | None:
    """The midnight with which a span begins, in microseconds."""
    if span == "all":
        return None
    today = accounting.zone.local(time.time_ns() // 1000).date()
    return accounting.zone.start_of(today - timedelta(days=int(span) - 1))


def _report(desk: Desk, by: str, span: str) -> UsageReport:
    def count(accounting: Accounting) -> UsageReport:
        return accounting.usage(by, Selection(since=since(accounting, span)))

    return desk.accounts.ask(("usage", by, span), count)


def usage(request: Request) -> Response:
    desk = desk_of(request)
    by, span, unit = _asked(request)
    values: dict[str, Any] = {
        "by": by, "span": span, "unit": unit, "spans": SPANS, "dimensions": BY, "indexing": None, "omitted": OMITTED,
    }  # fmt: skip
    config = desk.own_folders("config")
    try:
        report = _report(desk, by, span)
        days = report if by == "day" else _report(desk, "day", span)
        groups = list(reversed(report.groups)) if by in PERIODS else report.groups
        values |= {
            "report": report, "groups": groups[:SHOWN], "hidden": max(len(groups) - SHOWN, 0), "chart": chart(days, unit),
            "extras": desk.accounts.ask(("extras", span), lambda accounting: _extras(accounting, span, config)),
            "largest": max((_amount(group, unit) for group in groups), default=0) or 1,
        }  # fmt: skip
    except StillIndexing as progress:
        values["indexing"] = progress
    return page(request, "usage_parts.html" if is_fragment(request) else "usage.html", **values)


def _extras(accounting: Accounting, span: str, config: Path) -> dict[str, Any]:
    """What the cache saved, the block of five hours that is going on, and the budgets."""
    found = accounting.responses(Selection(since=since(accounting, span)))
    _, cache = cache_use(found, accounting.book)
    now = time.time_ns() // 1000
    blocks = find_blocks(found, accounting.book)
    block = blocks[-1].data(now) if blocks and blocks[-1].is_active(now) else None
    budgets = [item.data() for item in budget_states(accounting, read_budgets(config), now)]
    return {"cache": cache.data(), "block": block, "blocks": len(blocks), "budgets": budgets}


def _amount(group: Group, unit: str) -> int:
    return group.totals.cost if unit == "money" else group.totals.counts.tokens


def chart(report: UsageReport, unit: str) -> str:
    """Days with the largest models stacked, for the chart."""
    days = [group for group in report.groups if _moment(group.key) is not None]
    totals: dict[str, int] = {}
    for group in days:
        for model, part in group.models.items():
            totals[model] = totals.get(model, 0) + (part.cost if unit == "money" else part.counts.tokens)
    names = sorted(totals, key=lambda name: -totals[name])[:LINES]
    series: list[dict[str, Any]] = []
    for name in names:
        parts = [group.models.get(name) for group in days]
        series.append(
            {
                "name": plain(name.removeprefix("claude-"))[:40],
                "values": [
                    0 if part is None else part.cost if unit == "money" else part.counts.tokens for part in parts
                ],
            }
        )
    if len(totals) > LINES:
        rest = [_amount(group, unit) - sum(item["values"][at] for item in series) for at, group in enumerate(days)]
        series.append({"name": "others", "values": rest})
    return json.dumps({"times": [_moment(group.key) for group in days], "series": series, "unit": unit})


def _moment(day: str) -> float | None:
    try:
        return datetime.fromisoformat(day + "T12:00:00").timestamp()
    except ValueError:
        return None


def as_csv(request: Request) -> Response:
    by, span, _ = _asked(request)
    try:
        report = _report(desk_of(request), by, span)
    except StillIndexing:
        return Response("still counting; try again in a moment\n", 503, media_type="text/plain")
    stream = io.StringIO()
    writer = csv.writer(stream)
    names = list(report.totals.data())
    writer.writerow([by, *names])
    for group in report.groups:
        data = group.totals.data()
        key = f"'{group.key}" if group.key[:1] in ("=", "+", "-", "@", "\t", "\r") else group.key
        writer.writerow([key, *(data[name] for name in names)])
    headers = {"Content-Disposition": f'attachment; filename="usage-by-{by}.csv"'}
    return Response(stream.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def explained(request: Request) -> Response:
    """The calls behind one row of the table, each with its rule and price."""
    desk = desk_of(request)
    by, span, unit = _asked(request)
    key = request.query_params.get("key", "")[:1000]
    values: dict[str, Any] = {"by": by, "span": span, "unit": unit, "key": key, "indexing": None, "omitted": OMITTED}
    values["back"] = urlencode({"by": by, "span": span, "unit": unit})

    def count(accounting: Accounting) -> dict[str, Any]:
        found = accounting.responses(Selection(since=since(accounting, span)))
        key_of = key_function(by, accounting.zone) if by != "tool" else None
        chosen = [item for item in found if key_of is None or key_of(item) == key]
        rows = [explain(item, accounting.book, accounting.zone) for item in chosen]
        rows.sort(key=lambda row: -(row["cost_micro_usd"] or 0))
        return {"rows": rows[:EXPLAINED], "total": len(rows), "cost": sum(row["cost_micro_usd"] or 0 for row in rows)}

    try:
        values |= desk.accounts.ask(("explain", by, span, key), count)
    except StillIndexing as progress:
        values |= {"indexing": progress, "rows": [], "total": 0, "cost": 0}
    return page(request, "usage_explained.html", **values)


routes = [
    Route("/usage", usage),
    Route("/usage.csv", as_csv),
    Route("/usage/explain", explained),
]
