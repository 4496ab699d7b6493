"""Group usage by day, week, month, session, project, model, subagent, branch or tool; also by several at once.

Totals by day and model are summed in the database: they are the source of `usage` by day, week or month.

By status (still in the conversation, on an abandoned branch, before a compaction, of a subagent, ...) every call counts once, so
the calls of all statuses together are all calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ..graph.thread import ABANDONED, BRIDGED, LIVE, PRECOMPACT, SUBAGENT, UNREACHABLE
from ..index.api_calls.rows import COUNTS, LOWER_BOUND, ODD, PARTIAL, PROGRESS, ZONELESS
from ..index.catalogue.schema import shown_uuid
from .api_calls import ApiCall, project_path
from .cost import Counts, Totals, micro_dollars
from .prices.book import PriceBook, plain_name
from .zones import Zone, period_of

if TYPE_CHECKING:
    import apsw

    from ..index.catalogue.catalogue import Catalogue
    from .zones import Zone

PERIODS: Final = ("day", "week", "month", "year")
DIMENSIONS: Final = (*PERIODS, "hour", "session", "project", "model", "subagent", "branch", "tool", "version")
NO_TIME: Final = "(no time)"
NOTHING: Final = {"branch": "(no branch)", "project": "(no project)", "subagent": "(main)", "model": "(no model)"}


@dataclass(slots=True)
class Group:
    """One row of a report."""

    keys: tuple[str, ...]
    """One for each grouping of the report."""
    totals: Totals = field(default_factory=Totals)
    models: dict[str, Totals] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None

    @property
    def key(self) -> str:
        return " ".join(self.keys)

    def data(self, by: str) -> dict[str, Any]:
        """Return the group as a row of JSON: one field for each grouping, then its totals."""
        models = [
            {"model": model, **totals.data()}
            for model, totals in sorted(self.models.items(), key=lambda pair: (-pair[1].cost, pair[0]))
        ]
        return {**dict(zip(groupings(by), self.keys, strict=True)), **self.totals.data(), "models": models}


@dataclass(slots=True)
class UsageReport:
    """Groups in order, their sum, and its caveats."""

    by: str
    """The groupings, with commas between them."""
    groups: list[Group]
    totals: Totals
    zone: str
    prices: str
    unpriced: dict[str, int] = field(default_factory=dict)
    """Models without a price, and how many calls of each."""
    timeless: int = 0
    """Calls without a valid time: they are in the totals, and under "(no time)" by day."""
    today: bool = False
    """Whether everything is priced as today, not as on its day."""

    @property
    def copies(self) -> int:
        """How many further copies of calls were found in other files and not counted."""
        return self.totals.copies

    @property
    def groupings(self) -> tuple[str, ...]:
        return groupings(self.by)

    def without_first_grouping(self) -> UsageReport:
        """Return a report of the same calls, grouped by the other groupings alone."""
        names = self.groupings[1:]
        groups: dict[tuple[str, ...], Group] = {}
        for part in self.groups:
            keys = part.keys[1:]
            group = groups.get(keys)
            if group is None:
                group = groups[keys] = Group(keys)
            group.totals.join(part.totals)
            for model, totals in part.models.items():
                group.models.setdefault(model, Totals()).join(totals)
            group.first = min((time for time in (group.first, part.first) if time is not None), default=None)
            group.last = max((time for time in (group.last, part.last) if time is not None), default=None)
        return replace(self, by=",".join(names), groups=in_order(groups.values(), names))

    def group(self, *keys: str) -> Group | None:
        return next((group for group in self.groups if group.keys == keys), None)


def groupings(by: str | Iterable[str]) -> tuple[str, ...]:
    """Parse what to group by: ``day``, ``day,model`` or several names. Each counts once."""
    return tuple(dict.fromkeys(by.split(",") if isinstance(by, str) else by))


def key_function(by: str, zone: Zone, *, separate: bool = False) -> Callable[[ApiCall], str]:
    if by in PERIODS:
        period = period_of(by)
        return lambda item: period(zone.day(item.time)) or NO_TIME
    if by == "hour":
        return lambda item: (
            zone.local(item.time).strftime("%Y-%m-%d %H:00")
            if item.time is not None and zone.day(item.time)
            else NO_TIME
        )
    makers: dict[str, Callable[[ApiCall], str | None]] = {
        "session": lambda item: item.session_id,
        "project": lambda item: project_path(item.cwd, separate=separate),
        "model": lambda item: item.model,
        "subagent": lambda item: item.subagent_id,
        "branch": lambda item: item.git_branch,
    }
    make, nothing = makers[by], NOTHING.get(by, f"(no {by})")
    return lambda item: make(item) or nothing


def gather(
    found: Iterable[ApiCall], by: str | Iterable[str], zone: Zone, book: PriceBook, *, separate: bool = False,
    tools: Callable[[ApiCall], list[tuple[str, Counts, int | None]]] | None = None,
) -> UsageReport:  # fmt: skip
    """Group responses into a report.

    `tools` divides a response among the tools it called, for groupings by tool; the parts add up to the response.
    """
    names = groupings(by)
    makers = [None if name == "tool" else key_function(name, zone, separate=separate) for name in names]
    groups: dict[tuple[str, ...], Group] = {}
    report = UsageReport(",".join(names), [], Totals(), zone.name, book.version, today=book.at is not None)
    for item in found:
        tariff = book.tariff(item.model, item.time, item.counts.prompt, item.speed, item.service_tier, item.geo)
        cost = None if tariff is None else micro_dollars(item.counts, tariff, book.search)
        if cost is None:
            report.unpriced[item.model] = report.unpriced.get(item.model, 0) + 1
        if not zone.day(item.time):
            report.timeless += 1
        marks = item.marks
        if tools is not None:  # it may be in several groups, but is one call
            report.totals.add(item.counts, cost, *marks)
        for tool, counts, share in [("", item.counts, cost)] if tools is None else tools(item):
            keys = tuple([tool if make is None else make(item) for make in makers])
            group = groups.get(keys)
            if group is None:
                group = groups[keys] = Group(keys)
            models = group.models.get(item.model)
            if models is None:
                models = group.models[item.model] = Totals()
            models.add(counts, share if cost is not None else None, *marks)
            if item.time is not None:
                group.first = item.time if group.first is None else min(group.first, item.time)
                group.last = item.time if group.last is None else max(group.last, item.time)
    for group in groups.values():
        for models in group.models.values():
            group.totals.join(models)
        if tools is None:
            report.totals.join(group.totals)
    report.groups = in_order(groups.values(), names)
    return report


def in_order(groups: Iterable[Group], names: tuple[str, ...]) -> list[Group]:
    """Sort groups: periods by time, everything else by cost, the most expensive first; grouping by grouping."""
    listed = list(groups)
    sums: dict[tuple[str, ...], Totals] = {}
    for group in listed:
        for depth in range(1, len(names) + 1):
            sums.setdefault(group.keys[:depth], Totals()).join(group.totals)

    def place(group: Group) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        for depth, name in enumerate(names, 1):
            key = group.keys[depth - 1]
            if name in PERIODS or name == "hour":
                found.append((key != NO_TIME, 0, key))
            else:
                totals = sums[group.keys[:depth]]
                found.append((-totals.cost, -totals.counts.tokens, key))
        return found

    return sorted(listed, key=place)


def from_day_totals(
    found: dict[tuple[str, str], Totals], by: str | Iterable[str], zone: Zone, book: PriceBook
) -> UsageReport:
    """Build a report by periods and models from totals by day and model."""
    names = groupings(by)
    periods = [None if name == "model" else period_of(name) for name in names]
    groups: dict[tuple[str, ...], Group] = {}
    report = UsageReport(",".join(names), [], Totals(), zone.name, book.version, today=book.at is not None)
    for (day, model), totals in found.items():
        keys = tuple([(model or NOTHING["model"]) if make is None else make(day) or NO_TIME for make in periods])
        group = groups.get(keys)
        if group is None:
            group = groups[keys] = Group(keys)
        group.totals.join(totals)
        group.models.setdefault(model, Totals()).join(totals)
        report.totals.join(totals)
        if not day:
            report.timeless += totals.calls
        if totals.unpriced:
            report.unpriced[model] = report.unpriced.get(model, 0) + totals.unpriced
    report.groups = in_order(groups.values(), names)
    return report


def models_in_words(models: Iterable[str]) -> list[str]:
    """Return short names of models, without the prefix that all of them share."""
    return sorted({plain_name(model).removeprefix("claude-") or model for model in models})


_EVER: Final = 1 << 62
_EARLIER: Final = 10**17
"""About how many microseconds are added before a time is divided, more than since the year 1.

