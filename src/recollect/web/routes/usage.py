"""Tokens and money: charts by day, tables by anything, each total taken apart on request."""

from __future__ import annotations

import csv
import io
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...analysis.api_calls import ApiCall
from ...analysis.explain import OMITTED, explain
from ...analysis.usage import PERIODS, Group, UsageReport, without_first_grouping
from ...library.accounting import Accounting, Selection
from ...library.background import StillIndexing
from ...library.service import Service
from ...library.usage_words import remarks
from ..pages import is_fragment, page, service_of
from ..usage_views import SPANS, chart, extras, name_of, parts_by_day, parts_of_models, shares_of, since
from ..wording import title_of

BY = ("day", "week", "month", "model", "project", "session", "tool", "branch", "subagent")
SHOWN = 31
MOST = 2000
"""Rows of the table: at first, and when all are asked for."""
EXPLAINED = 300


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


def _reports(service: Service, by: str, span: str) -> tuple[UsageReport, UsageReport]:
    """What the table shows, and the same by day for the chart. To go through all calls for each would take twice as long."""

    def count(accounting: Accounting) -> tuple[UsageReport, UsageReport]:
        chosen = Selection(since=since(accounting, span))
        if by in PERIODS:
            report = accounting.usage(by, chosen)
            return report, report
        if by == "model":
            return accounting.usage(by, chosen), accounting.usage("day", chosen)  # of these there are sums
        days = accounting.usage(("day", by), chosen)
        return without_first_grouping(days), days

    return service.usage.ask(("usage", by, span), count)


def usage(request: Request) -> Response:
    service = service_of(request)
    by, span, unit = _asked(request)
    values: dict[str, Any] = {
        "by": by, "span": span, "unit": unit, "spans": SPANS, "dimensions": BY, "indexing": None, "omitted": OMITTED,
    }  # fmt: skip
    config = service.library.own_folder("config")
    try:
        report, days = _reports(service, by, span)
        groups = list(reversed(report.groups)) if by in PERIODS else report.groups
        names = _names(service) if by == "session" else {}
        shown = MOST if request.query_params.get("rows") == "all" else SHOWN
        values |= {
            "report": report, "groups": groups[:shown], "hidden": max(len(groups) - shown, 0),
            "labels": {group.key: group.key if by in PERIODS else name_of(by, group.key, names) for group in groups[:shown]},
            "chart": _chart(by, unit, days, names),
            "extras": service.usage.ask(("extras", span), lambda accounting: extras(accounting, span, config)),
            "remarks": remarks(report, more="see the calls behind their row"),
            "largest": max((_amount(group, unit) for group in groups), default=0) or 1,
        }  # fmt: skip
    except StillIndexing as progress:
        values["indexing"] = progress
    return page(request, "usage_parts.html" if is_fragment(request) else "usage.html", **values)


def _names(service: Service) -> dict[str, str]:
    return {item.session_id: title_of(item.title, 60) for item in service.sessions() if item.title}


def _chart(by: str, unit: str, days: UsageReport, names: dict[str, str]) -> str:
    if by in PERIODS:
        return chart(parts_of_models(days), "model", unit, by, {})
    if by == "model":
        return chart(parts_of_models(days), by, unit, "day", {})
    return chart(parts_by_day(days), by, unit, "day", names)


def _amount(group: Group, unit: str) -> int:
    return group.totals.cost if unit == "money" else group.totals.counts.tokens


def as_csv(request: Request) -> Response:
    by, span, _ = _asked(request)
    try:
        report, _ = _reports(service_of(request), by, span)
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
    """The calls behind one row of the table, each with its rule and price; all of them where no row is named."""
    service = service_of(request)
    by, span, unit = _asked(request)
    key = request.query_params.get("key", "")[:1000]
    values: dict[str, Any] = {"by": by, "span": span, "unit": unit, "key": key, "indexing": None, "omitted": OMITTED}
    values["back"] = urlencode({"by": by, "span": span, "unit": unit})

    def count(accounting: Accounting) -> dict[str, Any]:
        used = accounting.responses(Selection(since=since(accounting, span)))
        shares = shares_of(accounting, by, used)
        found: list[tuple[int, ApiCall]] = []
        for item in used:
            own = [cost or 0 for name, _, cost in shares(item) if not key or name == key]
            if own:
                found.append((sum(own), item))
        found.sort(key=lambda pair: -pair[0])
        rows = [explain(item, accounting.book, accounting.zone) | {"share": cost} for cost, item in found[:EXPLAINED]]
        return {
            "rows": rows, "total": len(found), "cost": sum(cost for cost, _ in found),
            "lower_bounds": sum(item.lower_bound for _, item in found),
            "unpriced": sum(item.cost(accounting.book) is None for _, item in found),
        }  # fmt: skip

    try:
        values |= service.usage.ask(("explain", by, span, key), count)
    except StillIndexing as progress:
        values |= {"indexing": progress, "rows": [], "total": 0, "cost": 0, "lower_bounds": 0, "unpriced": 0}
    return page(request, "usage_explained.html", **values)


routes = [
    Route("/usage", usage),
    Route("/usage.csv", as_csv),
    Route("/usage/explain", explained),
]
