"""Open homes together, and find their sessions and projects by id, prefix, title or `last`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ..environment import own_folder

if TYPE_CHECKING:
    from datetime import date, datetime

    from ..analysis.status_figures import StatusFigures
    from ..format.session_meta import RunningSession
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.sync import Progress, SyncReport
    from ..index.search.results import SearchResults
    from ..index.sql.query import Answer, Limits
    from ..store.home import Home
    from ..store.scan import Scan, SessionFile, Skipped, SubagentFile
    from ..store.summary import SessionSummary
    from ..vault.capture import CaptureReport
    from ..watch.events import Budget
    from .bookmarks import Bookmarks
    from .budgets import Budgets
    from .bundling import BundleOptions
    from .changes import Changes, UndoPlan
    from .checking import CheckResult
    from .configuration import Flags
    from .exporting import Chosen, ExportResult, ExportTarget
    from .installing import InstallPlan
    from .plan import Plan
    from .secrets import SecretFinds, SecretOptions
    from .session import ByteBoundCache, Session
    from .session_lists import MessageCounts
    from .side_files import PlanDocument, TodoItem, TypedPrompts
    from .usage import ExpensivePrompts, Ledger, UsageReport
    from .vault import LibraryVault
    from .watching import Watching

__all__ = [
    "Library", "Project", "SessionFile", "SessionSummary", "Skipped", "as_seen", "library_to_fill", "open_library",
]  # fmt: skip

# Each method imports what it needs: a search over an index that is up to date needs no transcript reader.


@dataclass(slots=True)
class Project:
    """A working directory with its sessions. Worktrees of a repository are listed below it."""

    path: str | None
    sessions: list[SessionSummary] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    worktree_of: str | None = None

    @property
    def bytes(self) -> int:
        return sum(item.file.size + sum(subagent.size for subagent in item.file.subagents) for item in self.sessions)


class Library:
    """One or more Claude homes, opened together. Reading never changes them; `changes` plans every change."""

    tell: Callable[[str], None] | None = None
    """Called with messages for people that are not errors, such as that the index is in a temporary folder."""

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
        """Whether the homes were named; otherwise they are the usual ones."""
        self._own_folder = own_folder
        """Returns the folders of our own data and cache; without it, there is no vault to read."""
        self._cache_bytes = cache_bytes
        self._summaries: dict[str, tuple[Hashable, str | None, SessionSummary]] = {}
        self._owners: dict[SubagentFile, str | None] = {}
        """The session of each subagent file that lies beside the sessions, so that its lines are read only once."""

    @cached_property
    def cache(self) -> ByteBoundCache[Any]:
        """Remember opened sessions, and what was computed from them."""
        from .session import ByteBoundCache

        return ByteBoundCache(self._cache_bytes)

    @cached_property
    def _names(self) -> list[tuple[Home, Scan]]:
        """List the files of the homes by name alone: subagents that lie beside the sessions are not assigned to them yet."""
        from ..store.scan import scan_home

        self._attached: set[tuple[Home, str]] = set()
        return [(home, scan_home(home)) for home in self.homes]

    def for_another_thread(self) -> Library:
        """Open the same homes in a new library, with a catalogue of its own: a catalogue may be used by one thread only."""
        library = Library(self.homes, own_folder=self._own_folder, named=self.named)
        library.tell = self.tell
        return library

    @cached_property
    def scans(self) -> list[tuple[Home, Scan]]:
        """List the files of the homes, all subagents assigned to their sessions. Cached until `refresh`."""
        for home, scan in self._names:
            for folder in dict.fromkeys(folder for folder, _ in scan.beside):
                self._attach_subagents(home, scan, folder)
        return self._names

    def _attach_subagents(self, home: Home, scan: Scan, folder: str) -> None:
        """Assign the subagents that lie beside the sessions of a folder to their sessions; once."""
        if (home, folder) not in self._attached:
            from ..store.read import attach_subagents_beside

            self._attached.add((home, folder))
            attach_subagents_beside(home, scan, [item for item in scan.beside if item[0] == folder], self._owners)

    def named_files(self) -> list[SessionFile]:
        """List all main transcripts by name. Subagents may be missing: see `with_subagents`."""
        return [file for _, scan in self._names for file in scan.sessions]

    @cached_property
    def files_by_real_path(self) -> dict[str, SessionFile]:
        """Return the main transcripts by their paths without links; of two that are the same file, the first."""
        return {os.path.realpath(file.path): file for file in reversed(self.named_files())}

    def with_subagents(self, file: SessionFile) -> SessionFile:
        """Return a session's file with its subagents, reading only its own project folder."""
        for home, scan in self._names:
            if home == file.home and any(folder == file.folder for folder, _ in scan.beside):
                self._attach_subagents(home, scan, file.folder)
        return file

    def refresh(self) -> None:
        """Drop what is cached about the homes, so that they are read again."""
        for name in ("_names", "files_by_real_path", "scans", "running", "vault", "_kept_files", "_cleanup_days"):
            self.__dict__.pop(name, None)

    def files(self) -> list[SessionFile]:
        """List all main transcripts of all homes."""
        return [file for _, scan in self.scans for file in scan.sessions]

    def orphans(self) -> list[SessionFile]:
        """List the sessions of which only subagents are left: neither the homes nor the vault have the main transcript."""
        kept = {file.session_id for file in self.kept_files()}
        return [file for _, scan in self.scans for file in scan.orphans.values() if file.session_id not in kept]

    def left_out(self) -> list[Skipped]:
        """List what is below `projects/` but not part of any session, and why: dangling links, for example."""
        hidden = "."  # files that desktops leave everywhere
        return [item for _, scan in self.scans for item in scan.skipped if not item.path.name.startswith(hidden)]

    def own_folder(self, kind: str) -> Path:
        """Return Recollect's own folder for "config", "data" or "cache"."""
        return (self._own_folder or own_folder)(kind)

    @cached_property
    def vault(self) -> LibraryVault:
        """Return the vault: what is kept of the homes, and methods to keep, verify and compact. It need not exist yet."""
        from .vault import LibraryVault

        return LibraryVault(self, is_read=self._own_folder is not None)

    @cached_property
    def changes(self) -> Changes:
        """Plan changes to the homes, and list those that were made."""
        from ..journal.changes import Journal
        from .changes import Changes

        return Changes(self, Journal(self.own_folder("data")))

    def kept_files(self) -> list[SessionFile]:
        """List the main transcripts that the vault has and the homes no longer have."""
        return list(self._kept_files)

    @cached_property
    def _kept_files(self) -> list[SessionFile]:
        kept = self.vault.sessions
        return kept.lost_sessions(self.files()) if kept is not None else []

    @cached_property
    def running(self) -> dict[str, RunningSession]:
        """Return the sessions that Claude Code has open now, by id."""
        from ..store.liveness import open_sessions

        return {key: value for home in self.homes for key, value in open_sessions(home).items()}

    def expires(self, file: SessionFile) -> float:
        """Return when Claude Code deletes a session if nothing is written to it before, in seconds since 1970."""
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
        """List sessions with their main facts, newest first. `count` reads whole files to count lines and messages.

        Without `count`, these numbers come from the files while that is cheap, else from the index as far as it has them.
        With `kept`, only the sessions that the homes have lost and the vault has; with None, these too, and those of which
        only subagents are left.
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
            end = until.timestamp()
            summaries = (
                item for item in summaries if (item.created.timestamp() if item.created else item.file.mtime) <= end
            )
        if project is not None:
            wanted = project_matcher(project, separate_worktrees)
            summaries = (item for item in summaries if wanted(item))
        if branch is not None:
            summaries = (item for item in summaries if item.git_branch == branch)
        return sort_sessions(list(summaries), sort)

    def summary_of(self, file: SessionFile, counts: MessageCounts | None = None) -> SessionSummary:
        """Summarise a session, from memory if its file is unchanged. Without `counts` nothing is counted."""
        from ..store.summary import summarise

        stamp = (file.size, file.mtime, file.ctime_ns, file.is_kept)
        known_stamp, known_source, known = self._summaries.get(str(file.path), (None, None, None))
        source = known_source if counts is None else counts.source(file)
        if known is None or (known_stamp, known_source) != (stamp, source):
            known = summarise(file) if counts is None else counts.summarise(file)
            self._summaries[str(file.path)] = (stamp, source if counts is not None else None, known)
        else:
            known.file = file  # subagents may have been added since
            known.subagents = max(len(file.subagents), known.subagents)
        return known

    def message_counts(self, files: Sequence[SessionFile], count: bool | None = None) -> MessageCounts:
        """Decide where the numbers of lines and messages of these sessions come from: the files or the index."""
        from .session_lists import MessageCounts

        folder = None if self._own_folder is None else self._own_folder("cache") / "index"
        return MessageCounts(files, folder, count)

    def projects(self, *, separate_worktrees: bool = False) -> list[Project]:
        """List the projects with their sessions, most recently used first. By default, worktrees count to their repository."""
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
        """Suggest similar projects if no session is of this one; None if there is one, in a home or in the vault."""
        from .project_paths import ProjectFilter

        wanted = ProjectFilter(project)
        sessions = self.sessions(count=False, kept=None)
        if any(wanted.fits(item.project, item.worktree_of, folder=item.file.folder) for item in sessions):
            return None
        return wanted.no_project_fits([item.worktree_of or item.project for item in sessions])

    def session(self, reference: str) -> Session:
        """Open a session by id, start of an id, title, path inside a home, or `last`. Raises NotFound with the nearest."""
        from .locate import find_session
        from .session import Session

        file = find_session(self, reference)
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
        """Open the index's tables. `index` brings them up to date."""
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
        """Answer one SELECT over the tables of docs/reference/sql.md, in a locked process of its own."""
        from .questions import ask

        return ask(self, query, parameters, limits=limits)

    def ledger(self, timezone: str | None = None, prices: str = "then") -> Ledger:
        """Count API calls by the days of a time zone (default: the user's), at the prices of then or of "today"."""
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
        """Count what a status line shows, for a whole session id, indexing at most `most_bytes` bytes of what is new.

        None if the index was damaged; the next call has figures again.
        """
        from .status_figures import status_figures

        return status_figures(self.ledger(timezone), session, most_bytes)

    @cached_property
    def budgets(self) -> Budgets:
        """Set and remove budgets, and see how much of each is used."""
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
        """Search for sessions in which something matching was said or seen, best first: see docs/guide/search.md.

        `mode` is words, or the slow substring or regex; `everything` also searches prompt snapshots and request logs.
        """
        from .searching import search

        return search(
            self, query, mode=mode, everything=everything, where=where, sort=sort, limit=limit, offset=offset,
            hits_per_session=hits_per_session, facets=facets, progress=progress,
        )  # fmt: skip

    # --- files beside the transcripts ---------------------------------------------------------------------------------

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
        """List prompts and slash commands that were typed, newest first; `grep` is a text in it or in a paste, ignoring case."""
        from .side_files import typed_prompts

        return typed_prompts(
            self, grep=grep, project=project, session=session, since=since, until=until, limit=limit
        )  # fmt: skip

    def plans(self) -> list[PlanDocument]:
        """List the plans of plan mode, newest first."""
        from .side_files import plan_documents

        return plan_documents(self)

    def plan(self, slug: str) -> PlanDocument:
        """Return a plan of plan mode by its slug or the start of one. Raises NotFound with the nearest."""
        from .side_files import find_plan

        return find_plan(self, slug)

    def todos(self, session: str | None = None) -> list[TodoItem]:
        """List the to-do lists and tasks of all sessions, or of one session, whose transcript may be gone."""
        from .side_files import all_todos

        return all_todos(self, session)

    @cached_property
    def bookmarks(self) -> Bookmarks:
        """List, add and remove bookmarks of sessions and messages, stored in Recollect's own data folder."""
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
        """Watch what happens in the homes from now on: a synchronous and asynchronous iterator of typed events."""
        from .session_lists import project_matcher
        from .watching import Watching

        test = None if project is None else project_matcher(project, separate_worktrees)
        return Watching(self.homes, is_of_project=test, polling=polling, budget=budget)

    def watch_session(
        self, reference: str, *, from_start: bool = False, polling: bool = False, budget: Budget | None = None
    ) -> Watching:
        """Watch one session and its subagents; with `from_start`, what is already there comes first.

        A whole id may be that of a session that does not exist yet.
        """
        from ..store.layout import is_session_id
        from .watching import Watching

        session_id = reference if is_session_id(reference) else self.session(reference).id
        return Watching(self.homes, session_id=session_id, from_start=from_start, polling=polling, budget=budget)

    # --- the vault ----------------------------------------------------------------------------------------------------

    def keep(self, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> list[CaptureReport]:
        """Copy everything new in the homes into the vault, and report what was copied, home by home."""
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
        """Restore sessions from the vault, byte for byte: those named, those of a project, or everything.

        `at` restores them as they were then, `to` into another home, `renew` with the current time so that Claude Code does
        not delete them again at once. `partly` restores the lines of a damaged transcript that can still be read.
        """
        from .restoring import RestoreRequest

        wanted = RestoreRequest(
            sessions=sessions, project=project, everything=everything, at=None if at is None else at.timestamp(),
            to=None if to is None else Path(os.path.abspath(os.path.expanduser(to))),
            mtime_ns=time.time_ns() if renew else None, partly=partly,
        )  # fmt: skip
        return self.changes.restore(wanted)

    def prune(self, *, before: datetime | None = None, larger: int | None = None, project: str | None = None) -> Plan:
        """Remove sessions from the home that match all given rules and that the vault has, to free space."""
        from .pruning import PruneRules

        return self.changes.prune(PruneRules(None if before is None else before.timestamp(), larger, project))

    def bundle(
        self, sessions: Sequence[str | Session], target: str | os.PathLike[str], **options: Unpack[BundleOptions]
    ) -> dict[str, Any]:
        """Write sessions with all their files into one new file, for another machine; `changes.unbundle` reads it."""
        from .bundling import bundle_sessions

        opened = [self.session(item) if isinstance(item, str) else item for item in sessions]
        unique = list({item.id: item for item in opened}.values())
        return bundle_sessions(unique, Path(os.path.abspath(os.path.expanduser(target))), **options)

    def export(self, sessions: Chosen, to: ExportTarget = None, **options: Any) -> ExportResult:
        """Export sessions into a file or a stream, `into=` a folder or as a `site=`; for the options see docs/guide/export.md."""
        from .exporting import export

        return export(self, sessions, to, **options)

    def copy_to(self, target: str | os.PathLike[str]) -> Library:
        """Copy the sessions of the only home, with what belongs to them, into a new folder, and open the copy."""
        from ..edit.migrate import copy_home

        return Library([copy_home(self.changes.only_home(), Path(os.path.expanduser(target)))])

    def undo(self, number: int | None = None) -> UndoPlan:
        """Undo a change byte for byte: the one of this number, or the newest that is not undone."""
        return self.changes.undo(number)

    # --- checks and reports -------------------------------------------------------------------------------------------

    def check(
        self,
        session: str | None = None,
        *,
        project: str | None = None,
        rules: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> CheckResult:
        """Check one session, the sessions of a project, or everything including the homes, for damage."""
        from .checking import check

        return check(self, session, project=project, rules=rules, progress=progress)

    def secrets(self, *sessions: str, **options: Unpack[SecretOptions]) -> SecretFinds:
        """Search sessions, or everything the homes hold, for secrets. Unchanged files are not read again."""
        from .secrets import find_secrets

        return find_secrets(self, sessions, **options)

    def overview(self, *, now: float | None = None) -> dict[str, Any]:
        """Report the main facts: homes, projects, running sessions, what will be deleted soon, damage."""
        from .overview import overview

        return overview(self, now=now)

    def doctor(self, *, deep: bool = False) -> dict[str, Any]:
        """Report the state of the homes: files by kind, Claude Code versions, permissions, damaged lines, what was skipped."""
        from .checking import doctor

        return doctor(self, deep=deep)

    def config(self, project: str | None = None) -> list[dict[str, Any]]:
        """Return the configuration of each home, secrets masked; or what Claude Code stores about a project."""
        from .configuration import config

        return config(self, project)

    def flags(self, name: str | None = None, *, kind: str | None = None) -> Flags:
        """List feature gates and dynamic configs that Claude Code has cached; with `name`, those whose name contains it."""
        from .configuration import flags

        return flags(self, name, kind=kind)

    # --- installing ---------------------------------------------------------------------------------------------------

    def install(
        self, what: str, *, home: Home | None = None, every: int = 15, shell: str | None = None,
        script: str | None = None,
    ) -> InstallPlan:  # fmt: skip
        """Plan to install a hook, systemd, launchd or cron (which run `keep`), a statusline, or a shell's completion.

        `every` is the number of minutes between two runs of a timer; `script` is the completion code for `shell`.
        """
        from .installing import plan_install

        return plan_install(self, what, home=home, every=every, shell=shell, script=script)

    def uninstall(self, what: str, *, home: Home | None = None, shell: str | None = None) -> InstallPlan:
        """Plan to remove what `install` installed."""
        from .installing import plan_install

        return plan_install(self, what, home=home, shell=shell, remove=True)

    def installed(self) -> list[str]:
        """List what runs `keep` automatically, as far as files show: hook, systemd, launchd, cron."""
        from .installing import installed

        return installed(self)

    def _weigh(self, session: Session) -> None:
        """Update the size of a session in the cache after it was parsed, so that the cache stays within its limit."""
        from .session import weight_of

        self.cache.put(as_seen(session.file), session, weight_of(session))


def as_seen(file: SessionFile) -> Hashable:
    """Return a key that changes when anything is written to the session or to one of its subagents."""
    return (str(file.path), file.size, file.mtime, file.ctime_ns, file.is_kept, *file.subagents)


def open_library(
    homes: Sequence[str | os.PathLike[str]] = (), *, cache_bytes: int = 128 << 20, lost: bool = False
) -> Library:
    """Open the named homes, else those of CLAUDE_CONFIG_DIR, else the usual ones. A named folder must be a home.

    With `lost` the homes need not exist: a home may be lost, and its sessions still be in the vault.
    """
    from ..environment import home_candidates
    from .homes import homes_to_restore, open_homes

    found = homes_to_restore(homes) if lost else open_homes(homes)
    return Library(found, cache_bytes=cache_bytes, own_folder=own_folder, named=home_candidates(homes)[1])


def library_to_fill(homes: Sequence[str | os.PathLike[str]] = ()) -> Library:
    """Open the one home to fill, which may be missing or empty on a new machine."""
    from .homes import home_to_fill

    return Library([home_to_fill(homes)], own_folder=own_folder)


def __getattr__(name: str) -> Any:
    """Import a type of `__all__` that another room defines on first use: a search needs none of them."""
    import importlib

    rooms = {"SessionFile": "scan", "Skipped": "scan", "SessionSummary": "summary"}
    if name in rooms:
        return getattr(importlib.import_module(f"..store.{rooms[name]}", __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
