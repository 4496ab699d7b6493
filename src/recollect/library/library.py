"""The library: homes opened together, their sessions and projects, found by id, prefix, title or `last`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..environment import home_candidates
from ..errors import NotFound
from ..format.running import RunningSession
from ..store.home import Home, check_home, existing_homes
from ..store.liveness import open_sessions
from ..store.paths import contained
from ..store.scan import AgentFile, Scan, SessionFile, scan_home
from ..store.summary import SessionSummary, summarise
from .cache import ByteBoundCache
from .locate import find_session
from .session import Session

COUNT_BUDGET = 64 << 20
"""A list counts lines and messages exactly, by reading everything, only while all files together are below this."""


@dataclass(slots=True)
class Project:
    """A project is a working directory. Worktrees of a repository are listed below it."""

    path: str | None
    sessions: list[SessionSummary] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    worktree_of: str | None = None

    @property
    def bytes(self) -> int:
        return sum(item.file.size + sum(agent.size for agent in item.file.agents) for item in self.sessions)


class Library:
    """Reads one or more Claude homes. It never changes anything in them."""

    def __init__(self, homes: Sequence[Home], *, cache_bytes: int = 128 << 20) -> None:
        self.homes = list(homes)
        self._opened: ByteBoundCache[Session] = ByteBoundCache(cache_bytes)

    @cached_property
    def scans(self) -> list[tuple[Home, Scan]]:
        """What is in the homes, by names. Kept until `refresh`."""
        found = [(home, scan_home(home)) for home in self.homes]
        for home, scan in found:
            _attach_agents_beside(home, scan)
        return found

    def refresh(self) -> None:
        """Look at the homes again."""
        self.__dict__.pop("scans", None)
        self.__dict__.pop("running", None)

    def files(self) -> list[SessionFile]:
        """All main transcripts of all homes."""
        return [file for _, scan in self.scans for file in scan.sessions]

    @cached_property
    def running(self) -> dict[str, RunningSession]:
        """Sessions that a client has open now."""
        return {key: value for home in self.homes for key, value in open_sessions(home).items()}

    def sessions(
        self,
        *,
        project: str | None = None,
        since: float | None = None,
        until: float | None = None,
        branch: str | None = None,
        running: bool | None = None,
        separate_worktrees: bool = False,
        count: bool | None = None,
        sort: str = "modified",
    ) -> list[SessionSummary]:
        """Sessions at a glance, newest first. `count` reads whole files for exact numbers (None: while that is cheap)."""
        files = self.files()
        if running is not None:
            files = [file for file in files if (file.session_id in self.running) == running]
        if since is not None:
            files = [file for file in files if file.mtime >= since]
        if count is None:
            count = sum(file.size for file in files) <= COUNT_BUDGET
        summaries: Iterable[SessionSummary] = (summarise(file, count=count) for file in files)
        if until is not None:
            summaries = (item for item in summaries if (item.created or item.file.mtime) <= until)
        if project is not None:
            wanted = _project_matcher(project, separate_worktrees)
            summaries = (item for item in summaries if wanted(item))
        if branch is not None:
            summaries = (item for item in summaries if item.git_branch == branch)
        return sort_sessions(list(summaries), sort)

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

    def session(self, reference: str) -> Session:
        """A session by id, the start of an id, title, path inside a home, or `last`. Raises NotFound with the nearest."""
        file = self._by_path(reference) or find_session(self, reference)
        key = (str(file.path), file.size, file.mtime)
        known = self._opened.get(key)
        if known is not None:
            return known
        session = Session(file, parsed=self._weigh)
        self._opened.put(key, session, 4096)
        return session

    def _weigh(self, session: Session) -> None:
        """A session was parsed: the cache must know what it weighs now, to stay within its bound."""
        key = (str(session.file.path), session.file.size, session.file.mtime)
        self._opened.put(key, session, session.weight)

    def _by_path(self, reference: str) -> SessionFile | None:
        if not reference.endswith(".jsonl") and os.sep not in reference:
            return None
        real = os.path.realpath(reference)
        for file in self.files():
            if os.path.realpath(file.path) == real:
                return file
        for home in self.homes:
            contained(home, reference)  # a path that leaves the home is refused, not just unknown
        return None


def _attach_agents_beside(home: Home, scan: Scan) -> None:
    """Sub-agents of 2.0.28 - 2.1.8 stand beside the sessions: their first line says whose they are."""
    if not scan.beside:
        return
    sessions = {(file.folder, file.session_id): file for file in scan.sessions}
    for folder, agent in scan.beside:
        owner = _owner(home, agent)
        file = sessions.get((folder, owner)) if owner else None
        if file is not None:
            file.agents.append(agent)
        else:
            scan.orphan_agents.append(agent)


def _owner(home: Home, agent: AgentFile) -> str | None:
    from ..errors import RecollectError
    from ..store.read import stream_entries

    try:
        for item in stream_entries(agent.path, home):
            if item.entry.sessionId:
                return item.entry.sessionId
    except (RecollectError, OSError):
        return None
    return None


def _project_matcher(project: str, separate: bool) -> Callable[[SessionSummary], bool]:
    """Matches a project's path, its last folder's name, or the project folder's name; worktrees count to their repository."""
    path = os.path.abspath(os.path.expanduser(project)) if os.sep in project or project in (".", "~") else None

    def matches(item: SessionSummary) -> bool:
        names = [item.project] if separate else [item.project, item.worktree_of]
        for name in names:
            if name is None:
                continue
            if path is not None and name in (path, project):
                return True
            if path is None and (name == project or os.path.basename(name) == project):
                return True
        return item.file.folder == project

    return matches


def sort_sessions(sessions: list[SessionSummary], by: str) -> list[SessionSummary]:
    """modified, created, bytes, messages, agents: largest first; title, project: by name."""
    if by in ("title", "project"):
        return sorted(sessions, key=lambda item: (getattr(item, by) or "").lower())
    keys = {
        "modified": lambda item: item.file.mtime,
        "created": lambda item: item.created or 0.0,
        "bytes": lambda item: item.file.size,
        "lines": lambda item: item.lines or 0,
        "messages": lambda item: item.messages or 0,
        "agents": lambda item: item.agents,
    }
    return sorted(sessions, key=keys[by], reverse=True)


def open_library(homes: Sequence[str | os.PathLike[str]] = (), *, cache_bytes: int = 128 << 20) -> Library:
    """Open the named homes, else those of CLAUDE_CONFIG_DIR, else the usual ones. A named folder must be a home."""
    candidates, named = home_candidates(homes)
    if named:
        found: list[Home] = []
        for path in candidates:
            home = check_home(path)
            if home.real_root not in {item.real_root for item in found}:
                found.append(home)
        return Library(found, cache_bytes=cache_bytes)
    found = existing_homes(candidates)
    if not found:
        places = " and ".join(str(path) for path in candidates)
        raise NotFound(
            f"no Claude home found: looked at {places}",
            hint="name one with --home DIR, or try `recollect demo`",
            slug="no-home",
        )
    return Library(found, cache_bytes=cache_bytes)
