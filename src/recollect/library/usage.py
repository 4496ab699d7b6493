"""Count the tokens and the cost of a library: every API call once, at the price of its day.

    library.usage(by="month").totals.cost                     # micro-dollars
    ledger = library.ledger(timezone="Europe/Berlin")         # several questions about the same calls
    ledger.blocks(ledger.select(since="7d"))

The calls are read from the index, which the first question brings up to date. A report over an unchanged store imports only
what counting needs.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from ..analysis.api_calls import ApiCall, api_calls, home_numbers, project_path
from ..analysis.cost import Counts, Totals, usual_prices
from ..analysis.cost import message_cost as cost_of_message
from ..analysis.explain import OMITTED
from ..analysis.prices.book import PriceBook, price_book
from ..analysis.usage import (
    DIMENSIONS,
    NO_TIME,
    PERIODS,
    Group,
    UsageReport,
    day_totals,
    days_of_sessions,
    from_day_totals,
    gather,
    groupings,
    key_function,
)
from ..analysis.zones import Zone, zone_named
from ..environment import time_zone
from ..errors import NotFound, QueryError, StoreBusy
from ..format.path_text import to_path
from ..format.usage import Usage
from ..index.catalogue.catalogue import BROKEN, BUSY_MS, Catalogue
from ..store.opening import file_stamp

if TYPE_CHECKING:
    from datetime import date, datetime

    from ..analysis.api_calls import Comparison
    from ..analysis.blocks import Block
    from ..analysis.cache import CacheUse
    from ..analysis.prompts import PromptCost
    from ..index.api_calls.sync import CallsReport
    from ..index.catalogue.tracking import FileChange
    from ..store.home import Home
    from .library import Library

__all__ = [
    "DIMENSIONS",
    "NO_TIME",
    "OMITTED",
    "PERIODS",
    "ApiCall",
    "ExpensivePrompts",
    "Explanation",
    "Group",
    "Ledger",
    "Selection",
    "SyncLag",
    "Totals",
    "Usage",
    "UsageReport",
    "message_cost",
]  # fmt: skip

_LOOKED: Final = "looked"
_LOOK_SECONDS: Final = 15
_SUMMED: Final = frozenset((*PERIODS, "model"))
"""Groupings for which sums by day and model suffice."""
_DAY: Final = 86_400_000_000
_LOOK_BACK_DAYS: Final = (2, 8, 32)
"""How many days back to search for a pause of five hours, step by step; after the last step all calls are read."""
_PATIENCE: Final = 0.02
"""How many seconds the status line waits for another process that writes to the index."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which API calls to count: from `since` up to, not including, `until` (microseconds), of a project, and so on."""

    since: int | None = None
    until: int | None = None
    project: str | None = None
    session: str | None = None
    model: str | None = None
    branch: str | None = None
    subagent: str | None = None
    status: str | None = None

    @property
    def only_time(self) -> bool:
        """Return whether only a time is selected."""
        return self == Selection(self.since, self.until)


class SyncLag(NamedTuple):
    """What is not indexed yet. Without arguments: nothing is missing."""

    newest: int | None = None
    """When the newest missing file was last written to, in microseconds. All calls of a later time are counted."""
    of_session: bool = False
    """Whether files of the requested session may be missing."""
    may_be_less: bool = False
    """Whether calls may be counted that are gone from the files: then a sum is not even a lower bound."""

    def mark(self, since: int) -> str:
        """Return the mark before a sum since a moment: `≥` (at least), `~` (about), or nothing."""
        if self.newest is None or self.newest < since:
            return ""
        return "~" if self.may_be_less else "≥"


class ExpensivePrompts(NamedTuple):
    """The prompts that cost the most, and the sum over all prompts."""

    rows: list[tuple[PromptCost, str]]
    """Each prompt with its text, the most expensive first."""
    total: int
    """The number of prompts that led to a call."""
    totals: Totals
    zone: Zone
    prices: str

    def data(self) -> list[dict[str, Any]]:
        """Return the prompts as rows of JSON."""
        return [item.data(text) for item, text in self.rows]


class Explanation(NamedTuple):
    """API calls one by one, each with the rule, the price and the line that its cost comes from."""

    rows: list[dict[str, Any]]
    total: int
    """The number of calls; `rows` may hold fewer."""
    totals: Totals
    zone: str
    prices: str
    price_source: str
    omitted: tuple[str, ...]
    """What Claude Code pays for but no transcript records."""


