"""Find the kept sessions that are meant, and plan to restore them."""

from __future__ import annotations

import atexit
import contextlib
import os
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from ..edit.restore_files import FileToRestore, RestoreResult, plan_restore
from ..errors import DamagedData, NotFound, RecollectError, Refused
from ..format.path_text import to_text
from ..journal import disk
from ..journal import locks as presence
from ..journal.changes import Change, Journal
from ..store.config_files import cleanup_days
from ..store.home import Home
from ..store.layout import FileKind, file_at, is_session_id
from ..store.scan import SessionFile, SubagentFile
from ..store.summary import summarise
from ..vault.manifest import KeptFile, Snapshot
from ..vault.restore import Footprints, KeptSession, KeptStream, files_to_restore
from ..vault.vault import Vault
from .belongings import scan_view
from .library import Library
from .locate import find_among
from .project_paths import ProjectFilter
from .session_lists import project_matcher

# Read sessions from the vault that a home has lost, as if they were still there.
# A list reads heads and tails right out of the vault. A session that is opened is written, with everything that
# belongs to it, to a folder of the cache that is removed when the process ends: code that reads a home reads it there,
# and changes nothing.


class VaultSessions:
    """The sessions that the vault has of some homes."""

    def __init__(self, homes: Sequence[Home], vault: Vault, cache: Path) -> None:
        self._homes = homes
        self.vault = vault
        self._cache = cache
        self._sessions: dict[str, tuple[Home, KeptSession, Footprints]] = {}
        self._view: Path | None = None
        self._process = os.getpid()

    def homes(self, *, at: float | None = None) -> Iterator[tuple[Home, Footprints]]:
        """Yield the homes that the vault has something of, each with its sessions."""
        for home in self._homes:
            number = self.vault.contents.home_number(home.real_root)
            if number is not None:
                yield home, Footprints(self.vault, number, at=at)

    def sessions(self, *, at: float | None = None) -> Iterator[SessionFile]:
        """Yield every kept session, whether or not the home still has it."""
        for home, footprints in self.homes(at=at):
            for session in footprints.sessions.values():
                yield self._file(home, session, footprints)

    def lost_sessions(self, live: Iterable[SessionFile]) -> list[SessionFile]:
        """Return the kept sessions that are not among the `live` ones; none if the vault cannot be read."""
        there = {(file.home.real_root, file.session_id) for file in live}
        try:
            return [file for file in self.sessions() if (file.home.real_root, file.session_id) not in there]
        except (RecollectError, OSError):
            return []

    def of(self, file: SessionFile) -> tuple[KeptSession, Footprints]:
        _, session, footprints = self._sessions[str(file.path)]
        return session, footprints

    def _file(self, home: Home, session: KeptSession, footprints: Footprints) -> SessionFile:
        path = home.root / session.transcript.path
        self._sessions[str(path)] = (home, session, footprints)
        file = SessionFile(
            session.session_id, path, home, session.folder, session.look.size, session.look.mtime_ns / 1e9,
            client_lists=is_session_id(session.session_id), source=partial(self._open, session.transcript, session.look),
        )  # fmt: skip
        file.subagents = [
            SubagentFile(
                to_text(placed.subagent_id or ""),
                home.root / kept.path,
                look.size,
                look.mtime_ns / 1e9,
                "subagents",
                workflow=None if placed.workflow is None else to_text(placed.workflow),
            )
            for kept, look in session.files
            if (placed := file_at(kept.path.split("/"))).kind is FileKind.SUBAGENT_TRANSCRIPT
        ]
        return file

    def _open(self, file: KeptFile, look: Snapshot) -> BinaryIO:
        return cast(BinaryIO, KeptStream(self.vault, file, look))

    # --- laying out ---------------------------------------------------------------------------------------------------

    def laid_out(self, file: SessionFile) -> SessionFile:
        """Write a session's files to a home in the cache, only to be read. Raises DamagedData if its transcript is damaged."""
        home, session, footprints = self._sessions[str(file.path)]
        root = self._make_view() / f"{home.root.name.lstrip('.') or 'home'}-{session.home}"
        view = Home(root, kept_from=home.root)
        for item in files_to_restore(self.vault, footprints.complete(session)):
            try:
                _lay_out(root, item)
            except DamagedData:
                if item.path == session.transcript.path:
                    raise
        found = next((item for item in scan_view(view) if item.session_id == session.session_id), None)
        if found is None:
            raise NotFound(f"session {session.session_id} could not be laid out in {root}", slug="no-such-session")
        return found

    def _make_view(self) -> Path:
        if self._view is None:
            place = self._cache / "kept"
            with contextlib.suppress(OSError):
                for name in os.listdir(place):
                    with contextlib.suppress(OSError):
                        presence.remove_if_abandoned(place / name, disk.remove_tree)
            self._view = place / uuid.uuid4().hex
            try:
                for folder in (self._cache, place):
                    disk.make_folders(folder)
                self._claim = presence.make_claimed_folder(self._view, disk.make_folders)
            except OSError as problem:
                raise disk.explain(problem, place) from problem
            atexit.register(self._take_away)
        return self._view

    def _take_away(self) -> None:
        if self._view is not None and self._process == os.getpid():
            with contextlib.suppress(OSError):
                disk.remove_tree(self._view)


def _lay_out(root: Path, item: FileToRestore) -> None:
    target = root / item.path
    if target.exists():
        return
    try:
        disk.make_folders(target.parent)
        disk.write_new(target, item.chunks(), mode=0o400)
        disk.set_times(target, item.mtime_ns)
    except OSError as problem:
        raise disk.explain(problem, target) from problem


