"""The library: homes opened together, their sessions and projects, found by id, prefix, title or `last`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..environment import own_folder
from .cache import ByteBoundCache

if TYPE_CHECKING:
    from datetime import date, datetime

    from ..analysis.status_figures import StatusFigures
    from ..format.running import RunningSession
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.sync import Progress, SyncReport
    from ..index.search.results import SearchResults
    from ..index.sql.query import Answer, Limits
    from ..store.home import Home
    from ..store.scan import Scan, SessionFile, Skipped, SubagentFile
    from ..store.summary import SessionSummary
    from ..vault.report import CaptureReport
    from ..watch.events import Budget
    from .bookmarks import Bookmarks
    from .budgets import Budgets
    from .changes import Changes, UndoPlan
    from .checking import CheckResult
    from .configuration import Flags
    from .history import TypedPrompts
    from .installing import InstallPlan
    from .message_counts import MessageCounts
    from .plan import Plan
    from .plan_documents import PlanDocument
    from .session import Session
    from .todos import TodoItem
    from .usage import ExpensivePrompts, Ledger, UsageReport
    from .vault import LibraryVault
    from .watching import Watching

__all__ = [
    "Library", "Project", "SessionFile", "SessionSummary", "Skipped", "as_seen", "library_to_fill", "open_library",
]  # fmt: skip

# What a verb needs is imported by the verb: a search over an index that is up to date needs no transcript reader.


@dataclass(slots=True)
class Project:
    """A project is a working directory. Worktrees of a repository are listed below it."""

    path: str | None
    sessions: list[SessionSummary] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    worktree_of: str | None = None

    @property
    def bytes(self) -> int:
        return sum(item.file.size + sum(subagent.size for subagent in item.file.subagents) for item in self.sessions)


class Library:
    """One or more Claude homes, opened together. Reading never changes them; `changes` plans what does."""

    tell: Callable[[str], None] | None = None
    """Told what a person should know and that is no error, such as an index in a temporary folder."""

    def __init__(
        self,
        homes: Sequence[Home],
        *,
        cache_bytes: int = 128 << 20,
        own_folder: Callable[[str], Path] | None = None,
        named: bool = True,
    ) -> None:
        self.homes = list(homes)
        self.named = named
        """Whether somebody named the homes; else they are the usual ones."""
        self._own_folder = own_folder
        """Where our own data and cache are; without it, there is no vault to look into."""
        self.cache: ByteBoundCache[Any] = ByteBoundCache(cache_bytes)
        """Opened sessions, and what was worked out of them."""
        self._summaries: dict[str, tuple[Hashable, str | None, SessionSummary]] = {}
        self._owners: dict[SubagentFile, str | None] = {}
        """Whose the subagents are that stand beside sessions: their lines are read once."""

    @cached_property
    def _names(self) -> list[tuple[Home, Scan]]:
        """What is in the homes, by names alone: subagents that stand beside sessions are not with these yet."""
        from ..store.scan import scan_home

        self._attached: set[tuple[Home, str]] = set()
        return [(home, scan_home(home)) for home in self.homes]

    def for_another_thread(self) -> Library:
        """Open the same homes with a catalogue of their own: a catalogue belongs to one thread."""
        library = Library(self.homes, own_folder=self._own_folder, named=self.named)
        library.tell = self.tell
        return library

    @cached_property
    def scans(self) -> list[tuple[Home, Scan]]:
        """What is in the homes, with all subagents at their sessions. Kept until `refresh`."""
        for home, scan in self._names:
            for folder in dict.fromkeys(folder for folder, _ in scan.beside):
                self._attach_subagents(home, scan, folder)
        return self._names

    def _attach_subagents(self, home: Home, scan: Scan, folder: str) -> None:
        """Give the subagents that stand beside the sessions of a folder to these; once."""
        if (home, folder) not in self._attached:
            from ..store.read import attach_subagents_beside

            self._attached.add((home, folder))
            attach_subagents_beside(home, scan, [item for item in scan.beside if item[0] == folder], self._owners)

    def named_files(self) -> list[SessionFile]:
        """All main transcripts of all homes, to find one by its name: subagents may be missing, see `with_subagents`."""
        return [file for _, scan in self._names for file in scan.sessions]

    def with_subagents(self, file: SessionFile) -> SessionFile:
        """Look for the subagents of one session in its folder alone."""
        for home, scan in self._names:
            if home == file.home and any(folder == file.folder for folder, _ in scan.beside):
                self._attach_subagents(home, scan, file.folder)
        return file

    def refresh(self) -> None:
        """Look at the homes again."""
        for name in ("_names", "scans", "running", "vault", "_kept_files", "_cleanup_days"):
            self.__dict__.pop(name, None)

    def files(self) -> list[SessionFile]:
        """All main transcripts of all homes."""
        return [file for _, scan in self.scans for file in scan.sessions]

    def orphans(self) -> list[SessionFile]:
        """Sessions whose main transcript is gone, from the homes and from the vault, and of which subagents are left."""
        kept = {file.session_id for file in self.kept_files()}
        return [file for _, scan in self.scans for file in scan.orphans.values() if file.session_id not in kept]

    def left_out(self) -> list[Skipped]:
        """What stands below `projects/` and is no part of any session, and why: links that lead nowhere, say."""
        hidden = "."  # files that desktops leave everywhere
        return [item for _, scan in self.scans for item in scan.skipped if not item.path.name.startswith(hidden)]

    def own_folder(self, kind: str) -> Path:
        """Return Recollect's own folder for "config", "data" or "cache"."""
        return (self._own_folder or own_folder)(kind)

    @cached_property
    def vault(self) -> LibraryVault:
        """The vault: what is kept of the homes, and the verbs that keep, verify and compact it. It need not exist yet."""
        from .vault import LibraryVault

        return LibraryVault(self, is_read=self._own_folder is not None)

    @cached_property
    def changes(self) -> Changes:
        """Every change that can be made in the homes, as plans; and the journal of those that were made."""
        from ..journal.changes import Journal
        from .changes import Changes

        return Changes(self, Journal(self.own_folder("data")))

    def kept_files(self) -> list[SessionFile]:
        """Main transcripts that the homes have no more and the vault has."""
        return list(self._kept_files)

    @cached_property
    def _kept_files(self) -> list[SessionFile]:
        kept = self.vault.sessions
        return kept.lost_sessions(self.files()) if kept is not None else []

    @cached_property
    def running(self) -> dict[str, RunningSession]:
        """Sessions that a client has open now."""
        from ..store.liveness import open_sessions

        return {key: value for home in self.homes for key, value in open_sessions(home).items()}

    def expires(self, file: SessionFile) -> float:
        """When Claude Code deletes a session, unless somebody writes to it before: in seconds since 1970."""
        return file.mtime + self._cleanup_days[file.home.root] * 86_400

    @cached_property
    def _cleanup_days(self) -> dict[Path, int]:
        from ..store.config_files import cleanup_days

        return {home.root: cleanup_days(home) for home in self.homes}

    def sessions(
        self,
        *,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        branch: str | None = None,
        running: bool | None = None,
        separate_worktrees: bool = False,
        count: bool | None = None,
        sort: str = "modified",
        kept: bool | None = False,
    ) -> list[SessionSummary]:
        """Sessions at a glance, newest first. `count` reads whole files for exact numbers of lines and messages.

        Without `count`, these come from the files while that is cheap, else from the index as far as it has them.
        `kept` asks for those that only the vault has (None: for these as well, and for those of which only subagents are
        left).
        """
        from .session_lists import project_matcher, sort_sessions

        files = [] if kept else self.files()
        if kept is not False:
            files = [*files, *self.kept_files()]
        if kept is None:
            files += self.orphans()
        if running is not None:
            files = [file for file in files if (file.session_id in self.running) == running]
        if since is not None:
            files = [file for file in files if file.mtime >= since.timestamp()]
        counts = self.message_counts(files, count)
        summaries: Iterable[SessionSummary] = (self.summary_of(file, counts) for file in files)
        if until is not None:
            summaries = (item for item in summaries if (item.created or item.file.mtime) <= until.timestamp())
        if project is not None:
            wanted = project_matcher(project, separate_worktrees)
            summaries = (item for item in summaries if wanted(item))
        if branch is not None:
            summaries = (item for item in summaries if item.git_branch == branch)
        return sort_sessions(list(summaries), sort)

    def summary_of(self, file: SessionFile, counts: MessageCounts | None = None) -> SessionSummary:
        """Summarise a session, from memory where its file is as it was the last time. Without `counts` nothing is counted."""
        from ..store.summary import summarise

        stamp = (file.size, file.mtime, file.ctime_ns, file.is_kept)
        known_stamp, known_source, known = self._summaries.get(str(file.path), (None, None, None))
        source = known_source if counts is None else counts.source(file)
        if known is None or (known_stamp, known_source) != (stamp, source):
            known = summarise(file) if counts is None else counts.summarise(file)
            self._summaries[str(file.path)] = (stamp, source if counts is not None else None, known)
        else:
            known.file = file  # subagents may have come since
            known.subagents = max(len(file.subagents), known.subagents)
        return known

    def message_counts(self, files: Sequence[SessionFile], count: bool | None = None) -> MessageCounts:
        """Decide where the numbers of lines and messages of these sessions come from."""
        from .message_counts import MessageCounts

        folder = None if self._own_folder is None else self._own_folder("cache") / "index"
        return MessageCounts(files, folder, count)

    def projects(self, *, separate_worktrees: bool = False) -> list[Project]:
        """Projects with their sessions, most recently used first. Worktrees count to their repository unless separated."""
        found: dict[str | None, Project] = {}
        for item in self.sessions(count=False):
            path = item.project if separate_worktrees else (item.worktree_of or item.project)
            project = found.setdefault(path, Project(path))
            project.sessions.append(item)
            project.folders.add(item.file.folder)
            if separate_worktrees:
                project.worktree_of = project.worktree_of or item.worktree_of
        return list(found.values())

    def project_advice(self, project: str) -> str | None:
        """A sentence that names projects like this one where no session is of it; None where one is, kept ones included."""
        from .project_paths import ProjectFilter

        wanted = ProjectFilter(project)
        sessions = self.sessions(count=False, kept=None)
        if any(wanted.fits(item.project, item.worktree_of, folder=item.file.folder) for item in sessions):
            return None
        return wanted.no_project_fits([item.worktree_of or item.project for item in sessions])

    def session(self, reference: str) -> Session:
        """A session by id, the start of an id, title, path inside a home, or `last`. Raises NotFound with the nearest."""
        from .locate import find_session
        from .session import Session

        file = self._by_path(reference) or find_session(self, reference)
        key = as_seen(file)
        known: Session | None = self.cache.get(key)
        if known is not None:
            return known
        if file.is_kept and self.vault.sessions is not None:
            session = Session(self.vault.sessions.laid_out(file), library=self)
        else:
            session = Session(file, parsed=self._weigh, library=self)
        self.cache.put(key, session, 4096)
        return session

    @cached_property
    def catalogue(self) -> Catalogue:
        """The index's tables. `index` brings them up to date."""
        from .indexing import open_catalogue

        return open_catalogue(self.tell, self._own_folder)

    def close(self) -> None:
        """Close the index. It is opened again when it is needed."""
        self.__dict__.pop("_opened_search", None)
        catalogue = self.__dict__.pop("catalogue", None)
        if catalogue is not None:
            catalogue.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def index(
        self,
        *,
        stages: tuple[str, ...] = ("calls", "entries", "words"),
        statuses: bool = False,
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the homes: only what changed is read."""
        from .indexing import bring_up_to_date

        return bring_up_to_date(self, stages=stages, statuses=statuses, rebuild=rebuild, progress=progress)

    def sql(
        self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *, limits: Limits | None = None
    ) -> Answer:
        """The answer to one SELECT over the tables of docs/reference/sql.md, in a locked process of its own."""
        from .questions import ask

        return ask(self, query, parameters, limits=limits)

    def ledger(self, timezone: str | None = None, prices: str = "then") -> Ledger:
        """Count the API calls in the days of a time zone (else the user's); `prices` are those of the day of use, or "today"."""
        from .usage import open_ledger

        return open_ledger(self, timezone, prices)

    def usage(
        self,
        by: str | Iterable[str] = "day",
        *,
        since: datetime | date | str | None = None,
        until: datetime | date | str | None = None,
        project: str | None = None,
        session: str | None = None,
        model: str | None = None,
        branch: str | None = None,
        subagent: str | None = None,
        status: str | None = None,
        separate_worktrees: bool = False,
        timezone: str | None = None,
        prices: str = "then",
    ) -> UsageReport:
        """Count tokens and cost by day, week, month, year, session, project, model, subagent, branch or tool, or by several.

        Every API call counts once. Cost is whole micro-dollars. `since` and `until` take datetimes and texts such as `7d`.
        """
        ledger = self.ledger(timezone, prices)
        selection = ledger.select(
            since=since, until=until, project=project, session=session, model=model, branch=branch, subagent=subagent,
            status=status,
        )  # fmt: skip
        return ledger.usage(by, selection, separate_worktrees=separate_worktrees)

    def expensive(
        self,
        limit: int = 10,
        *,
        since: datetime | date | str | None = None,
        until: datetime | date | str | None = None,
        project: str | None = None,
        session: str | None = None,
        timezone: str | None = None,
    ) -> ExpensivePrompts:
        """Return the prompts that cost the most: each with every call up to the next prompt, its subagents' included."""
        ledger = self.ledger(timezone)
        return ledger.expensive(ledger.select(since=since, until=until, project=project, session=session), limit)

    def status_figures(
        self, session: str | None, *, timezone: str | None = None, most_bytes: Callable[[], int]
    ) -> StatusFigures | None:
        """Count what a status line shows, for a whole session id, taking in at most so many bytes of what is new.

        None where the index was damaged; the next call has figures again.
        """
        from .status_figures import status_figures

        return status_figures(self.ledger(timezone), session, most_bytes)

    @cached_property
    def budgets(self) -> Budgets:
        """The budgets that are set, and how they stand."""
        from .budgets import Budgets

        return Budgets(self.own_folder("config"), self)

    def search(
        self,
        query: str,
        *,
        mode: str = "words",
        everything: bool = False,
        where: str = "",
        sort: str = "relevance",
        limit: int = 10,
        offset: int = 0,
        hits_per_session: int = 3,
        facets: bool = False,
        progress: Progress | None = None,
    ) -> SearchResults:
        """Sessions in which something was said or seen that fits, best first: see docs/guide/search.md for the query.

        `mode` is words, or the slow substring or regex; `everything` looks at prompt snapshots and request logs too.
        """
        from .searching import search

        return search(
            self, query, mode=mode, everything=everything, where=where, sort=sort, limit=limit, offset=offset,
            hits_per_session=hits_per_session, facets=facets, progress=progress,
        )  # fmt: skip

    # --- what stands beside the transcripts ---------------------------------------------------------------------------

    def history(
        self,
        *,
        grep: str | None = None,
        project: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> TypedPrompts:
        """Prompts and slash commands that were typed, newest first; `grep` is a text in them or in a paste, in any case."""
        from .history import typed_prompts

        return typed_prompts(
            self, grep=grep, project=project, session=session, since=since, until=until, limit=limit
        )  # fmt: skip

    def plans(self) -> list[PlanDocument]:
        """The plans of plan mode, newest first."""
        from .plan_documents import plan_documents

        return plan_documents(self)

    def plan(self, slug: str) -> PlanDocument:
        """A plan of plan mode by its slug or the start of one. Raises NotFound with the nearest."""
        from .plan_documents import find_plan

        return find_plan(self, slug)

    def todos(self, session: str | None = None) -> list[TodoItem]:
        """To-do lists and tasks: of all sessions, or of one, whose transcript may be gone."""
        from .todos import all_todos

        return all_todos(self, session)

    @cached_property
    def bookmarks(self) -> Bookmarks:
        """Bookmarks of sessions and messages, in Recollect's own data folder."""
        from .bookmarks import Bookmarks

        return Bookmarks(self)

    def watch(
        self,
        *,
        project: str | None = None,
        separate_worktrees: bool = False,
        polling: bool = False,
        budget: Budget | None = None,
    ) -> Watching:
        """What happens in the homes from now on, as typed events: an iterator, and an asynchronous one."""
        from .session_lists import project_matcher
        from .watching import Watching

        test = None if project is None else project_matcher(project, separate_worktrees)
        return Watching(self.homes, is_of_project=test, polling=polling, budget=budget)

    def watch_session(
        self, reference: str, *, from_start: bool = False, polling: bool = False, budget: Budget | None = None
    ) -> Watching:
        """The same for one session and its subagents; with `from_start` first what is there already.

        A whole id may be that of a session that does not exist yet.
        """
        from ..store.layout import is_session_id
        from .watching import Watching

        session_id = reference if is_session_id(reference) else self.session(reference).id
        return Watching(self.homes, session_id=session_id, from_start=from_start, polling=polling, budget=budget)

    # --- what is kept -------------------------------------------------------------------------------------------------

    def keep(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> list[CaptureReport]:
        """Put everything new of the homes into the vault, and tell what that was, home by home."""
        return self.vault.keep(full=full, progress=progress)

    def restore(
        self,
        *sessions: str,
        project: str | None = None,
        everything: bool = False,
        at: datetime | None = None,
        to: str | os.PathLike[str] | None = None,
        renew: bool = False,
        partly: bool = False,
    ) -> Plan:
        """Bring sessions back from the vault, byte for byte: those named, those of a project, or everything.

        `at` brings them back as they were then, `to` into another home, `renew` with the time of now so that Claude Code does
        not delete them again at once. `partly` takes of a damaged transcript the lines that can still be read.
        """
        from .restoring import RestoreRequest

        wanted = RestoreRequest(
            sessions=sessions, project=project, everything=everything, at=None if at is None else at.timestamp(),
            to=None if to is None else Path(os.path.abspath(os.path.expanduser(to))),
            mtime_ns=time.time_ns() if renew else None, partly=partly,
        )  # fmt: skip
        return self.changes.restore(wanted)

    def prune(self, *, before: datetime | None = None, larger: int | None = None, project: str | None = None) -> Plan:
        """Take sessions out of the home that fit all rules given and that the vault has, to make room."""
        from .pruning import PruneRules

        return self.changes.prune(PruneRules(None if before is None else before.timestamp(), larger, project))

    def bundle(self, sessions: Sequence[str | Session], target: str | os.PathLike[str]) -> dict[str, Any]:
        """Put sessions with all that belongs to them into one new file, for another machine; `changes.unbundle` reads it."""
        from .bundling import write_bundle

        opened = [self.session(item) if isinstance(item, str) else item for item in sessions]
        unique = list({item.id: item for item in opened}.values())
        path = Path(os.path.abspath(os.path.expanduser(target)))
        files, length = write_bundle(unique, path)
        return {"path": str(path), "sessions": [item.id for item in unique], "files": files, "bytes": length}

    def copy_to(self, target: str | os.PathLike[str]) -> Library:
        """Copy the sessions of the only home, with what belongs to them, into a new folder, and open that."""
        from ..edit.migrate.session_layout import copy_home

        return Library([copy_home(self.changes.only_home(), Path(os.path.expanduser(target)))])

    def undo(self, number: int | None = None) -> UndoPlan:
        """Take a change back, byte for byte: the one of this number, or the newest that is not undone."""
        return self.changes.undo(number)

    # --- how it is ----------------------------------------------------------------------------------------------------

    def check(
        self,
        session: str | None = None,
        *,
        project: str | None = None,
        rules: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> CheckResult:
        """Look for damage in one session, those of a project, or everything, the homes themselves included."""
        from .checking import check

        return check(self, session, project=project, rules=rules, progress=progress)

    def overview(self, *, now: float | None = None) -> dict[str, Any]:
        """Tell what is there at a glance: homes, projects, running sessions, what will be deleted soon, damage."""
        from .overview import overview

        return overview(self, now=now)

    def doctor(self, *, deep: bool = False) -> dict[str, Any]:
        """Tell how the homes are: files by kind, versions of Claude Code, permissions, damaged lines, what was passed over."""
        from .doctor import doctor

        return doctor(self, deep=deep)

    def config(self, project: str | None = None) -> list[dict[str, Any]]:
        """Give the configuration of each home, secrets masked; or what Claude Code remembers about a project."""
        from .configuration import config

        return config(self, project)

    def flags(self, name: str | None = None, *, kind: str | None = None) -> Flags:
        """List feature gates and dynamic configs that Claude Code keeps; only those whose name holds `name`."""
        from .configuration import flags

        return flags(self, name, kind=kind)

    # --- what starts by itself ----------------------------------------------------------------------------------------

    def install(
        self,
        what: str,
        *,
        home: Home | None = None,
        every: int = 15,
        shell: str | None = None,
        script: str | None = None,
    ) -> InstallPlan:
        """Plan to install a hook, systemd, launchd or cron (they keep by themselves), a statusline, or a shell's completion.

        `every` are the minutes between two runs of a timer; `script` is the text that teaches `shell` our commands.
        """
        from .installing import plan_install

        return plan_install(self, what, home=home, every=every, shell=shell, script=script)

    def uninstall(self, what: str, *, home: Home | None = None, shell: str | None = None) -> InstallPlan:
        """Plan to take out what `install` put in."""
        from .installing import plan_install

        return plan_install(self, what, home=home, shell=shell, remove=True)

    def installed(self) -> list[str]:
        """List what keeps by itself now, as far as files tell: hook, systemd, launchd, cron."""
        from .installing import installed

        return installed(self)

    def _weigh(self, session: Session) -> None:
        """A session was parsed: the cache must know what it weighs now, to stay within its bound."""
        self.cache.put(as_seen(session.file), session, session.weight)

    def _by_path(self, reference: str) -> SessionFile | None:
        if not reference.endswith(".jsonl") and os.sep not in reference:
            return None
        try:
            real = os.path.realpath(reference)
        except ValueError:  # a NUL or half of a surrogate pair: no such path can be
            real = ""
        for file in self.named_files():
            if os.path.realpath(file.path) == real:
                return self.with_subagents(file)
        from ..store.paths import contained

        for home in self.homes:
            contained(home, reference)  # a path that leaves the home is refused, not just unknown
        return None


def as_seen(file: SessionFile) -> Hashable:
    """Differs once anything was written to the session or to one of its subagents."""
    return (str(file.path), file.size, file.mtime, file.ctime_ns, file.is_kept, *file.subagents)


def open_library(
    homes: Sequence[str | os.PathLike[str]] = (), *, cache_bytes: int = 128 << 20, lost: bool = False
) -> Library:
    """Open the named homes, else those of CLAUDE_CONFIG_DIR, else the usual ones. A named folder must be a home.

    With `lost` they need not be there: the home may be what was lost, and what is asked for is in the vault.
    """
    from ..environment import home_candidates
    from .homes import homes_to_restore, open_homes

    found = homes_to_restore(homes) if lost else open_homes(homes)
    return Library(found, cache_bytes=cache_bytes, own_folder=own_folder, named=home_candidates(homes)[1])


def library_to_fill(homes: Sequence[str | os.PathLike[str]] = ()) -> Library:
    """Open the one home that is meant, which need not be there yet: on a new machine it is missing or empty."""
    from .homes import home_to_fill

    return Library([home_to_fill(homes)], own_folder=own_folder)


def __getattr__(name: str) -> Any:
    """Import a type of `__all__` that another room defines when somebody asks for it: a search needs none of them."""
    import importlib

    rooms = {"SessionFile": "scan", "Skipped": "scan", "SessionSummary": "summary"}
    if name in rooms:
        return getattr(importlib.import_module(f"..store.{rooms[name]}", __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