SQLite's division rounds towards zero, so times must be positive.
"""
_SUMS: Final = (
    f"count(*), {', '.join(f'sum({name})' for name in COUNTS)}, coalesce(sum(cost), 0), sum(cost IS NULL), "
    f"sum(flags & {LOWER_BOUND}), sum(flags & {ODD | PARTIAL} <> 0), sum(flags & {ZONELESS} <> 0), sum(copies - 1)"
)

#: The rows of the view `counted_calls`, in two parts: that takes half the time.
_ALONE: Final = (
    "SELECT *, 1 AS copies FROM api_calls a WHERE NOT EXISTS "
    "(SELECT 1 FROM shared_calls s WHERE s.file_id = a.file_id AND s.line = a.line AND s.part = a.part)"
)
_SHARED: Final = (
    f"SELECT a.file_id, a.time, a.model_id, {', '.join(f's.{name}' for name in COUNTS)}, s.flags, s.cost, s.copies "
    "FROM shared_calls s CROSS JOIN api_calls a USING (file_id, line, part) WHERE s.counted"
)


def day_totals(
    db: apsw.Connection, home: int, zone: Zone, since: int | None = None, until: int | None = None
) -> dict[tuple[str, str], Totals]:
    """Return the totals by (day, model) of one home. `since` and `until` are microseconds, [since, until).

    Raises apsw.SQLError if the sums exceed the range of the database's integers.
    """
    times = ""
    if since is not None or until is not None:
        times = f" AND time >= {-_EVER if since is None else since} AND time < {_EVER if until is None else until}"
    names: dict[int, str] = dict(iter(db.execute("SELECT id, text FROM strings")))
    found: dict[tuple[str, str], Totals] = {}
    where = f"WHERE {_of_home(db, home)}{times}"
    for source in (_ALONE, _SHARED):
        for step, model, calls, *sums in db.execute(
            f"SELECT {_step(zone)}, model_id, {_SUMS} FROM ({source}) {where} GROUP BY 1, 2"
        ):
            totals = Totals(calls, Counts(*sums[:7]), *sums[7:])
            found.setdefault((_day(zone, step), names[model]), Totals()).join(totals)
    return dict(sorted(found.items()))


def days_of_sessions(db: apsw.Connection, home: int, zone: Zone) -> dict[str, set[str]]:
    """Return the days on which each session of a home, including its subagents, made calls."""
    found: dict[str, set[str]] = {}
    for session, step in db.execute(
        f"SELECT DISTINCT coalesce(c.session_id, f.session_id), {_step(zone)} FROM counted_calls c "
        "JOIN files f ON f.id = c.file_id WHERE f.home_id = ?",
        (home,),
    ):
        if session is not None and (day := _day(zone, step)):
            found.setdefault(session, set()).add(day)
    return found


def _of_home(db: apsw.Connection, home: int) -> str:
    """Return the SQL condition for calls of a home.

    Looking up the home of each call costs as much as summing, and most catalogues have only one home.
    """
    if db.execute("SELECT count(*) FROM homes").get == 1:
        return "TRUE"
    return f"+file_id IN (SELECT id FROM files WHERE home_id = {int(home)})"


def _step(zone: Zone) -> str:
    """Return SQL that numbers the step (`Zone.step`) of a call's time; all moments of a step are of one day."""
    return f"(time + {_EARLIER // zone.step * zone.step}) / {zone.step}"


