"""`usage --more TOPIC`: what lies beyond tokens, one table a topic."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..analysis.cost import dollars
from ..export.formatting import number, plural, seconds, size
from ..library.usage_words import lower_bound_remark
from .charts import bar, sparkline
from .command_run import Column, CommandRun
from .moments import local_in
from .usage_text import cost_in_words, csv_names, csv_text, tokens, unpriced_remark

if TYPE_CHECKING:
    from ..analysis.context import ContextTimeline
    from ..library.accounting import Accounting, Selection

Rows = list[dict[str, Any]]
Answer = tuple[Rows, tuple[Column, ...], dict[str, Any], str]
"""Rows, columns of the table, what stands beside the rows in JSON, and a remark."""

_COST = Column("cost", right=True)
_OF_THE_COST = ("without_cache_micro_usd", "micro_usd_per_hour", "projected_micro_usd", "micro_usd_per_line")
_SESSION = Column("session_id", "session", lambda text: text[:8])
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def show_topic(
    run: CommandRun, accounting: Accounting, chosen: Selection, topic: str, limit: int | None, *, as_csv: bool
) -> bool:
    rows, columns, extra, remark = _TOPICS[topic](accounting, chosen)
    shown, total = rows[:limit], extra.pop("total_row", None)
    zone = accounting.zone.name
    if not run.is_text or as_csv:
        shown = [{key: value for key, value in row.items() if key != "drawn"} for row in shown]
    if as_csv and rows:
        names = [*csv_names(shown or rows), "timezone"]
        run.print(csv_text((row | {"timezone": zone} for row in shown), names).rstrip("\n"))
    elif run.is_text and not rows:
        run.say("nothing found")
    elif run.is_text:
        _show_table(run, [*shown, total] if total is not None else shown, columns, extra)
        _show_parts(run, shown)
        for line in extra.get("drawn", ()):
            run.print(line)
        if topic in _WITH_TIMES:
            run.print(f"times in {zone}")
        if remark:
            run.say(remark)
    else:
        extra.pop("drawn", None)
        run.rows(
            shown, topic=topic, total=len(rows), timezone=accounting.zone.name, prices=accounting.book.version, **extra
        )
    return bool(rows)


def _show_table(run: CommandRun, rows: Rows, columns: tuple[Column, ...], known: dict[str, Any]) -> None:
    """A sum of money that leaves something out says so."""
    for row in rows:
        if "cost_micro_usd" in row:
            marks = row["unpriced_calls"], row.get("lower_bound_calls", 0)
            row["cost"] = cost_in_words(row["cost_micro_usd"], *marks)
            if row["cost"] == "?":  # then nothing else that money is in is known, either
                row |= {key: None for key in row if "micro_usd" in key}
            else:  # what comes of the cost is as certain as the cost is
                row |= {key: cost_in_words(row[key], *marks) for key in _OF_THE_COST if row.get(key) is not None}
    run.table(rows, columns)
    for name, remark in (("unpriced_calls", unpriced_remark), ("lower_bound_calls", lower_bound_remark)):
        calls = known[name] if name in known else sum(row.get(name, 0) for row in rows)
        if calls:
            run.say(remark(calls))


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _cache(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.cache import cache_use

    models, total = cache_use(accounting.responses(chosen), accounting.book)
    ordered = sorted(models.items(), key=lambda pair: -pair[1].saved)
    rows = [{"model": model or "(no model)", **use.data()} for model, use in ordered]
    columns = (
        Column("model"), Column("calls", show=number, right=True), Column("prompt_tokens", "prompt", tokens, right=True),
        Column("cache_read", "read", tokens, right=True), Column("cache_written", "written", tokens, right=True),
        Column("hit_rate", "from cache", _percent, right=True), _COST,
        Column("without_cache_micro_usd", "without cache", right=True),
        Column("saved_micro_usd", "saved", dollars, right=True),
    )  # fmt: skip
    known = {
        "totals": total.data(), "unpriced_calls": total.unpriced, "lower_bound_calls": total.lower_bounds,
        "total_row": {"model": "total", **total.data()},
    }  # fmt: skip
    return rows, columns, known, "saved is net: writing to the cache costs more than plain input"


def _speed(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.timing import quantile, speeds, turn_seconds
    from ..index.catalogue.reading_back import EntryReader

    found = accounting.responses(chosen)
    catalogue = accounting.entries()
    rows: Rows = []
    for model, speed in sorted(speeds(catalogue, found).items(), key=lambda pair: -len(pair[1].whole)):
        data = {"model": model or "(no model)", **speed.data()}
        for name in ("seconds_to_first_row", "seconds_to_answer", "output_tokens_per_second"):
            for share in ("p50", "p95"):
                data[f"{name}_{share}"] = (data[name] or {}).get(share)
        rows.append(data)
    with EntryReader(accounting.place_of) as reader:
        turns = turn_seconds(catalogue, reader, found)
    told = {"count": len(turns), "p50": quantile(turns, 0.5), "p95": quantile(turns, 0.95)}
    columns = (
        Column("model"), Column("answers", show=number, right=True),
        Column("seconds_to_first_row_p50", "first row p50", seconds, right=True),
        Column("seconds_to_answer_p50", "answer p50", seconds, right=True),
        Column("seconds_to_answer_p95", "p95", seconds, right=True),
        Column("output_tokens_per_second_p50", "tokens/s p50", str, right=True),
        Column("output_tokens_per_second_p95", "p95", str, right=True),
        Column("left_out", "left out", number, right=True),
    )  # fmt: skip
    remark = "times are those of the rows; answers whose rows are not in order of time are left out"
    if turns:
        remark += (
            f"; {plural(len(turns), 'whole turn')} took {seconds(told['p50'])} (p50), {seconds(told['p95'])} (p95)"
        )
    return rows, columns, {"turns": told}, remark


def _tools(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.tools import tool_use

    found = tool_use(accounting.entries(), accounting.responses(chosen))
    rows = [
        {"tool": name, **use.data()} for name, use in sorted(found.items(), key=lambda pair: (-pair[1].calls, pair[0]))
    ]
    columns = (
        Column("tool"), Column("calls", show=number, right=True), Column("errors", show=number, right=True),
        Column("error_rate", "failed", _percent, right=True), Column("seconds_total", "time", seconds, right=True),
        Column("seconds_p50", "p50", seconds, right=True), Column("seconds_p95", "p95", seconds, right=True),
        Column("output_bytes", "gave back", size, right=True), Column("tokens_fed_back", "tokens", tokens, right=True),
    )  # fmt: skip
    return rows, columns, {}, "tokens: what prompts grew by after results, shared out by their size"


def _context(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.context import context_timelines

    found = context_timelines(
        accounting.responses(chosen), accounting.book, accounting.entries(), since=chosen.since, until=chosen.until
    )
    whole = chosen.session is not None
    rows = []
    for item in found:
        row = item.data(whole=whole)
        if whole:
            row["filled_by"] = accounting.context_parts(item.session_id)
        rows.append({**row, "drawn": _course_line(item)})
    columns = (
        _SESSION, Column("calls", show=number, right=True), Column("peak_tokens", "peak", tokens, right=True),
        Column("window", show=tokens, right=True), Column("peak_share", "full", _percent, right=True),
        Column("last_tokens", "now", tokens, right=True), Column("compactions", right=True),
        Column("drawn", "prompt over time", spare=True, drawn=True),
    )  # fmt: skip
    return rows, columns, {}, "┊ a compaction" if any(item.boundaries for item in found) else ""


def _course_line(course: ContextTimeline) -> str:
    """The last prompts as a line of blocks, with a mark where the window was compacted."""
    shown = course.steps[-60:]
    blocks = sparkline([step.counts.prompt for step in shown])
    marks = course.after_compaction()[-60:]
    return "".join(("┊" if marked else "") + block for block, marked in zip(blocks, marks, strict=False))


def _show_parts(run: CommandRun, rows: Rows) -> None:
    """What filled the window, below the table of the session."""
    for row in rows:
        parts = row.get("filled_by")
        if parts:
            named = [
                {**part, "what": f"{part['what']}: {part['tool']}" if part["tool"] else part["what"]} for part in parts
            ]
            largest = parts[0]["tokens"]
            run.print("")
            run.table(
                [{**part, "drawn": bar(part["tokens"], largest, 20)} for part in named],
                (
                    Column("what", "filled by (estimated)"), Column("tokens", show=tokens, right=True),
                    Column("share", show=_percent, right=True), Column("drawn", "", spare=True, drawn=True),
                ),
            )  # fmt: skip


def _blocks(accounting: Accounting, chosen: Selection) -> Answer:
    now, clock = time.time_ns() // 1000, local_in(accounting.zone)
    found = list(reversed(accounting.blocks(chosen)))
    largest = max((block.totals.cost for block in found), default=0)
    rows = [
        {
            **block.data(now),
            "state": "running" if block.is_active(now) else "",
            "drawn": bar(block.totals.cost, largest, 16),
        }
        for block in found
    ]
    columns = (
        Column("start", show=clock), Column("last", "last call", clock), Column("state"),
        Column("calls", show=number, right=True), Column("tokens", show=tokens, right=True), _COST,
        Column("micro_usd_per_hour", "an hour", right=True),
        Column("projected_micro_usd", "projected", right=True), Column("drawn", "", spare=True, drawn=True),
    )  # fmt: skip
    return rows, columns, {}, "a block begins with the hour of its first call and lasts five hours"


def _hours(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.activity import active_seconds, hours_of_week

    found = accounting.responses(chosen)
    days = active_seconds(found, accounting.zone)
    largest = max(days.values(), default=0)
    rows = [
        {"day": day, "active_seconds": round(value), "drawn": bar(value, largest, 20)}
        for day, value in sorted(days.items())
    ]
    week = hours_of_week(found, accounting.zone)
    columns = (
        Column("day"),
        Column("active_seconds", "active", seconds, right=True),
        Column("drawn", "", spare=True, drawn=True),
    )
    whole = seconds(sum(days.values()))
    extra = {"calls_by_weekday_and_hour": week, "drawn": _week_map(week)}
    return rows, columns, extra, f"active: stretches without a pause of five minutes ({whole} in all)"


def _week_map(week: list[list[int]]) -> list[str]:
    """Calls by weekday and hour: each shade by the largest of all."""
    largest = max(max(hours) for hours in week)
    lines = [
        f"{name} " + "".join(sparkline([calls, largest])[:1] for calls in hours)
        for name, hours in zip(_WEEKDAYS, week, strict=True)
    ]
    return ["", "hours of the week:", "    0     6     12    18", *(line.rstrip() for line in lines)]


def _changes(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.work import lines_changed

    rows = lines_changed(accounting.entries(), accounting.responses(chosen), accounting.book)
    columns = (
        Column("project"), Column("files", show=number, right=True), Column("added", show=number, right=True),
        Column("removed", show=number, right=True), _COST, Column("micro_usd_per_line", "a line", right=True),
    )  # fmt: skip
    return rows, columns, {}, ""


def _commits(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.work import commits

    rows = commits(accounting.entries(), accounting.responses(chosen), accounting.book)
    columns = (
        Column("time", "committed", local_in(accounting.zone)), _SESSION, Column("branch"),
        Column("calls", show=number, right=True), _COST, Column("command", stretch=True),
    )  # fmt: skip
    return rows, columns, {}, "a commit's cost is that of its session since the commit before"


def _prs(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.work import pull_requests
    from ..index.catalogue.reading_back import EntryReader

    found = accounting.responses(chosen)
    with EntryReader(accounting.place_of) as reader:
        rows = pull_requests(accounting.entries(), reader, found, accounting.book)
    columns = (
        Column("pr_url", "pull request"), Column("sessions", show=lambda value: str(len(value)), right=True),
        Column("calls", show=number, right=True), _COST,
    )  # fmt: skip
    return rows, columns, {}, "a pull request's cost is that of its sessions since their links before"


_WITH_TIMES = ("blocks", "hours", "commits")
_TOPICS: dict[str, Callable[[Accounting, Selection], Answer]] = {
    "cache": _cache,
    "speed": _speed,
    "tools": _tools,
    "context": _context,
    "blocks": _blocks,
    "hours": _hours,
    "changes": _changes,
    "commits": _commits,
    "prs": _prs,
}
