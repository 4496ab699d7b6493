"""Keep a library open for a long time and for many callers, as the web pages and every other server need it.

    service = Service(open_library())
    service.sessions()                                    # all of them, as they are on disk now
    session = service.session("last")
    with service.reading(session):                        # one thread at a time parses a session
        rows = session.conversation.full_history()
    service.index.ask(lambda library: library.search("tide"))
    service.close()

Callers run in several threads. One thread at a time uses the library; long work (parsing a session) holds only the lock of
that session.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from ..errors import NotFound
from ..store.scan import SessionFile
from ..store.summary import SessionSummary
from ..vault.retention import Guard
from .background import IndexWorker, Job, Jobs, StillIndexing, UsageWorker
from .library import Library, as_seen
from .session import Session

__all__ = ["Guard", "IndexWorker", "Job", "Jobs", "Service", "SessionSummary", "StillIndexing", "UsageWorker"]

T = TypeVar("T")
LOOK_AGAIN_SECONDS: Final = 1.0
GUARD_SECONDS: Final = 10.0
MOST_COPIES: Final = 16
"""How many redacted copies of sessions are kept at the same time."""
MAX_REFERENCE: Final = 200
"""The longest name of a session that a caller may send, in characters."""


@dataclass(eq=False)
class Service:
    """An open library with its background work; one for each server."""

    library: Library
    read_only: bool = False
    """Whether callers may only read. A face that offers changes must check this first."""
    jobs: Jobs = field(default_factory=Jobs)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _looked: float = field(default=-1e9, repr=False)
    _guards: tuple[float, list[Guard]] | None = field(default=None, repr=False)
    _copies: OrderedDict[Hashable, tuple[Session, ExitStack]] = field(default_factory=OrderedDict, repr=False)
    """Redacted copies, the one that was used longest ago first."""
    _session_locks: WeakValueDictionary[str, threading.RLock] = field(default_factory=WeakValueDictionary, repr=False)

    @cached_property
    def index(self) -> IndexWorker:
        """Return the worker that builds the index and answers questions over it."""
        return IndexWorker(self.library.for_another_thread)

    @cached_property
    def usage(self) -> UsageWorker:
        """Return the worker that counts tokens and money."""
        return UsageWorker(self.library)

    def close(self) -> None:
        """End the background work, and remove redacted copies."""
        while self._copies:
            self._copies.popitem()[1][1].close()
        if "usage" in self.__dict__:
            self.usage.close()
        if "index" in self.__dict__:
            self.index.close()

    def look_again(self, *, at_once: bool = False) -> None:
        """Read the homes again to notice changes, at most once a second unless `at_once`."""
        with self._lock:
            now = time.monotonic()
            if at_once or now - self._looked > LOOK_AGAIN_SECONDS:
                self.library.refresh()
                _ = self.library.scans
                self._looked = now

    def after_change(self) -> None:
        """Read the homes again after a change that was just made through this service."""
        self.look_again(at_once=True)

    def sessions(self) -> list[SessionSummary]:
        """List all sessions, newest first, including those that only the vault has or of which only subagents are left."""
        with self._lock:
            self.look_again()
            return self.library.sessions(kept=None)

    def session(self, reference: str) -> Session:
        """Open a session, named as for `Library.session`, as it is on disk now.

        Paths are refused: the caller may be on another machine.
        """
        if not reference or len(reference) > MAX_REFERENCE or any(mark in reference for mark in "/\\\x00"):
            raise NotFound(f"no session {reference[:MAX_REFERENCE]!r}", slug="no-such-session")
        with self._lock:
            try:
                session = self.library.session(reference)
            except NotFound:
                self.look_again()
                return self.library.session(reference)
            if not _is_current(session.file):
                self.look_again(at_once=True)
                session = self.library.session(reference)
            return session

    def is_running(self, session_id: str) -> bool:
        """Return whether Claude Code has the session open now."""
        with self._lock:
            return session_id in self.library.running

    def guards(self, *, at_once: bool = False) -> list[Guard]:
        """Report for each home what Claude Code deletes soon and what the vault has; some seconds old unless `at_once`."""
        with self._lock:
            now = time.monotonic()
            if at_once or self._guards is None or now - self._guards[0] > GUARD_SECONDS:
                self._guards = (now, self.library.vault.guards())
            return self._guards[1]

    def redacted(self, session: Session, profile: str = "secrets") -> Session:
        """Return a copy of a session without its secrets. It is there until the session changes, or others need its place."""
        key = (as_seen(session.file), profile)
        with self.reading(session):
            with self._lock:
                known = self._copies.get(key)
                if known is not None:
                    self._copies.move_to_end(key)
                    return known[0]
            stack = ExitStack()
            copy, _ = stack.enter_context(session.redacted(profile))
            with self._lock:
                self._copies[key] = (copy, stack)
                oldest = self._copies.popitem(last=False)[1] if len(self._copies) > MOST_COPIES else None
        if oldest is not None:
            oldest[1].close()
        return copy

    def reading(self, session: Session) -> threading.RLock:
        """Return the lock to hold while a session is parsed or rendered, so that its parts are computed once."""
        with self._lock:
            lock = self._session_locks.get(session.id)
            if lock is None:
                lock = self._session_locks[session.id] = threading.RLock()
            return lock

    def cached(self, session: Session, name: object, make: Callable[[], T], weigh: Callable[[T], int]) -> T:
        """Return what `make` computes from a session; it is computed once, and again after the session changed.

        `weigh` estimates the bytes of the result, which shares the bounded cache of the library with the opened sessions.
        """
        key, cache = (as_seen(session.file), name), self.library.cache
        known: T | None = cache.get(key)
        if known is not None:
            return known
        with self.reading(session):
            known = cache.get(key)
            if known is None:
                known = make()
                cache.put(key, known, weigh(known))
            return known


def _is_current(file: SessionFile) -> bool:
    """Return whether a session's files are unchanged since the homes were last read."""
    if file.home.kept_from is not None:  # written out of the vault: it does not change
        return True
    try:
        if file.is_gone:
            return not os.path.lexists(file.path) and all(
                os.stat(subagent.path).st_mtime == subagent.mtime for subagent in file.subagents
            )
        info = os.stat(file.path)
        subagents = sum(os.stat(subagent.path).st_size for subagent in file.subagents)
    except OSError:
        return False
    known = (file.size, file.mtime, file.ctime_ns, sum(subagent.size for subagent in file.subagents))
    return (info.st_size, info.st_mtime, info.st_ctime_ns, subagents) == known