def _day(zone: Zone, step: int | None) -> str:
    return zone.day(None if step is None else step * zone.step - _EARLIER // zone.step * zone.step)


_BEST_FIRST: Final = (LIVE, PRECOMPACT, ABANDONED, SUBAGENT, UNREACHABLE, BRIDGED)
"""A call has the best status of its lines: one of them may be an older copy that Claude Code skips."""
_Key = tuple[int, str | int]
"""A file, and a call or a line in it."""


def status_test(catalogue: Catalogue, status: str) -> Callable[[ApiCall], bool]:
    """Return a function that decides whether a response has a status. The statuses of the entries must be current."""
    best = _best_of_calls(catalogue)

    def fits(item: ApiCall) -> bool:
        if item.subagent_id is not None or item.flags & PROGRESS:  # progress lines record a subagent's calls
            return status == SUBAGENT
        found = best.get((item.file_id, item.answer), best.get((item.file_id, item.line)))
        # Lines that are not rows have no status: Claude Code does not treat them as rows, either.
        return status == (UNREACHABLE if found is None else _BEST_FIRST[found])

    return fits


def _best_of_calls(catalogue: Catalogue) -> dict[_Key, int]:
    """Return the index in `_BEST_FIRST` by call, and by line for calls that have no other key."""
    rank = {status: place for place, status in enumerate(_BEST_FIRST)}
    best: dict[_Key, int] = {}
    rows = catalogue.connection.execute(
        "SELECT file_id, line, coalesce(nullif(message_id, ''), nullif(request_id, '')), uuid, status FROM entries "
        "WHERE status IS NOT NULL AND type IN ('assistant', 'progress')"
    )
    for file_id, line, call, uuid, status in rows:
        place = rank[status]
        keys: tuple[_Key, ...] = ((file_id, call),) if call else ((file_id, f"row:{shown_uuid(uuid)}"), (file_id, line))
        for key in keys:
            if place < best.get(key, len(rank)):
                best[key] = place
    return best
