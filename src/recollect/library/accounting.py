"""Tokens and money of some homes: brings the calls up to date, then answers.

    accounting = open_accounting(["~/.claude"])
    report = accounting.usage("month")
    report.totals.cost                # micro-dollars

It opens nothing but what counting needs: a report over an unchanged store starts fast.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from ..analysis.api_calls import ApiCall, api_calls, home_numbers, project_path
from ..analysis.cost import usual_prices
from ..analysis.day_totals import day_totals, days_of_sessions
from ..analysis.prices.book import PriceBook, price_book
from ..analysis.usage import PERIODS, UsageReport, from_day_totals, gather, groupings
from ..analysis.zones import Zone, zone_named
from ..environment import own_folder, time_zone
from ..errors import NotFound, StoreBusy
from ..format.path_text import to_path
from ..index.catalogue.catalogue import BROKEN, BUSY_MS, Catalogue
from ..store.file_stamp import file_stamp
from ..store.home import Home
from .homes import open_homes

if TYPE_CHECKING:
    from ..analysis.blocks import Block
    from ..analysis.client_counts import Comparison
    from ..analysis.totals import Totals
    from ..index.api_calls.sync import CallsReport
    from ..index.catalogue.tracking import FileChange
    from .library import Library

_LOOKED: Final = "looked"
_LOOK_SECONDS: Final = 15
_SUMMED: Final = frozenset((*PERIODS, "model"))
"""What totals by day and model can be grouped by."""
_DAY: Final = 86_400_000_000
_LOOK_BACK_DAYS: Final = (2, 8, 32)
"""Where the first of them have no pause of five hours, more is looked at, in the end everything."""
_PATIENCE: Final = 0.02
"""Seconds that who must not wait waits for another writer."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which calls: a time from `since` up to, not including, `until` (microseconds), a project, sessions, models, ..."""

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
        return self == Selection(self.since, self.until)


class SyncLag(NamedTuple):
    """What is not taken in yet: nothing, as it stands here."""

    newest: int | None = None
    """When the newest of those files was last written to, in microseconds. Calls of a later time are all counted."""
    of_session: bool = False
    """Whether files of the session that was asked for may be among them."""
    may_be_less: bool = False
    """Whether something may have been counted that is there no longer: then sums are not even lower bounds."""

    def mark(self, since: int) -> str:
        """What stands before a sum of the time since a moment: nothing where it is whole."""
        if self.newest is None or self.newest < since:
            return ""
        return "~" if self.may_be_less else "≥"


