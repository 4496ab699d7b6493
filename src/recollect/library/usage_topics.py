"""Answer questions beyond token sums: cache, speed, tools, context, blocks, hours, changes, commits, pull requests.

Each topic has a list of rows, as in JSON, and totals that belong to the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..errors import QueryError

if TYPE_CHECKING:
    from ..analysis.context import ContextTimeline
    from .usage import Ledger, Selection

Rows = list[dict[str, Any]]


@dataclass(slots=True)
class Topic:
    """The answer to a question about one topic."""

    name: str
    rows: Rows
    zone: str
    prices: str
    beside: dict[str, Any] = field(default_factory=dict)
    """Totals and the like, under their names in JSON."""
    timelines: list[ContextTimeline] = field(default_factory=list)
    """The timeline of each row's session; only for the topic `context`."""


def topic(ledger: Ledger, name: str, selection: Selection) -> Topic:
    """Answer the question about a topic over the selected calls. Raises QueryError for an unknown topic."""
    answer = _TOPICS.get(name)
    if answer is None:
        raise QueryError(f"usage has no topic {name!r}", hint=f"one of {', '.join(_TOPICS)}", slug="bad-usage-question")
    found = Topic(name, [], ledger.zone.name, ledger.book.version)
    answer(found, ledger, selection)
    return found


def _cache(found: Topic, ledger: Ledger, selection: Selection) -> None:
    models, total = ledger.cache(selection)
    found.rows = [{"model": model or "(no model)", **use.data()} for model, use in models.items()]
    found.beside = {"totals": total.data(), "unpriced_calls": total.unpriced, "lower_bound_calls": total.lower_bounds}


def _speed(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.timing import quantile, speeds, turn_seconds
    from ..index.catalogue.reading_back import EntryReader

    calls = ledger.calls(selection)
    catalogue = ledger.entries()
    for model, speed in sorted(speeds(catalogue, calls).items(), key=lambda pair: -len(pair[1].whole)):
        data = {"model": model or "(no model)", **speed.data()}
        for name in ("seconds_to_first_row", "seconds_to_answer", "output_tokens_per_second"):
            for share in ("p50", "p95"):
                data[f"{name}_{share}"] = (data[name] or {}).get(share)
        found.rows.append(data)
    with EntryReader(ledger.place_of) as reader:
        turns = turn_seconds(catalogue, reader, calls)
    found.beside = {"turns": {"count": len(turns), "p50": quantile(turns, 0.5), "p95": quantile(turns, 0.95)}}


def _tools(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.tools import tool_use

    used = tool_use(ledger.entries(), ledger.calls(selection))
    ordered = sorted(used.items(), key=lambda pair: (-pair[1].calls, pair[0]))
    found.rows = [{"tool": name, **use.data()} for name, use in ordered]


def _context(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.context import context_timelines

    found.timelines = context_timelines(
        ledger.calls(selection), ledger.book, ledger.entries(), since=selection.since, until=selection.until
    )
    whole = selection.session is not None
    for item in found.timelines:
        row = item.data(whole=whole)
        if whole:
            row["filled_by"] = ledger.context_parts(item.session_id)
        found.rows.append(row)


def _blocks(found: Topic, ledger: Ledger, selection: Selection) -> None:
    now = time.time_ns() // 1000
    for block in reversed(ledger.blocks(selection)):
        found.rows.append({**block.data(now), "state": "running" if block.is_active(now) else ""})


def _hours(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.timing import active_seconds, hours_of_week

    calls = ledger.calls(selection)
    days = active_seconds(calls, ledger.zone)
    found.rows = [{"day": day, "active_seconds": round(value)} for day, value in sorted(days.items())]
    found.beside = {
        "calls_by_weekday_and_hour": hours_of_week(calls, ledger.zone),
        "active_seconds": round(sum(days.values()), 1),
    }


def _changes(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.work import lines_changed

    found.rows = lines_changed(ledger.entries(), ledger.calls(selection), ledger.book)


def _commits(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.work import commits

    found.rows = commits(ledger.entries(), ledger.calls(selection), ledger.book)


def _pull_requests(found: Topic, ledger: Ledger, selection: Selection) -> None:
    from ..analysis.work import pull_requests
    from ..index.catalogue.reading_back import EntryReader

    calls = ledger.calls(selection)
    with EntryReader(ledger.place_of) as reader:
        found.rows = pull_requests(ledger.entries(), reader, calls, ledger.book)


_TOPICS: Final[dict[str, Callable[[Topic, Ledger, Selection], None]]] = {
    "cache": _cache,
    "speed": _speed,
    "tools": _tools,
    "context": _context,
    "blocks": _blocks,
    "hours": _hours,
    "changes": _changes,
    "commits": _commits,
    "prs": _pull_requests,
}
TOPICS: Final = tuple(_TOPICS)
