"""Write the topics of `usage --more` as tables: the columns, the drawings and the remark of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final

from .charts import bar, sparkline
from .formatting import number, plural, seconds, size
from .moments import local_in
from .money import cost_in_words, dollars, tokens
from .table import Column
from .usage_remarks import lower_bound_remark, unpriced_remark

if TYPE_CHECKING:
    from ..analysis.context import ContextTimeline

Rows = list[dict[str, Any]]

_COST: Final = Column("cost", right=True)
_OF_THE_COST: Final = ("without_cache_micro_usd", "micro_usd_per_hour", "projected_micro_usd", "micro_usd_per_line")
_SESSION: Final = Column("session_id", "session", lambda text: text[:8])
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WITH_TIMES: Final = ("blocks", "hours", "commits")
"""Topics whose tables show times, so that the time zone must be named."""


@dataclass(slots=True)
class TopicTable:
    """A topic as people read it."""

    rows: Rows
    columns: tuple[Column, ...]
    lines: list[str] = field(default_factory=list)
    """Drawings below the table."""
    remarks: list[str] = field(default_factory=list)


def topic_table(
    name: str,
    rows: Rows,
    beside: dict[str, Any],
    *,
    limit: int | None = None,
    zone: tzinfo | None = None,
    timelines: list[ContextTimeline] | None = None,
) -> TopicTable:
    """Make the table of a topic, with at most `limit` of its rows. `beside` has its totals; `zone` is the zone of times."""
    shown = TopicTable([dict(row) for row in rows], ())
    if name == "context":
        _context(shown, timelines or [])
    elif name in WITH_TIMES:
        _WITH_CLOCK[name](shown, beside, local_in(zone))
    else:
        _PLAIN[name](shown, beside)
    shown.rows = shown.rows[:limit]
    if name == "cache":
        shown.rows.append({"model": "total", **beside["totals"]})
    for row in shown.rows:
        _mark_cost(row)
    for key, remark in (("lower_bound_calls", lower_bound_remark), ("unpriced_calls", unpriced_remark)):
        calls = beside[key] if key in beside else sum(row.get(key, 0) for row in shown.rows)
        if calls:
            shown.remarks.insert(0, remark(calls))
    return shown


def _mark_cost(row: dict[str, Any]) -> None:
    """Write the cost of a row, and figures derived from it, with marks if something is left out."""
    if "cost_micro_usd" not in row:
        return
    marks = row["unpriced_calls"], row.get("lower_bound_calls", 0)
    row["cost"] = cost_in_words(row["cost_micro_usd"], *marks)
    if row["cost"] == "?":  # then no other sum of money in the row is known, either
        row |= {key: None for key in row if "micro_usd" in key}
    else:
        row |= {key: cost_in_words(row[key], *marks) for key in _OF_THE_COST if row.get(key) is not None}


def _percent(value: float) -> str:
    return f"{value:.1%}"


def _draw_bars(rows: Rows, key: str, width: int) -> None:
    largest = max((row[key] for row in rows), default=0)
    for row in rows:
        row["drawn"] = bar(row[key], largest, width)


def _cache(shown: TopicTable, beside: dict[str, Any]) -> None:
    shown.columns = (
        Column("model"), Column("calls", show=number, right=True), Column("prompt_tokens", "prompt", tokens, right=True),
        Column("cache_read", "read", tokens, right=True), Column("cache_written", "written", tokens, right=True),
        Column("hit_rate", "from cache", _percent, right=True), _COST,
        Column("without_cache_micro_usd", "without cache", right=True),
        Column("saved_micro_usd", "saved", dollars, right=True),
    )  # fmt: skip
    shown.remarks = ["saved is net: writing to the cache costs more than plain input"]


def _speed(shown: TopicTable, beside: dict[str, Any]) -> None:
    shown.columns = (
        Column("model"), Column("answers", show=number, right=True),
        Column("seconds_to_first_row_p50", "first row p50", seconds, right=True),
        Column("seconds_to_answer_p50", "answer p50", seconds, right=True),
        Column("seconds_to_answer_p95", "p95", seconds, right=True),
        Column("output_tokens_per_second_p50", "tokens/s p50", str, right=True),
        Column("output_tokens_per_second_p95", "p95", str, right=True),
        Column("left_out", "left out", number, right=True),
    )  # fmt: skip
    remark = "times are those of the rows; answers whose rows are not in order of time are left out"
    turns = beside["turns"]
    if turns["count"]:
        took = f"{seconds(turns['p50'])} (p50), {seconds(turns['p95'])} (p95)"
        remark += f"; {plural(turns['count'], 'whole turn')} took {took}"
    shown.remarks = [remark]


def _tools(shown: TopicTable, beside: dict[str, Any]) -> None:
    shown.columns = (
        Column("tool"), Column("calls", show=number, right=True), Column("errors", show=number, right=True),
        Column("error_rate", "failed", _percent, right=True), Column("seconds_total", "time", seconds, right=True),
        Column("seconds_p50", "p50", seconds, right=True), Column("seconds_p95", "p95", seconds, right=True),
        Column("output_bytes", "gave back", size, right=True), Column("tokens_fed_back", "tokens", tokens, right=True),
    )  # fmt: skip
    shown.remarks = ["tokens: what prompts grew by after results, shared out by their size"]


def _context(shown: TopicTable, timelines: list[ContextTimeline]) -> None:
    for row, timeline in zip(shown.rows, timelines, strict=False):
        row["drawn"] = _timeline_line(timeline)
    shown.columns = (
        _SESSION, Column("calls", show=number, right=True), Column("peak_tokens", "peak", tokens, right=True),
        Column("window", show=tokens, right=True), Column("peak_share", "full", _percent, right=True),
        Column("last_tokens", "now", tokens, right=True), Column("compactions", right=True),
        Column("drawn", "prompt over time", spare=True, drawn=True),
    )  # fmt: skip
    shown.remarks = ["┊ a compaction"] if any(item.boundaries for item in timelines) else []


def _timeline_line(timeline: ContextTimeline) -> str:
    """Draw the last prompts as a line of blocks, with a mark at each compaction of the window."""
    shown = timeline.steps[-60:]
    blocks = sparkline([step.counts.prompt for step in shown])
    marks = timeline.after_compaction()[-60:]
    return "".join(("┊" if marked else "") + block for block, marked in zip(blocks, marks, strict=False))


def window_parts_table(parts: Rows) -> tuple[Rows, tuple[Column, ...]]:
    """Return rows and columns of what fills the context window of a session."""
    largest = parts[0]["tokens"]
    rows = [
        {
            **part,
            "what": f"{part['what']}: {part['tool']}" if part["tool"] else part["what"],
            "drawn": bar(part["tokens"], largest, 20),
        }
        for part in parts
    ]
    columns = (
        Column("what", "filled by (estimated)"), Column("tokens", show=tokens, right=True),
        Column("share", show=_percent, right=True), Column("drawn", "", spare=True, drawn=True),
    )  # fmt: skip
    return rows, columns


def _blocks(shown: TopicTable, beside: dict[str, Any], clock: Callable[[str], str]) -> None:
    _draw_bars(shown.rows, "cost_micro_usd", 16)
    shown.columns = (
        Column("start", show=clock), Column("last", "last call", clock), Column("state"),
        Column("calls", show=number, right=True), Column("tokens", show=tokens, right=True), _COST,
        Column("micro_usd_per_hour", "an hour", right=True),
        Column("projected_micro_usd", "projected", right=True), Column("drawn", "", spare=True, drawn=True),
    )  # fmt: skip
    shown.remarks = ["a block begins with the hour of its first call and lasts five hours"]


def _hours(shown: TopicTable, beside: dict[str, Any], clock: Callable[[str], str]) -> None:
    _draw_bars(shown.rows, "active_seconds", 20)
    shown.columns = (
        Column("day"),
        Column("active_seconds", "active", seconds, right=True),
        Column("drawn", "", spare=True, drawn=True),
    )
    shown.lines = _week_map(beside["calls_by_weekday_and_hour"])
    whole = seconds(beside["active_seconds"])
    shown.remarks = [f"active: stretches without a pause of five minutes ({whole} in all)"]


def _week_map(week: list[list[int]]) -> list[str]:
    """Draw calls by weekday and hour: each shade relative to the largest of all."""
    largest = max(max(hours) for hours in week)
    lines = [
        f"{name} " + "".join(sparkline([calls, largest])[:1] for calls in hours)
        for name, hours in zip(_WEEKDAYS, week, strict=True)
    ]
    return ["", "hours of the week:", "    0     6     12    18", *(line.rstrip() for line in lines)]


def _changes(shown: TopicTable, beside: dict[str, Any]) -> None:
    shown.columns = (
        Column("project"), Column("files", show=number, right=True), Column("added", show=number, right=True),
        Column("removed", show=number, right=True), _COST, Column("micro_usd_per_line", "a line", right=True),
    )  # fmt: skip


def _commits(shown: TopicTable, beside: dict[str, Any], clock: Callable[[str], str]) -> None:
    shown.columns = (
        Column("time", "committed", clock), _SESSION, Column("branch"),
        Column("calls", show=number, right=True), _COST, Column("command", stretch=True),
    )  # fmt: skip
    shown.remarks = ["a commit's cost is that of its session since the commit before"]


def _pull_requests(shown: TopicTable, beside: dict[str, Any]) -> None:
    shown.columns = (
        Column("pr_url", "pull request"), Column("sessions", show=lambda value: str(len(value)), right=True),
        Column("calls", show=number, right=True), _COST,
    )  # fmt: skip
    shown.remarks = ["a pull request's cost is that of its sessions since their links before"]


_PLAIN: Final = {"cache": _cache, "speed": _speed, "tools": _tools, "changes": _changes, "prs": _pull_requests}
_WITH_CLOCK: Final = {"blocks": _blocks, "hours": _hours, "commits": _commits}
