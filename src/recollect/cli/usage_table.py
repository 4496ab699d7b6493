"""`usage` as a table: a row for each group, their total, a bar for the cost, and a line over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.usage import NO_TIME, PERIODS, models_in_words
from ..export.formatting import plural
from ..library.usage_words import remarks
from .charts import bar, not_in_future, over_time, sparkline
from .command_run import Column, CommandRun
from .usage_text import money, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..analysis.totals import Totals
    from ..analysis.usage import Group, UsageReport
    from ..library.accounting import Accounting, Selection

_POINTS = 60
"""So many days, weeks or months are drawn at most."""


def show_table(
    run: CommandRun, report: UsageReport, groups: list[Group], accounting: Accounting, chosen: Selection | None = None
) -> None:
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
    run.table(rows, [column for column in columns if column.key not in hidden])
    others: list[str] = []
    if names[0] in PERIODS and len(names) == 1:
        spent = {group.key: group.totals.cost for group in report.groups if group.key != NO_TIME}
        spent, later = not_in_future(spent)
        drawn = over_time(spent, names[0])
        if len(drawn) > 2:
            shown = drawn[-_POINTS:]
            run.print(f"\n{shown[0][0]} {sparkline([value for _, value in shown])} {shown[-1][0]}")
            others = [later] if later else []
    rule, *told = remarks(report)
    run.print(rule)  # without it, days are nobody's
    others += told
    for remark in others:
        run.say(remark)
    if accounting.has_client_counts:
        differing = [item for item in accounting.comparisons(chosen) if not item.same]
        if differing:
            run.say(f"the client's own count differs for {plural(len(differing), 'session')}: see --check")


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
    return {"session": lambda text: text[:8], "project": _tail}.get(name, str)


def _tail(path: str) -> str:
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else path
