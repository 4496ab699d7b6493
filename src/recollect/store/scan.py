"""Find the sessions and subagents of a home by names and sizes only; no file is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import Refused
from ..format.path_text import to_text
from .home import Home
from .layout import is_session_id, is_subagent_name, meta_of, subagent_id_of
from .paths import list_inside
from .transcript_folders import Folder, transcript_folders

_SUBAGENT_ID: Final = re.compile(r"[A-Za-z0-9_@+.-]{1,100}")


@dataclass(slots=True, frozen=True)
class SubagentFile:
    """A transcript of a subagent in a file of its own."""

    subagent_id: str
    path: Path
    size: int
    mtime: float
    layout: str
    """"subagents" (2.1.9 and later) or "beside" (2.0.28 - 2.1.8)."""
    meta_path: Path | None = None
    workflow: str | None = None


@dataclass(slots=True)
class SessionFile:
    """A main transcript and the files that belong to it."""

    session_id: str
    path: Path
    home: Home
    folder: str
    size: int
    mtime: float
    subagents: list[SubagentFile] = field(default_factory=list)
    client_lists: bool = True
    """False if Claude Code does not find the session by its name (not a UUID in lower case)."""
    problem: str | None = None
    source: Callable[[], BinaryIO] | None = None
    """Opens the session's bytes if they are no longer at its path: a session that only the vault has."""
    ctime_ns: int = 0
    """When the file last changed, even by writes that restore its mtime, as those of titles do; 0 if unknown."""
    is_gone: bool = False
    """Whether there is no file at the path: only subagents of the session are left."""

    @property
    def is_kept(self) -> bool:
        """Whether the home has lost the session and the vault has it."""
        return self.source is not None

    @property
    def session_folder(self) -> Path:
        return self.path.with_suffix("")


@dataclass(slots=True)
class Skipped:
    """A file that is not part of any session, and why."""

    path: Path
    why: str


@dataclass(slots=True)
class Scan:
    sessions: list[SessionFile] = field(default_factory=list)
    beside: list[tuple[str, SubagentFile]] = field(default_factory=list)
    """(folder, file) of subagents that lie beside sessions: only their lines name their session."""
    orphans: dict[tuple[str, str], SessionFile] = field(default_factory=dict)
    """Sessions by (folder, id) whose main transcript is gone while subagents are left."""
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def orphan_subagents(self) -> list[SubagentFile]:
        """Subagent transcripts whose session has no main transcript."""
        return [subagent for file in self.orphans.values() for subagent in file.subagents]

    def note_orphan(self, home: Home, folder: str, session_id: str, subagent: SubagentFile) -> None:
        """Record a subagent whose session has no main transcript."""
        path = home.projects / folder / f"{session_id}.jsonl"
        file = self.orphans.setdefault(
            (folder, session_id),
            SessionFile(
                session_id, path, home, folder, 0, 0.0, client_lists=False, is_gone=True,
                problem="its main transcript is gone; only subagents are left",
            ),
        )  # fmt: skip
        file.subagents.append(subagent)
        file.mtime = max(file.mtime, subagent.mtime)


def check_session_id(session_id: object) -> None:
    """Raise Refused if this is not a session id."""
    if not is_session_id(session_id):
        raise Refused(f"{session_id!r} is no session id (a UUID in lower case)", slug="bad-session-id")


def check_subagent_id(subagent_id: object) -> None:
    """Raise Refused if an id cannot be part of the name of a subagent's transcript or to-do list."""
    if not isinstance(subagent_id, str) or not _SUBAGENT_ID.fullmatch(subagent_id) or ".." in subagent_id:
        raise Refused(
            f"{subagent_id!r} is no subagent id (letters, digits and @ . + - _, at most 100 of them)",
            slug="bad-subagent-id",
        )


def refuse_taken_id(home: Home, session_id: str, *, with_folder: bool = False) -> None:
    """Raise Refused if this is not a session id, or if a project of the home already has a session with it.

    With `with_folder`, a session's own folder without a transcript counts too.
    """
    check_session_id(session_id)
    for folder in list_inside(home, home.projects):
        if os.path.lexists(folder / f"{session_id}.jsonl") or (with_folder and os.path.lexists(folder / session_id)):
            raise Refused(
                f"session {session_id} is there already, in {folder}",
                slug="exists",
                hint="leave the id out for a new one",
            )


def scan_home(home: Home) -> Scan:
    """Find all sessions of a home. Never raises: what cannot be read is in `skipped`."""
    scan = Scan()

    def note(path: str, why: str) -> None:
        scan.skipped.append(Skipped(Path(path), why))

    sessions: dict[str, SessionFile] = {}
    for folder in transcript_folders(home, session_folders=False, note=note):
        match len(folder.parts):
            case 0:
                scan.skipped += [
                    Skipped(Path(entry.path), "a file where project folders stand") for entry in folder.files
                ]
            case 1:
                sessions = _sessions_in(home, folder, scan)
                scan.sessions.extend(sessions.values())
            case 3 | 5:
                session_id = to_text(folder.parts[1])
                for subagent in _subagents_in(folder, scan):
                    if session_id in sessions:
                        sessions[session_id].subagents.append(subagent)
                    else:
                        scan.note_orphan(home, folder.parts[0], session_id, subagent)
    return scan


def _sessions_in(home: Home, folder: Folder, scan: Scan) -> dict[str, SessionFile]:
    """Return the sessions of a project folder by id; subagents that lie beside them go into the scan."""
    sessions: dict[str, SessionFile] = {}
    name = folder.parts[0]
    for entry in folder.files:
        if not entry.name.endswith(".jsonl"):
            if entry.name.lower().endswith(".jsonl"):
                scan.skipped.append(Skipped(Path(entry.path), "not named .jsonl in lower case: no client reads it"))
            continue
        info = _info(entry, scan)
        if info is None:
            continue
        path = Path(entry.path)
        subagent_id = subagent_id_of(entry.name)
        if subagent_id is not None:
            beside = SubagentFile(to_text(subagent_id), path, info.st_size, info.st_mtime, "beside")
            scan.beside.append((name, beside))
            continue
        session_id = to_text(entry.name.removesuffix(".jsonl"))
        sessions[session_id] = SessionFile(
            session_id, path, home, name, info.st_size, info.st_mtime, ctime_ns=info.st_ctime_ns,
            client_lists=is_session_id(session_id),
        )  # fmt: skip
    return sessions


def _subagents_in(folder: Folder, scan: Scan) -> Iterator[SubagentFile]:
    """Yield the transcripts in a folder of subagents."""
    names = {entry.name for entry in folder.files}
    workflow = to_text(folder.parts[4]) if len(folder.parts) == 5 else None
    for entry in folder.files:
        subagent_id = subagent_id_of(entry.name) if is_subagent_name(entry.name) else None
        info = None if subagent_id is None else _info(entry, scan)
        if subagent_id is None or info is None:
            continue
        path = Path(entry.path)
        meta = meta_of(path)
        yield SubagentFile(
            to_text(subagent_id), path, info.st_size, info.st_mtime, "subagents",
            meta if meta.name in names else None, workflow,
        )  # fmt: skip


def _info(entry: os.DirEntry[str], scan: Scan) -> os.stat_result | None:
    """Return size and times of a transcript; None for what cannot be a transcript, which goes into `skipped`."""
    try:
        if entry.is_file():
            return entry.stat()
        why = "not a regular file"
    except OSError as problem:
        why = problem.strerror or "cannot be read"
    scan.skipped.append(Skipped(Path(entry.path), why))
    return None
