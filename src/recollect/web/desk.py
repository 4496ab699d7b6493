"""What all pages share: the library, the journal, and what was read and rendered before, kept while nothing changed.

Pages run in several threads; the library itself is asked by one at a time. Long work (parsing a session) holds only the
lock of that session.
"""

from __future__ import annotations

import difflib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..errors import NotFound
from ..journal.changes import Journal
from ..library.cache import ByteBoundCache
from ..library.changes import Changes
from ..library.library import Library, as_seen
from ..library.session import Session
from ..store.scan import SessionFile
from ..store.summary import SessionSummary
from ..vault.retention import Guard, guard
from ..vault.vault import Vault
from .accounts import Accounts
from .work import Chores, IndexWork

T = TypeVar("T")
LOOK_AGAIN_SECONDS = 1.0
GUARD_SECONDS = 10.0
KEPT_BYTES = 64 << 20
"""How much of what was worked out for pages is kept."""


@dataclass(eq=False)
class Desk:
    """One per server."""

    library: Library
    journal: Journal
    read_only: bool = False
    own_folders: Callable[[str], Path] = field(default=lambda kind: Path(kind))
    """Recollect's own folder by its kind."""
    chores: Chores = field(default_factory=Chores)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _looked: float = field(default=-1e9, repr=False)
    _summaries: dict[str, tuple[tuple[object, ...], SessionSummary]] = field(default_factory=dict, repr=False)
    _kept: ByteBoundCache[Any] = field(default_factory=lambda: ByteBoundCache(KEPT_BYTES), repr=False)
    _not_live: list[SessionFile] = field(default_factory=list, repr=False)
    _guards: tuple[float, list[Guard]] | None = field(default=None, repr=False)
    _session_locks: dict[str, threading.RLock] = field(default_factory=dict, repr=False)

    @cached_property
    def index(self) -> IndexWork:
        return IndexWork(self._own_library)

    def _own_library(self) -> Library:
        """A library for the thread of the index, which tells what the server's tells."""
        library = Library(self.library.homes, own_folder=self.own_folders)
        library.tell = self.library.tell
        return library

    @cached_property
    def accounts(self) -> Accounts:
        return Accounts(self.library.homes, self.own_folders, self.library.tell)

    @cached_property
    def changes(self) -> Changes:
        return Changes(self.library, self.journal)

    def close(self) -> None:
        if "accounts" in self.__dict__:
            self.accounts.close()
        if "index" in self.__dict__:
            self.index.close()

    def look_again(self, *, at_once: bool = False) -> None:
        """Notice what changed in the homes; not more often than once a second."""
        with self._lock:
            now = time.monotonic()
            if at_once or now - self._looked > LOOK_AGAIN_SECONDS:
                self.library.refresh()
                _ = self.library.scans
                self._not_live = [*self.library.kept_files(), *self.library.orphans()]
                self._looked = now

    def sessions(self) -> list[SessionSummary]:
        """All sessions, newest first. Only files that changed are read again."""
        with self._lock:
            self.look_again()
            files = self._files()
            counts = self.library.message_counts(files)
            found: dict[str, tuple[tuple[object, ...], SessionSummary]] = {}
            for file in files:
                key = str(file.path)
                known = self._summaries.get(key)
                as_it_is = (file.size, file.mtime, file.ctime_ns, counts.source(file))
                if known is None or known[0] != as_it_is:
                    known = (as_it_is, counts.summarise(file))
                else:
                    known[1].file = file  # subagents may have come since
                    known[1].subagents = max(len(file.subagents), known[1].subagents)
                found[key] = known
            self._summaries = found
            return sorted((item for _, item in found.values()), key=lambda item: item.file.mtime, reverse=True)

    def session(self, reference: str) -> Session:
        """A session by its id or the start of it, or `last`; as it is on disk now. Paths and titles are not taken here."""
        if not reference or len(reference) > 200 or any(mark in reference for mark in "/\\\x00"):
            raise NotFound(f"no session {reference[:200]!r}", slug="no-such-session")
        with self._lock:
            try:
                session = self._find(reference)
            except NotFound:
                self.look_again()
                return self._find(reference)
            if not _is_current(session.file):
                self.look_again(at_once=True)
                session = self._find(reference)
            return session

    def _files(self) -> list[SessionFile]:
        """Those of the homes, those that only the vault has, and those of which only subagents are left."""
        return [*self.library.files(), *self._not_live]

    def _find(self, reference: str) -> Session:
        files = self._files()
        if reference == "last" and files:
            return self.library.session(max(files, key=lambda file: file.mtime).session_id)
        wanted = reference.lower()
        ids = {file.session_id for file in files}
        found = [reference] if reference in ids else sorted(item for item in ids if item.startswith(wanted))
        if len(found) == 1:
            return self.library.session(found[0])
        raise NotFound(
            f"{reference!r} is the start of {len(found)} session ids" if found else f"no session {reference!r}",
            slug="ambiguous" if found else "no-such-session",
            hint="the list of sessions shows all of them; deleted ones may be in the journal of changes",
            nearest=tuple(found[:10]) or tuple(difflib.get_close_matches(wanted, ids, 5, 0.6)),
        )

    @property
    def vault(self) -> Vault:
        return Vault(self.own_folders("data") / "vault")

    def guards(self, *, at_once: bool = False) -> list[Guard]:
        """What the client deletes soon, home by home, and whether the vault has it; some seconds old unless `at_once`."""
        with self._lock:
            now = time.monotonic()
            if at_once or self._guards is None or now - self._guards[0] > GUARD_SECONDS:
                vault, files = self.vault, self.library.files()
                found = [
                    guard(vault, home, [file for file in files if file.home is home], now=time.time())
                    for home in self.library.homes
                ]
                self._guards = (now, found)
            return self._guards[1]

    def busy(self, session: Session) -> threading.RLock:
        """Held while a session is parsed or rendered: its parts are worked out once."""
        with self._lock:
            if len(self._session_locks) > 256:
                self._session_locks = {key: lock for key, lock in self._session_locks.items() if key == session.id}
            return self._session_locks.setdefault(session.id, threading.RLock())

    def keep(self, session: Session, name: object, make: Callable[[], T], weigh: Callable[[T], int]) -> T:
        """Something worked out of a session: made once, and again when the session changed."""
        key = (as_seen(session.file), name)
        with self._lock:
            known = self._kept.get(key)
        if known is not None:
            return known  # type: ignore[no-any-return]
        with self.busy(session):
            with self._lock:
                known = self._kept.get(key)
            if known is not None:
                return known  # type: ignore[no-any-return]
            made = make()
            with self._lock:
                self._kept.put(key, made, weigh(made))
            return made

    def is_running(self, session_id: str) -> bool:
        with self._lock:
            return session_id in self.library.running

    def after_change(self) -> None:
        """Something of ours was written: what was seen before is old."""
        self.look_again(at_once=True)


def _is_current(file: SessionFile) -> bool:
    if file.home.kept_from is not None:  # laid out of the vault: it does not change
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
