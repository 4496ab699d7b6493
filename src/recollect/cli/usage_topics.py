"""`usage --more TOPIC`: what lies beyond tokens, one table a topic."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..analysis.cost import dollars
from .charts import bar, sparkline
from .face import Column, Face
from .moments import local
from .usage_text import csv_text, tokens
from .words import number, seconds, size

if TYPE_CHECKING:
    from ..library.accounting import Accounting, Selection

Rows = list[dict[str, Any]]
Answer = tuple[Rows, tuple[Column, ...], dict[str, Any], str]

_COST = Column("cost_micro_usd", "cost", dollars, right=True)
_SESSION = Column("session_id", "session", lambda text: text[:8])
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def show_topic(
    face: Face, accounting: Accounting, chosen: Selection, topic: str, limit: int | None, *, as_csv: bool
) -> bool:
    rows, columns, extra, remark = _TOPICS[topic](accounting, chosen)
    shown = rows if limit is None else rows[:limit]
    if as_csv:
        face.print(csv_text(shown).rstrip("\n"))
    elif face.is_text:
        if shown:
            face.table(shown, columns)
        else:
            face.say("nothing found")
        if remark:
            face.say(remark)
    else:
        face.rows(
            shown, topic=topic, total=len(rows), timezone=accounting.zone.name, prices=accounting.book.version, **extra
        )
    return bool(rows)


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _cache(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.cache import cache_use

    models, total = cache_use(accounting.responses(chosen), accounting.book)
    ordered = sorted(models.items(), key=lambda pair: -pair[1].saved)
    rows = [{"model": model, **use.data()} for model, use in ordered]
    if rows:
        rows.append({"model": "total", **total.data()})
    columns = (
        Column("model"), Column("calls", show=number, right=True), Column("prompt_tokens", "prompt", tokens, right=True),
        Column("cache_read", "read", tokens, right=True), Column("cache_written", "written", tokens, right=True),
        Column("hit_rate", "from cache", _percent, right=True), _COST,
        Column("without_cache_micro_usd", "without cache", dollars, right=True),
        Column("saved_micro_usd", "saved", dollars, right=True),
    )  # fmt: skip
    return rows, columns, {"totals": total.data()}, "saved is net: writing to the cache costs more than plain input"


def _speed(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.timing import quantile, speeds, turn_seconds
    from ..index.reading_back import EntryReader

    found = accounting.responses(chosen)
    catalogue = accounting.entries()
    rows: Rows = []
    for model, speed in sorted(speeds(catalogue, found).items(), key=lambda pair: -len(pair[1].whole)):
        data = {"model": model, **speed.data()}
        for name in ("seconds_to_first_row", "seconds_to_answer", "output_tokens_per_second"):
            for share in ("p50", "p95"):
                data[f"{name}_{share}"] = (data[name] or {}).get(share)
        rows.append(data)
    with EntryReader(accounting.place_of) as reader:
        turns = turn_seconds(catalogue, reader, {item.file_id for item in found})
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
        remark += f"; {len(turns):,} whole turns took {seconds(told['p50'])} (p50), {seconds(told['p95'])} (p95)"
    return rows, columns, {"turns": told}, remark


def _tools(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.tools import tool_use

    found = tool_use(accounting.entries(), accounting.responses(chosen))
    rows = [{"tool": name, **use.data()} for name, use in sorted(found.items(), key=lambda pair: -pair[1].calls)]
    columns = (
        Column("tool"), Column("calls", show=number, right=True), Column("errors", show=number, right=True),
        Column("error_rate", "failed", _percent, right=True), Column("seconds_total", "time", seconds, right=True),
        Column("seconds_p50", "p50", seconds, right=True), Column("seconds_p95", "p95", seconds, right=True),
        Column("output_bytes", "gave back", size, right=True), Column("tokens_fed_back", "tokens", tokens, right=True),
    )  # fmt: skip
    return rows, columns, {}, "tokens: what prompts grew by after results, shared out by their size"


def _context(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.context import courses

    found = courses(accounting.responses(chosen), accounting.book, accounting.entries())
    whole = chosen.session is not None
    rows = [
        {**item.data(whole=whole), "drawn": sparkline([step.counts.prompt for step in item.steps][-60:])}
        for item in found
    ]
    columns = (
        _SESSION, Column("calls", show=number, right=True), Column("peak_tokens", "peak", tokens, right=True),
        Column("window", show=tokens, right=True), Column("peak_share", "full", _percent, right=True),
        Column("last_tokens", "now", tokens, right=True), Column("compactions", right=True), Column("drawn", "prompt over time"),
    )  # fmt: skip
    return rows, columns, {}, ""


def _blocks(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.blocks import find_blocks

    now = time.time_ns() // 1000
    found = list(reversed(find_blocks(accounting.responses(chosen), accounting.book)))
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
        Column("start", show=local), Column("last", "last call", local), Column("state"),
        Column("calls", show=number, right=True), Column("tokens", show=tokens, right=True), _COST,
        Column("micro_usd_per_hour", "an hour", dollars, right=True),
        Column("projected_micro_usd", "projected", dollars, right=True), Column("drawn", ""),
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
    drawn = "\n".join(f"{name} {sparkline(hours) or '':<24}" for name, hours in zip(_WEEKDAYS, week, strict=True))
    columns = (Column("day"), Column("active_seconds", "active", seconds, right=True), Column("drawn", ""))
    whole = seconds(sum(days.values()))
    remark = f"active: stretches without a pause of five minutes ({whole} in all)\nhours of the week:\n{drawn}"
    return rows, columns, {"calls_by_weekday_and_hour": week}, remark


def _changes(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.work import lines_changed

    rows = lines_changed(accounting.entries(), accounting.responses(chosen), accounting.book)
    columns = (
        Column("project"), Column("files", show=number, right=True), Column("added", show=number, right=True),
        Column("removed", show=number, right=True), _COST, Column("micro_usd_per_line", "a line", dollars, right=True),
    )  # fmt: skip
    return rows, columns, {}, ""


def _commits(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.work import commits

    rows = commits(accounting.entries(), accounting.responses(chosen), accounting.book)
    columns = (
        Column("time", "committed", local), _SESSION, Column("branch"), Column("calls", show=number, right=True), _COST,
        Column("command", stretch=True),
    )  # fmt: skip
    return rows, columns, {}, "a commit's cost is that of its session since the commit before"


def _prs(accounting: Accounting, chosen: Selection) -> Answer:
    from ..analysis.work import pull_requests

    rows = pull_requests(accounting.entries(), accounting.responses(chosen), accounting.book)
    columns = (
        Column("pr_url", "pull request"), Column("sessions", show=lambda value: str(len(value)), right=True),
        Column("calls", show=number, right=True), _COST,
    )  # fmt: skip
    return rows, columns, {}, ""


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
