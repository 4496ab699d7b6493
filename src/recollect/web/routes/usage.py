"""Show tokens and money: charts by day, tables by anything, and the calls behind each total on request."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...export.csv_text import csv_lines
from ...export.usage_remarks import remarks
from ...export.wording import title_of
from ...library.background import StillIndexing
from ...library.service import Service
from ...library.usage import OMITTED, PERIODS, Group, Ledger, Selection, UsageReport
from ..pages import is_fragment, page, service_of
from ..usage_views import SPANS, chart, extras, name_of, parts_by_day, parts_of_models, since

BY = ("day", "week", "month", "model", "project", "session", "tool", "branch", "subagent")
SHOWN = 31
MOST = 2000
"""Rows of the table: `SHOWN` at first, `MOST` if all are requested."""
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
    """Return the report of the table, and one by day for the chart; both from one pass over the calls."""

    def count(ledger: Ledger) -> tuple[UsageReport, UsageReport]:
        chosen = Selection(since=since(ledger, span))
        if by in PERIODS:
            report = ledger.usage(by, chosen)
            return report, report
        if by == "model":
            return ledger.usage(by, chosen), ledger.usage("day", chosen)  # answered from sums by day
        days = ledger.usage(("day", by), chosen)
        return days.without_first_grouping(), days

    return service.usage.ask(("usage", by, span), count)


def usage(request: Request) -> Response:
    service = service_of(request)
    by, span, unit = _asked(request)
    values: dict[str, Any] = {
        "by": by, "span": span, "unit": unit, "spans": SPANS, "dimensions": BY, "indexing": None, "omitted": OMITTED,
    }  # fmt: skip
    try:
        report, days = _reports(service, by, span)
        groups = list(reversed(report.groups)) if by in PERIODS else report.groups
        names = _names(service) if by == "session" else {}
        shown = MOST if request.query_params.get("rows") == "all" else SHOWN
        values |= {
            "report": report, "groups": groups[:shown], "hidden": max(len(groups) - shown, 0),
            "labels": {group.key: group.key if by in PERIODS else name_of(by, group.key, names) for group in groups[:shown]},
            "chart": _chart(by, unit, days, names),
            "extras": service.usage.ask(("extras", span), lambda ledger: extras(ledger, span)),
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
    names = list(report.totals.data())
    rows = [[group.key, *group.totals.data().values()] for group in report.groups]
    headers = {"Content-Disposition": f'attachment; filename="usage-by-{by}.csv"'}
    return Response(csv_lines([[by, *names], *rows]), media_type="text/csv; charset=utf-8", headers=headers)


def explained(request: Request) -> Response:
    """Show the calls behind one row of the table, each with its rule and price; all calls if no row is named."""
    service = service_of(request)
    by, span, unit = _asked(request)
    key = request.query_params.get("key", "")[:1000]
    values: dict[str, Any] = {"by": by, "span": span, "unit": unit, "key": key, "indexing": None, "omitted": OMITTED}
    values["back"] = urlencode({"by": by, "span": span, "unit": unit})

    def count(ledger: Ledger) -> dict[str, Any]:
        found = ledger.explain_group(by, key, Selection(since=since(ledger, span)), limit=EXPLAINED)
        totals = found.totals
        return {
            "rows": found.rows, "total": found.total, "cost": totals.cost, "lower_bounds": totals.lower_bounds,
            "unpriced": totals.unpriced,
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