@dataclass(frozen=True)
class RestoreRequest:
    """Which sessions to restore, and where to. One of the first three fields selects them."""

    sessions: Sequence[str] = ()
    project: str | None = None
    everything: bool = False
    at: float | None = None
    to: Path | None = None
    mtime_ns: int | None = None
    """A modification time for all files, instead of their own."""
    partly: bool = False
    homes: Sequence[str] = ()
    """The homes that are meant; else those of the library."""


def plan_restoring(library: Library, journal: Journal, wanted: RestoreRequest) -> tuple[Change, RestoreResult]:
    """Plan to restore sessions. Raises NotFound if none of them is kept, Refused if several homes may be meant."""
    vault = library.vault.existing()
    homes = _kept_homes(library, vault, wanted)
    shelf = VaultSessions(homes, vault, library.own_folder("cache"))
    files = list(shelf.sessions(at=wanted.at))
    chosen = _chosen(files, wanted)
    if wanted.everything:
        parts = {home.real_root: list(footprints.looks.values()) for home, footprints in shelf.homes(at=wanted.at)}
        chosen = files
    else:
        parts = {}
        for file in chosen:
            parts.setdefault(file.home.real_root, []).extend(_belongings(shelf, file, wanted))
    sources = {root: looks for root, looks in parts.items() if looks}
    if not sources:
        raise NotFound(
            "nothing was kept by then", slug="nothing-kept", hint="`recollect keep --status` tells what is kept"
        )
    if len(sources) > 1:
        raise Refused(
            f"kept of {len(sources)} homes: {', '.join(sorted(sources))}",
            hint="say which is meant with --home DIR", slug="several-homes",
        )  # fmt: skip
    root, looks = next(iter(sources.items()))
    target = Home(wanted.to) if wanted.to is not None else Home(Path(root))
    unique = {file.path: (file, look) for file, look in looks}.values()
    items = files_to_restore(vault, unique, mtime_ns=wanted.mtime_ns, partly=wanted.partly)
    change, result = plan_restore(journal, target, items, title=_title(wanted, chosen))
    _tell(result, chosen, target, wanted)
    return change, result


def _kept_homes(library: Library, vault: Vault, wanted: RestoreRequest) -> list[Home]:
    kept = list(dict.fromkeys(vault.contents.homes.values()))
    asked = {os.path.realpath(root) for root in wanted.homes or [str(home.root) for home in library.homes]}
    found = [Home(Path(root)) for root in kept if root in asked]
    if not found and not library.named and wanted.to is not None:
        found = [Home(Path(root)) for root in kept]  # on a new machine: the homes that are in the vault
    if not found:
        raise NotFound(
            f"nothing of {', '.join(str(home.root) for home in library.homes)} is kept", nearest=tuple(kept), slug="nothing-kept",
            hint="these homes are kept: name one with --home DIR" if kept else "`recollect keep` keeps what is there",
        )  # fmt: skip
    return found


def _chosen(files: list[SessionFile], wanted: RestoreRequest) -> list[SessionFile]:
    if wanted.project is not None:
        matches = project_matcher(wanted.project, False)
        found = [file for file in files if matches(summarise(file))]
        if not found:
            advice = ProjectFilter(wanted.project).no_project_fits(summarise(file).project for file in files)
            raise NotFound(
                f"no kept session of {wanted.project}" + (f": {advice}" if advice is not None else ""),
                slug="no-such-project",
                hint="`recollect list --kept` shows them",
            )
        return found
    chosen: dict[str, SessionFile] = {}
    for reference in wanted.sessions:
        file = find_among(files, reference)
        same = [other for other in files if other.session_id == file.session_id and other.home != file.home]
        for each in [file, *same]:
            chosen[str(each.path)] = each
    return list(chosen.values())


def _belongings(shelf: VaultSessions, file: SessionFile, wanted: RestoreRequest) -> Iterable[tuple[KeptFile, Snapshot]]:
    session, footprints = shelf.of(file)
    yield from footprints.complete(session)
    if wanted.project is not None:
        yield from _memory(footprints, session.folder)


def _memory(footprints: Footprints, folder: str) -> Iterable[tuple[KeptFile, Snapshot]]:
    prefix = f"projects/{folder}/memory/"
    return [known for path, known in footprints.looks.items() if path.startswith(prefix)]


def _title(wanted: RestoreRequest, chosen: list[SessionFile]) -> str:
    if wanted.everything:
        return "Restore everything from the vault"
    if wanted.project is not None:
        return f"Restore the sessions of {wanted.project}"
    names = ", ".join(file.session_id for file in chosen[:3]) + (" ..." if len(chosen) > 3 else "")
    return f"Restore {names}"


def _tell(result: RestoreResult, chosen: list[SessionFile], target: Home, wanted: RestoreRequest) -> None:
    restored = set(result.files)
    back = [file for file in chosen if file.path.relative_to(file.home.root).as_posix() in restored]
    result.sessions = sorted({file.session_id for file in back})
    days = cleanup_days(target)
    old = sum(1 for file in back if file.mtime < time.time() - days * 86_400)
    if old and wanted.mtime_ns is None:
        result.notes.append(
            f"{old} of the sessions are older than {days} days: Claude Code deletes them again when it next cleans up, "
            "unless they are restored with --renew or cleanupPeriodDays is raised"
        )
