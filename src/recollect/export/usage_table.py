"""Write a usage report as a table: a row for each group, their total, a bar for the cost, and a line over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..analysis.usage import NO_TIME, PERIODS, models_in_words
from .charts import bar, not_in_future, over_time, sparkline
from .csv_text import csv_text
from .formatting import tail
from .money import dollars, money, tokens
from .table import Column
from .usage_remarks import remarks

if TYPE_CHECKING:
    from ..analysis.api_calls import Comparison
    from ..analysis.cost import Totals
    from ..analysis.usage import Group, UsageReport

_POINTS: Final = 60
"""How many days, weeks or months are drawn at most."""


class Trend(NamedTuple):
    """The cost over time as a line of text, and what the line leaves out."""

    line: str
    remark: str


def usage_table(report: UsageReport, groups: Sequence[Group]) -> tuple[list[dict[str, Any]], list[Column]]:
    """Return the rows of the groups and of the total, and the columns that are not empty."""
    names = report.groupings
    largest = max(group.totals.cost for group in report.groups)
    rows = [
        _row(
            {name: _shorten(name)(key) for name, key in zip(names, group.keys, strict=True)},
            group.totals,
            group.models,
            bar(group.totals.cost, largest, 16),
        )
        for group in groups
    ]
    rows.append(_row({names[0]: "total"}, report.totals, (), ""))
    columns = [
        *(Column(f"by {name}", name) for name in names), Column("models", spare=True), Column("calls", right=True),
        Column("input", right=True), Column("output", right=True), Column("thinking", right=True),
        Column("short", "write 5m", right=True), Column("long", "write 1h", right=True),
        Column("read", "cache read", right=True), Column("searches", right=True), Column("cost", right=True),
        Column("bar", "", spare=True, drawn=True),
    ]  # fmt: skip
    hidden = {name for name in ("thinking", "long", "searches") if all(item[name] in ("", "0") for item in rows)}
    if "model" in names:
        hidden.add("models")
    return rows, [column for column in columns if column.key not in hidden]


def usage_trend(report: UsageReport) -> Trend | None:
    """Draw the cost over the periods of a report; None if it has no periods, or too few for a line."""
    names = report.groupings
    if names[0] not in PERIODS or len(names) > 1:
        return None
    spent = {group.key: group.totals.cost for group in report.groups if group.key != NO_TIME}
    spent, later = not_in_future(spent)
    drawn = over_time(spent, names[0])
    if len(drawn) <= 2:
        return None
    shown = drawn[-_POINTS:]
    return Trend(f"{shown[0][0]} {sparkline([value for _, value in shown])} {shown[-1][0]}", later)


def usage_csv(report: UsageReport, groups: Sequence[Group]) -> str:
    """Return the groups of a report as CSV, with the time zone of its days."""
    rows = [group.data(report.by) | {"timezone": report.zone} for group in groups]
    return csv_text(rows, (*report.groupings, *report.totals.data(), "timezone"))


def report_totals(report: UsageReport, comparisons: Iterable[Comparison]) -> dict[str, Any]:
    """Return what accompanies the rows of a report in JSON."""
    return {
        "by": report.by,
        "totals": report.totals.data(),
        "timezone": report.zone,
        "prices": report.prices,
        "unpriced_models": report.unpriced,
        "copies_not_counted": report.copies,
        "remarks": remarks(report),
        "client_counts": [item.data() for item in comparisons],
    }


def comparison_table(comparisons: Iterable[Comparison]) -> tuple[list[dict[str, Any]], tuple[Column, ...]]:
    """Return rows and columns that compare Claude Code's own counts with ours."""
    rows = [
        {
            "session_id": item.session_id[:8],
            "same": "same" if item.same else "unreadable" if item.problem else "differs",
            "ours": dollars(item.our_cost),
            "client": "" if item.problem else dollars(item.their_cost),
            "difference": item.in_words(),
        }
        for item in comparisons
    ]
    columns = (
        Column("session_id", "session"), Column("same", "count"), Column("ours", right=True),
        Column("client", "Claude Code", right=True), Column("difference", "ours minus Claude Code's", stretch=True),
    )  # fmt: skip
    return rows, columns


def _row(keys: dict[str, str], totals: Totals, models: Iterable[str], drawn: str) -> dict[str, Any]:
    counts = totals.counts
    return {
        **{f"by {name}": key for name, key in keys.items()}, "models": ", ".join(models_in_words(models)),
        "calls": f"{totals.calls:,}", "input": tokens(counts.input),
        "output": ("≥" if totals.lower_bounds else "") + tokens(counts.output), "thinking": tokens(counts.thinking),
        "short": tokens(counts.cache_write_5m), "long": tokens(counts.cache_write_1h), "read": tokens(counts.cache_read),
        "searches": counts.web_searches or "", "cost": money(totals), "bar": drawn,
    }  # fmt: skip


def _shorten(name: str) -> Callable[[str], str]:
    """Return the function that shortens the keys of a grouping for a table."""
    shorten: dict[str, Callable[[str], str]] = {"session": lambda text: text[:8], "project": tail}
    return shorten.get(name, str)