class Accounting:
    """Counts over some homes. `sync` is called by every question once."""

    def __init__(
        self,
        homes: Sequence[Home],
        folder: Path,
        zone: Zone,
        *,
        prices: str = "then",
        own_folder: Callable[[str], Path] = own_folder,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._tell = tell
        self.homes = list(homes)
        self._own_folder = own_folder
        self.zone = zone
        self.folder = folder
        self.today_prices = prices == "today"
        self._synced: CallsReport | None = None

    @cached_property
    def catalogue(self) -> Catalogue:
        return Catalogue.open(self.folder, self._own_folder("data") / "vault", tell=self._tell)

    @cached_property
    def library(self) -> Library:
        """Finds and reads the sessions, those that only the vault has too."""
        from .library import Library

        return Library(self.homes, own_folder=self._own_folder)

    @cached_property
    def book(self) -> PriceBook:
        return price_book(time.time_ns() // 1000 if self.today_prices else None)

    def sync(self, progress: Callable[[int, int], None] | None = None) -> CallsReport:
        """Take in what changed; a broken catalogue is made anew."""
        if self._synced is None:
            try:
                self._synced = self._sync(progress)
            except BROKEN as problem:
                self.make_anew(problem)
                self._synced = self._sync(progress)
        return self._synced

    def make_anew(self, damage: object) -> None:
        """Throw away an index that turned out to be damaged; the next question builds it."""
        self.catalogue.make_anew(damage)
        self._synced = None

    def _sync(self, progress: Callable[[int, int], None] | None) -> CallsReport:
        from ..index.api_calls.sync import sync_calls

        return sync_calls(self.catalogue, self.homes, usual_prices(), progress=progress)

    def sync_some(self, most_bytes: Callable[[], int], session: str | None = None) -> SyncLag:
        """Take in about so many bytes of what changed, and tell what is left: first of the session, then the newest files.

        How many is asked when it is known what changed.

        With a `session`, only its own files are looked at where all were looked at a moment ago and nothing was left. Nobody is
        waited for.
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
        except StoreBusy:  # somebody is taking in much more than this: what is there has to do
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
        """What changed of the known files of a session; None where it has none."""
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
                with contextlib.suppress(OSError):  # what is gone is found out by the next look at everything
                    if file_stamp(os.stat(f"{home.root}/{to_path(path)}")) != tuple(before):
                        different.append(path)
            found += changed_among(self.catalogue, home, "calls", different)
        return found if known else None

    def _looked_lately(self) -> bool:
        """Whether every home was looked at a moment ago."""
        now = time.time()
        return all(0 <= now - self.catalogue.note(f"{_LOOKED} {home.real_root}") < _LOOK_SECONDS for home in self.homes)

    def _note_look(self) -> None:
        db = self.catalogue.connection
        db.set_busy_timeout(0)
        try:
            with self.catalogue.transaction():
                for home in self.homes:
                    self.catalogue.set_note(f"{_LOOKED} {home.real_root}", int(time.time()))
        except (apsw.BusyError, apsw.ReadOnlyError, apsw.FullError):  # then the next one looks at everything again
            pass
        finally:
            db.set_busy_timeout(BUSY_MS)

    def usage(
        self, by: str | Iterable[str] = "day", selection: Selection | None = None, *, separate: bool = False
    ) -> UsageReport:
        """Usage grouped by a period, `session`, `project`, `model`, `subagent`, `branch` or `tool`, or by several of them."""
        self.sync()
        chosen = selection or Selection()
        names = groupings(by)
        if _SUMMED.issuperset(names) and chosen.only_time and not self.today_prices:
            numbers = home_numbers(self.catalogue, self.homes)
            if len(numbers) == 1:
                with contextlib.suppress(apsw.SQLError):  # more than the database can add up
                    totals = self.day_totals(numbers[0], chosen.since, chosen.until)
                    return from_day_totals(totals, names, self.zone, self.book)
        found = self.responses(chosen)
        tools = None
        if "tool" in names:
            from ..analysis.by_tool import tool_shares

            tools = tool_shares(self.entries(), found, self.book, self.place_of)
        return gather(found, names, self.zone, self.book, separate=separate, tools=tools)

    def day_totals(
        self, home: int, since: int | None = None, until: int | None = None
    ) -> dict[tuple[str, str], Totals]:
        """Totals by (day, model) of the home of a number, as far as its calls are taken in."""
        return day_totals(self.catalogue.connection, home, self.zone, since, until)

    def session_days(self) -> dict[str, set[str]]:
        """By session: the days (``2026-03-02``) on which it made calls."""
        self.sync()
        found: dict[str, set[str]] = {}
        for home in home_numbers(self.catalogue, self.homes):
            for session, days in days_of_sessions(self.catalogue.connection, home, self.zone).items():
                found.setdefault(session, set()).update(days)
        return found

    def damaged_sessions(self) -> set[str]:
        """Sessions with damaged places, as far as their lines were taken in."""
        numbers = home_numbers(self.catalogue, self.homes)
        rows = self.catalogue.connection.execute(
            "SELECT s.session_id FROM sessions s JOIN files f ON f.id = s.file_id "
            f"WHERE s.damaged > 0 AND f.home_id IN ({', '.join('?' * len(numbers))})",
            numbers,
        )
        return {str(row[0]) for row in rows}

    def responses(self, selection: Selection | None = None) -> list[ApiCall]:
        """The calls that are asked for, each once."""
        self.sync()
        chosen = selection or Selection()
        try:
            return self._chosen(chosen)
        except BROKEN as problem:  # damage that only reading the calls brings to light
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
            from ..analysis.statuses import status_test

            tests.append(status_test(self.entries(statuses=True), chosen.status))
        return [item for item in found if all(test(item) for test in tests)]

    def blocks(self, selection: Selection | None = None) -> list[Block]:
        """Five-hour blocks with a call that is asked for. They are an account's: all calls of the homes tell when they begin,
        a time chooses whole blocks, and of everything else they hold what is asked for."""
        from ..analysis.blocks import LENGTH, find_blocks

        chosen = selection or Selection()
        until = None if chosen.until is None else chosen.until + LENGTH  # what a block may hold behind that time
        since, every = self._since_a_pause(chosen.since, until)
        among = None
        if not chosen.only_time:
            among = {item[:3] for item in self.responses(replace(chosen, since=since, until=until))}
        return find_blocks(every, self.book, among=among, since=chosen.since, until=chosen.until)

    def _since_a_pause(self, since: int | None, until: int | None) -> tuple[int | None, list[ApiCall]]:
        """All calls of some time, and those before it which tell when its blocks begin; and from when on they are.

        A block begins where the one before has ended: it depends on all calls back to a pause that is as long as a block.
        """
        from ..analysis.blocks import follows_a_pause

        if since is not None:
            for days in _LOOK_BACK_DAYS:
                begin = since - days * _DAY
                found = self.responses(Selection(begin, until))
                if follows_a_pause((item.time for item in found if item.time is not None), begin, since):
                    return begin, found
        return None, self.responses(Selection(until=until))

    def session_id(self, text: str) -> str:
        """A session by its id or the start of one; anything else is for the library to find."""
        numbers = home_numbers(self.catalogue, self.homes)
        rows = self.catalogue.connection.execute(
            "SELECT DISTINCT session_id FROM files WHERE session_id LIKE ? || '%' ESCAPE '\\' "
            f"AND home_id IN ({', '.join('?' * len(numbers))}) LIMIT 2",
            (text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_"), *numbers),
        ).fetchall()
        if len(rows) == 1:
            return str(rows[0][0])
        return self.library.session(text).id

    def comparisons(self, selection: Selection | None = None) -> list[Comparison]:
        """The client's own counts held against ours, of every session that is selected or made a selected call.

        They are counts of whole sessions, whatever part of a session is selected.
        """
        from ..analysis.client_counts import compare

        self.sync()
        chosen = selection or Selection()
        session = None if chosen.session is None else self.session_id(chosen.session)
        among = None
        if chosen != Selection(session=chosen.session):
            among = {(item.home, item.session_id) for item in self.responses(chosen)}
        return compare(self.catalogue, self.homes, self.book, session, among)

    def context_parts(self, session: str) -> list[dict[str, Any]]:
        """What fills the window of a session now, as estimated shares; nothing where its file is gone."""
        from ..analysis.context_parts import context_parts

        try:
            return context_parts(self.library.session(session).stream_messages())
        except NotFound:
            return []

    @property
    def has_client_counts(self) -> bool:
        return self.catalogue.connection.execute("SELECT 1 FROM cost_states LIMIT 1").get is not None

    def entries(self, *, statuses: bool = False) -> Catalogue:
        """The catalogue with everything else in it too: tool calls, file changes, statuses."""
        from ..index.catalogue.sync import bring_up_to_date

        bring_up_to_date(self.catalogue, self.homes, ("entries",), statuses=statuses)
        return self.catalogue

    def place_of(self, file_id: int) -> tuple[str, str] | None:
        """Where a file of the catalogue stands: its home's folder, and its whole path."""
        row: Any = self.catalogue.connection.execute(
            "SELECT h.path, f.path FROM files f JOIN homes h ON h.id = f.home_id WHERE f.id = ?", (file_id,)
        ).fetchone()
        return None if row is None else (row[0], f"{row[0]}/{row[1]}")

    def close(self) -> None:
        if "catalogue" in self.__dict__:
            self.catalogue.close()

    def __enter__(self) -> Accounting:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _project_test(project: str) -> Callable[[ApiCall], bool]:
    """Tells whether a call was made in a project, or in a worktree of it, or below."""
    from .project_paths import ProjectFilter

    wanted = ProjectFilter(project)
    return lambda item: wanted.fits(item.cwd, project_path(item.cwd))


def open_accounting(
    homes: Sequence[str | os.PathLike[str]] = (),
    *,
    timezone: str | None = None,
    prices: str = "then",
    tell: Callable[[str], None] | None = None,
    **folders: Any,
) -> Accounting:
    """Over the named homes, else those of CLAUDE_CONFIG_DIR, else the usual ones. `prices`: "then" or "today"."""
    folder = folders.get("folder") or own_folder("cache") / "index"
    return Accounting(open_homes(homes), folder, zone_named(timezone, time_zone()), prices=prices, tell=tell)
