"""Read sessions from the vault that a home has lost, as if they were still there.

A list reads heads and tails right out of the vault. A session that is opened is written, with everything that belongs to
it, to a folder of the cache that is removed when the process ends: code that reads a home reads it there, and changes nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from ..edit.restore_files import FileToRestore
from ..errors import DamagedData, NotFound, RecollectError
from ..format.path_text import to_text
from ..journal import disk
from ..journal import locks as presence
from ..store.home import Home
from ..store.layout import FileKind, file_at, is_session_id
from ..store.scan import SessionFile, SubagentFile, scan_home
from ..vault.contents import KeptFile, Snapshot
from ..vault.footprint import Footprints, KeptSession
from ..vault.restore import files_to_restore
from ..vault.stream import KeptStream
from ..vault.vault import Vault


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


def scan_view(view: Home) -> Iterable[SessionFile]:
    """List the sessions of a home that was written only to be read, those too of which only subagents are left."""
    from ..store.read import attach_subagents_beside

    scan = scan_home(view)
    attach_subagents_beside(view, scan, scan.beside, {})
    return [*scan.sessions, *scan.orphans.values()]