class Ledger:
    """The API calls of a library, counted by the days of one time zone, at the prices of then or of today."""

    def __init__(self, library: Library, zone: Zone, *, prices: str = "then") -> None:
        self.library = library
        self.zone = zone
        self.today_prices = prices == "today"
        self._synced: CallsReport | None = None

    @property
    def homes(self) -> list[Home]:
        return self.library.homes

    @property
    def catalogue(self) -> Catalogue:
        return self.library.catalogue

    @cached_property
    def book(self) -> PriceBook:
        return price_book(time.time_ns() // 1000 if self.today_prices else None)

    def select(
        self, *, since: datetime | date | str | None = None, until: datetime | date | str | None = None, **others: str | None
    ) -> Selection:  # fmt: skip
        """Select API calls. Days, and times without a zone, are in the ledger's zone; a day as `until` is included."""
        return Selection(self._microseconds(since), self._microseconds(until, end=True), **others)

    def _microseconds(self, moment: datetime | date | str | None, *, end: bool = False) -> int | None:
        if moment is None:
            return None
        from .moments import read_moment

        text = moment if isinstance(moment, str) else moment.isoformat()
        return round(read_moment(text, end=end, zone=self.zone.info).timestamp() * 1000) * 1000

    def sync(self, progress: Callable[[int, int], None] | None = None) -> CallsReport:
        """Index the calls of changed files, once for this ledger; a broken index is rebuilt."""
        if self._synced is None:
            try:
                self._synced = self._sync(progress)
            except BROKEN as problem:
                self.make_anew(problem)
                self._synced = self._sync(progress)
        return self._synced

    def make_anew(self, damage: object) -> None:
        """Delete a damaged index; the next question builds a new one."""
        self.catalogue.make_anew(damage)
        self._synced = None

    def _sync(self, progress: Callable[[int, int], None] | None) -> CallsReport:
        from ..index.api_calls.sync import sync_calls

        return sync_calls(self.catalogue, self.homes, usual_prices(), progress=progress)

    def sync_some(self, most_bytes: Callable[[], int], session: str | None = None) -> SyncLag:
        """Index about `most_bytes` bytes of changed files, first the session's, then the newest; return what is missing.

        `most_bytes` is called once the changed files are known. With a `session`, only its files are checked if all files
        were checked a moment ago. If another process is writing to the index, this does not wait for it.
        """
        try:
            from ..index.api_calls.sync import drop_other_prices, sync_calls

            drop_other_prices(self.catalogue, usual_prices(), _PATIENCE)
            changes = self._changes_of(session) if session is not None and self._looked_lately() else None
            everything = changes is None
            if changes is None:
                from ..index.catalogue.tracking import changed

                changes = changed(self.catalogue, self.homes, "calls")
            left: list[FileChange] = []
            if changes:
                changes.sort(key=lambda item: (item.reason != "gone", item.session_id != session, -item.mtime_ns))
                left = sync_calls(
                    self.catalogue, self.homes, usual_prices(), changes=changes, lock_seconds=_PATIENCE,
                    most_bytes=most_bytes(),
                ).left  # fmt: skip
        except StoreBusy:  # another process is indexing much more than this: use what is there
            return SyncLag(1 << 62, of_session=True, may_be_less=True)
        if everything and not left:
            self._note_look()
        if not left:
            return SyncLag()
        return SyncLag(
            max(item.mtime_ns for item in left) // 1000,
            any(item.session_id in (session, None) for item in left),
            any(item.reason == "rewritten" for item in left),
        )

    def _changes_of(self, session: str) -> list[FileChange] | None:
        """Return the changed files of a session; None if the index has no file of it."""
        from ..index.catalogue.tracking import changed_among

        found: list[FileChange] = []
        known = False
        for home in self.homes:
            different = []
            for path, *before in self.catalogue.connection.execute(
                "SELECT f.path, p.size, p.mtime_ns, p.ctime_ns, p.inode FROM files f JOIN progress p ON p.file_id = f.id "
                "WHERE f.session_id = ? AND f.home_id = ? AND p.stage = 'calls'",
                (session, self.catalogue.home_id(home.real_root)),
            ):
                known = True
                with contextlib.suppress(OSError):  # deleted files are noticed by the next check of everything
                    if file_stamp(os.stat(f"{home.root}/{to_path(path)}")) != tuple(before):
                        different.append(path)
            found += changed_among(self.catalogue, home, "calls", different)
        return found if known else None

    def _looked_lately(self) -> bool:
        """Return whether every home was checked for changes a moment ago."""
        now = time.time()
        return all(0 <= now - self.catalogue.note(f"{_LOOKED} {home.real_root}") < _LOOK_SECONDS for home in self.homes)

    def _note_look(self) -> None:
        db = self.catalogue.connection
        db.set_busy_timeout(0)
        try:
            with self.catalogue.transaction():
                for home in self.homes:
                    self.catalogue.set_note(f"{_LOOKED} {home.real_root}", int(time.time()))
        except (apsw.BusyError, apsw.ReadOnlyError, apsw.FullError):  # then the next process checks everything again
            pass
        finally:
            db.set_busy_timeout(BUSY_MS)

    def usage(
        self, by: str | Iterable[str] = "day", selection: Selection | None = None, *, separate_worktrees: bool = False
    ) -> UsageReport:
        """Count the calls by a period, `session`, `project`, `model`, `subagent`, `branch` or `tool`, or by several of them.

        Periods are sorted by time, all other groups by cost, the most expensive first.
        """
        self.sync()
        chosen = selection or Selection()
        names = groupings(by)
        for name in names:
            if name not in DIMENSIONS:
                raise QueryError(
                    f"usage has no grouping {name!r}", hint=f"one of {', '.join(DIMENSIONS)}", slug="bad-usage-question"
                )
        if _SUMMED.issuperset(names) and chosen.only_time and not self.today_prices:
            numbers = home_numbers(self.catalogue, self.homes)
            if len(numbers) == 1:
                with contextlib.suppress(apsw.SQLError):  # more than the database can add up
                    totals = self.day_totals(numbers[0], chosen.since, chosen.until)
                    return from_day_totals(totals, names, self.zone, self.book)
        found = self.calls(chosen)
        tools = None
        if "tool" in names:
            from ..analysis.tools import tool_shares

            tools = tool_shares(self.entries(), found, self.book, self.place_of)
        return gather(found, names, self.zone, self.book, separate=separate_worktrees, tools=tools)

    def day_totals(
        self, home: int, since: int | None = None, until: int | None = None
    ) -> dict[tuple[str, str], Totals]:
        """Return totals by (day, model) of the indexed calls of one home, given by its number in the index."""
        return day_totals(self.catalogue.connection, home, self.zone, since, until)

    def session_days(self) -> dict[str, set[str]]:
        """Return the days (``2026-03-02``) on which each session made calls."""
        self.sync()
        found: dict[str, set[str]] = {}
        for home in home_numbers(self.catalogue, self.homes):
            for session, days in days_of_sessions(self.catalogue.connection, home, self.zone).items():
                found.setdefault(session, set()).update(days)
        return found

    def damaged_sessions(self) -> set[str]:
        """Return the ids of sessions in which the index found damaged lines."""
        numbers = home_numbers(self.catalogue, self.homes)
        rows = self.catalogue.connection.execute(
            "SELECT s.session_id FROM sessions s JOIN files f ON f.id = s.file_id "
            f"WHERE s.damaged > 0 AND f.home_id IN ({', '.join('?' * len(numbers))})",
            numbers,
        )
        return {str(row[0]) for row in rows}

    def calls(self, selection: Selection | None = None) -> list[ApiCall]:
        """Return the selected API calls, each once however many files hold a copy."""
        self.sync()
        chosen = selection or Selection()
        try:
            return self._chosen(chosen)
        except BROKEN as problem:  # damage that only shows when the calls are read
            self.make_anew(problem)
            self.sync()
            return self._chosen(chosen)

    def _chosen(self, chosen: Selection) -> list[ApiCall]:
        found: Iterable[ApiCall] = api_calls(self.catalogue, self.homes, since=chosen.since, until=chosen.until)
        tests: list[Callable[[ApiCall], bool]] = []
        if chosen.project is not None:
            tests.append(_project_test(chosen.project))
        if chosen.session is not None:
            session = self.session_id(chosen.session)
            tests.append(lambda item: item.session_id == session)
        if chosen.model is not None:
            wanted = chosen.model.lower()
            tests.append(lambda item: wanted in item.model.lower())
        if chosen.branch is not None:
            tests.append(lambda item: item.git_branch == chosen.branch)
        if chosen.subagent is not None:
            subagent = chosen.subagent
            tests.append(lambda item: (item.subagent_id or "main").startswith(subagent))
        if chosen.status is not None:
            from ..analysis.usage import status_test

            tests.append(status_test(self.entries(statuses=True), chosen.status))
        return [item for item in found if all(test(item) for test in tests)]

    def blocks(self, selection: Selection | None = None) -> list[Block]:
        """Return the five-hour blocks that hold a selected call, the oldest first.

        All calls of the homes decide when a block begins, since blocks belong to an account. A time selects whole blocks; any
        other selection selects calls inside of them.
        """
        from ..analysis.blocks import LENGTH, find_blocks

        chosen = selection or Selection()
        until = None if chosen.until is None else chosen.until + LENGTH  # a block may hold later calls
        since, every = self._since_a_pause(chosen.since, until)
        among = None
        if not chosen.only_time:
            among = {item[:3] for item in self.calls(replace(chosen, since=since, until=until))}
        return find_blocks(every, self.book, among=among, since=chosen.since, until=chosen.until)

    def _since_a_pause(self, since: int | None, until: int | None) -> tuple[int | None, list[ApiCall]]:
        """Return the calls of a time with the earlier ones that decide when its blocks begin, and from when on they are.

        A block begins after the one before has ended, so it depends on all calls back to a pause as long as a block.
        """
        from ..analysis.blocks import follows_a_pause

        if since is not None:
            for days in _LOOK_BACK_DAYS:
                begin = since - days * _DAY
                found = self.calls(Selection(begin, until))
                if follows_a_pause((item.time for item in found if item.time is not None), begin, since):
                    return begin, found
        return None, self.calls(Selection(until=until))

    def session_id(self, reference: str) -> str:
        """Return the id of a session, given by id, title, `last` or `current`."""
        return self.library.session(reference).id

    def comparisons(self, selection: Selection | None = None) -> list[Comparison]:
        """Compare Claude Code's own counts with ours, for every session that made a selected call.

        Claude Code counts whole sessions, so whole sessions are compared, whatever part of one is selected.
        """
        from ..analysis.api_calls import compare

        self.sync()
        chosen = selection or Selection()
        session = None if chosen.session is None else self.session_id(chosen.session)
        among = None
        if chosen != Selection(session=chosen.session):
            among = {(item.home, item.session_id) for item in self.calls(chosen)}
        return compare(self.catalogue, self.homes, self.book, session, among)

    def context_parts(self, session: str) -> list[dict[str, Any]]:
        """Estimate what fills the context window of a session now; empty if its file is gone."""
        from ..analysis.context import context_parts

        try:
            return context_parts(self.library.session(session).stream_messages())
        except NotFound:
            return []

    def cache(self, selection: Selection | None = None) -> tuple[dict[str, CacheUse], CacheUse]:
        """Return what the prompt cache saved: by model, the largest saving first, and in total."""
        from ..analysis.cache import cache_use

        models, total = cache_use(self.calls(selection), self.book)
        return dict(sorted(models.items(), key=lambda pair: -pair[1].saved)), total

    def expensive(self, selection: Selection | None = None, limit: int | None = 10) -> ExpensivePrompts:
        """Return the prompts that cost the most: each with every call up to the next prompt, including its subagents'."""
        from ..analysis.prompts import prompt_costs
        from ..index.catalogue.reading_back import EntryReader
        from ..index.catalogue.schema import FLAGS

        found = prompt_costs(self.entries(), self.calls(selection), self.book, FLAGS["prompt"])
        totals = Totals()
        for item in found:
            totals.join(item.totals)
        with EntryReader(self.place_of) as reader:
            rows = [(item, item.text(reader)) for item in found[:limit]]
        return ExpensivePrompts(rows, len(found), totals, self.zone, self.book.version)

    def explain(self, selection: Selection | None = None, ident: str = "") -> Explanation:
        """Explain the cost of the selected calls, oldest first.

        `ident` limits them to those of a message, request, session, subagent, model or day.
        """
        from ..analysis.explain import chosen, explain

        found = chosen(self.calls(selection), ident, self.zone)
        found.sort(key=lambda item: (item.time or 0, *item[:3]))
        rows = [explain(item, self.book, self.zone) for item in found]
        totals = Totals()
        for item, row in zip(found, rows, strict=True):
            totals.add(item.counts, row["cost_micro_usd"], *item.marks)
        return self._explanation(rows, len(found), totals)

    def explain_group(
        self, by: str, key: str, selection: Selection | None = None, *, limit: int | None = None
    ) -> Explanation:
        """Explain the calls behind one group of a report, the most expensive first; without a `key`, those of all groups.

        `share` of a row is the part of its cost that counts to the group: a call of several tools is split among them.
        """
        from ..analysis.explain import explain

        used = self.calls(selection)
        shares = self._shares(by, used)
        found: list[tuple[int, ApiCall]] = []
        totals = Totals()
        for item in used:
            own = [cost or 0 for name, _, cost in shares(item) if not key or name == key]
            if own:
                found.append((sum(own), item))
                unpriced = item.cost(self.book) is None
                totals.add(item.counts, None if unpriced else sum(own), *item.marks)
        found.sort(key=lambda pair: -pair[0])
        rows = [explain(item, self.book, self.zone) | {"share": cost} for cost, item in found[:limit]]
        return self._explanation(rows, len(found), totals)

    def _explanation(self, rows: list[dict[str, Any]], total: int, totals: Totals) -> Explanation:
        return Explanation(rows, total, totals, self.zone.name, self.book.version, self.book.source, tuple(OMITTED))

    def _shares(self, by: str, used: Iterable[ApiCall]) -> Callable[[ApiCall], list[tuple[str, Counts, int | None]]]:
        """Return a function that splits a call among groups: whole to one group, or in parts to the tools it called."""
        if by == "tool":
            from ..analysis.tools import tool_shares

            return tool_shares(self.entries(), used, self.book, self.place_of)
        key_of, book = key_function(by, self.zone), self.book
        return lambda item: [(key_of(item), item.counts, item.cost(book))]

    def start_of_day(self, days_ago: int = 0) -> int:
        """Return the midnight at which a day of this zone began, in microseconds."""
        from datetime import timedelta

        return self.zone.start_of(self.zone.local(time.time_ns() // 1000).date() - timedelta(days=days_ago))

    @property
    def has_client_counts(self) -> bool:
        """Return whether Claude Code left a count of its own for any session (it does so since 2.1.325)."""
        return self.catalogue.connection.execute("SELECT 1 FROM cost_states LIMIT 1").get is not None

    def entries(self, *, statuses: bool = False) -> Catalogue:
        """Index all lines, for questions about tool calls, prompts and file changes; return the index."""
        from ..index.catalogue.sync import bring_up_to_date

        bring_up_to_date(self.catalogue, self.homes, ("entries",), statuses=statuses)
        return self.catalogue

    def place_of(self, file_id: int) -> tuple[str, str] | None:
        """Return the folder of the home and the whole path of a file, given by its number in the index."""
        row: Any = self.catalogue.connection.execute(
            "SELECT h.path, f.path FROM files f JOIN homes h ON h.id = f.home_id WHERE f.id = ?", (file_id,)
        ).fetchone()
        return None if row is None else (row[0], f"{row[0]}/{row[1]}")


def open_ledger(library: Library, timezone: str | None = None, prices: str = "then") -> Ledger:
    """Open a ledger for the days of a named zone, else the user's. `prices`: "then" for the day of use, or "today"."""
    if prices not in ("then", "today"):
        raise QueryError(f"there are no prices of {prices!r}", hint="then or today", slug="bad-usage-question")
    return Ledger(library, zone_named(timezone, time_zone()), prices=prices)


def message_cost(model: str | None, seconds: float | None, usage: Usage | None) -> int | None:
    """Return the cost of one message on its day, in micro-dollars; None without usage or a known price of its model."""
    return None if usage is None else cost_of_message(price_book(), model, seconds, usage)


def _project_test(project: str) -> Callable[[ApiCall], bool]:
    """Return a test whether a call was made in a project, in a worktree of it, or below."""
    from .project_paths import ProjectFilter

    wanted = ProjectFilter(project)
    return lambda item: wanted.fits(item.cwd, project_path(item.cwd))
