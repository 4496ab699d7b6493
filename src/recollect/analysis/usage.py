"""Usage by anything: day, week, month, session, project, model, sub-agent, branch, tool.

A group's parts are its models; a report's totals are the sum of its groups, whatever it is grouped by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from .cost import Counts, micro_dollars
from .prices.book import PriceBook
from .prices.names import plain_name
from .responses import Response, project_path
from .totals import Totals
from .zones import Zone, period_of

PERIODS: Final = ("day", "week", "month", "year")
DIMENSIONS: Final = (*PERIODS, "hour", "session", "project", "model", "agent", "branch", "tool", "version")
NO_TIME: Final = "(no time)"
NOTHING: Final = {"branch": "(no branch)", "project": "(no project)", "agent": "(main)", "model": "(no model)"}


@dataclass(slots=True)
class Group:
    """One row of a report."""

    key: str
    totals: Totals = field(default_factory=Totals)
    models: dict[str, Totals] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None


@dataclass(slots=True)
class UsageReport:
    """Groups in order, their sum, and what must be said about it."""

    by: str
    groups: list[Group]
    totals: Totals
    zone: str
    prices: str
    unpriced: dict[str, int] = field(default_factory=dict)
    """Models without a price, and how many calls of each."""
    timeless: int = 0
    """Calls without a time: they are in the totals, and under "(no time)" by day."""
    copies: int = 0
    """How often a call was found again in another file, and not counted."""
    today: bool = False
    """Everything is priced as today, not as on its day."""

    def group(self, key: str) -> Group | None:
        return next((group for group in self.groups if group.key == key), None)


def key_function(by: str, zone: Zone, *, separate: bool = False) -> Callable[[Response], str]:
    if by in PERIODS:
        period = period_of(by)
        return lambda item: period(zone.day(item.time)) or NO_TIME
    if by == "hour":
        return lambda item: NO_TIME if item.time is None else zone.local(item.time).strftime("%Y-%m-%d %H:00")
    makers: dict[str, Callable[[Response], str | None]] = {
        "session": lambda item: item.session_id,
        "project": lambda item: project_path(item.cwd, separate=separate),
        "model": lambda item: item.model,
        "agent": lambda item: item.agent_id,
        "branch": lambda item: item.git_branch,
    }
    make, nothing = makers[by], NOTHING.get(by, f"(no {by})")
    return lambda item: make(item) or nothing


def gather(
    found: Iterable[Response], by: str, zone: Zone, book: PriceBook, *, separate: bool = False,
    keys: Callable[[Response], list[tuple[str, Counts, int | None]]] | None = None,
) -> UsageReport:  # fmt: skip
    """Group responses. `keys` splits a response over several groups (tools), whose parts add up to it."""
    key_of = key_function(by, zone, separate=separate) if keys is None else None
    groups: dict[str, Group] = {}
    report = UsageReport(by, [], Totals(), zone.name, book.version, today=book.at is not None)
    for item in found:
        tariff = book.tariff(item.model, item.time, item.counts.prompt, item.speed, item.service_tier, item.geo)
        cost = None if tariff is None else micro_dollars(item.counts, tariff, book.search)
        if cost is None:
            report.unpriced[item.model] = report.unpriced.get(item.model, 0) + 1
        if item.time is None:
            report.timeless += 1
        report.copies += item.copies - 1
        report.totals.add(item.counts, cost, item.lower_bound, item.odd)
        shares = [(key_of(item), item.counts, cost)] if key_of is not None else keys(item) if keys is not None else []
        for key, counts, share in shares:
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group(key)
            group.totals.add(counts, share if cost is not None else None, item.lower_bound, item.odd)
            models = group.models.get(item.model)
            if models is None:
                models = group.models[item.model] = Totals()
            models.add(counts, share if cost is not None else None, item.lower_bound, item.odd)
            if item.time is not None:
                group.first = item.time if group.first is None else min(group.first, item.time)
                group.last = item.time if group.last is None else max(group.last, item.time)
    report.groups = in_order(groups.values(), by)
    return report


def in_order(groups: Iterable[Group], by: str) -> list[Group]:
    """Periods by time, everything else by cost, the dearest first."""
    if by in PERIODS or by == "hour":
        return sorted(groups, key=lambda group: (group.key != NO_TIME, group.key))
    return sorted(groups, key=lambda group: (-group.totals.cost, -group.totals.counts.tokens, group.key))


def from_day_sums(found: dict[tuple[str, str], Totals], by: str, zone: Zone, book: PriceBook) -> UsageReport:
    """The same report from sums that are there already."""
    period = period_of(by)
    groups: dict[str, Group] = {}
    report = UsageReport(by, [], Totals(), zone.name, book.version, today=book.at is not None)
    for (day, model), totals in found.items():
        key = period(day) or NO_TIME
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(key)
        group.totals.join(totals)
        group.models.setdefault(model, Totals()).join(totals)
        report.totals.join(totals)
        if not day:
            report.timeless += totals.calls
        if totals.unpriced:
            report.unpriced[model] = report.unpriced.get(model, 0) + totals.unpriced
    report.groups = in_order(groups.values(), by)
    return report


def models_in_words(models: Iterable[str]) -> list[str]:
    """Names of models without what all of them share."""
    return sorted({plain_name(model).removeprefix("claude-") or model for model in models})


def group_data(group: Group, by: str) -> dict[str, Any]:
    """A group as a row of JSON."""
    models = [
        {"model": model, **totals.data()}
        for model, totals in sorted(group.models.items(), key=lambda pair: (-pair[1].cost, pair[0]))
    ]
    return {by: group.key, **group.totals.data(), "models": models}
