"""Find the sessions and subagents of a home by names and sizes only; no file is opened.

`transcript_folders` is the one walk that scan, index and watch share. It follows links as everywhere (`home.why_left_out`).
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from ..errors import Refused
from ..format.path_text import to_text
from .home import Home, is_inside, list_inside, why_left_out
from .layout import SUBAGENTS, holds_transcripts, is_session_id, is_subagent_name, meta_of, subagent_id_of
from .opening import parts_below

Note = Callable[[str, str], None]
"""Called with the path of what is left out, and why."""


class Folder(NamedTuple):
    """A folder and its files and folders by name, without the links that are not followed."""

    parts: tuple[str, ...]
    """The parts of its path below `projects/`: none, project, session, `subagents`, `workflows`, run."""
    path: str
    mtime_ns: int
    """As it was before the listing, so that a change during the listing makes the folder look changed the next time."""
    files: list[os.DirEntry[str]]
    folders: list[os.DirEntry[str]]
    has_links: bool


def transcript_folders(
    home: Home,
    first: str | None = None,
    *,
    known: Container[str] = (),
    session_folders: bool = True,
    note: Note | None = None,
) -> Iterator[Folder]:
    """List `projects/`, or the folder `first`, and every folder below that may hold transcripts, parents first.

    Folders that are `known` are not entered. Without `session_folders`, the own folder of a session is not listed, only
    the subagents in it: much faster if most sessions have such a folder and few have subagents.
    """
    root = str(home.projects)
    start = root if first is None else first
    parts = parts_below(root, start)
    if parts is None or not holds_transcripts(parts):
        return
    if os.path.islink(start) and note is not None and (why := why_left_out(home, start)) is not None:
        note(start, why)
    elif is_inside(home, start):
        yield from _Walk(home, known, session_folders, note).below(start, parts)


class _Walk:
    def __init__(self, home: Home, known: Container[str], session_folders: bool, note: Note | None) -> None:
        self._home = home
        self._known = known
        self._session_folders = session_folders
        self._note = note

    def below(self, path: str, parts: tuple[str, ...]) -> Iterator[Folder]:
        folder = self._listed(path, parts)
        if folder is None:
            return
        yield folder
        for entry in folder.folders:
            inner = (*parts, entry.name)
            if entry.path in self._known or not holds_transcripts(inner):
                continue
            if len(inner) == 2 and not self._session_folders:
                yield from self._subagents(os.path.join(entry.path, SUBAGENTS), (*inner, SUBAGENTS))
            else:
                yield from self.below(entry.path, inner)

    def _subagents(self, path: str, parts: tuple[str, ...]) -> Iterator[Folder]:
        if os.path.islink(path) and self._leave_out(path):
            return
        yield from self.below(path, parts)

    def _listed(self, path: str, parts: tuple[str, ...]) -> Folder | None:
        files: list[os.DirEntry[str]] = []
        folders: list[os.DirEntry[str]] = []
        has_links = False
        try:
            mtime_ns = os.stat(path).st_mtime_ns
            with os.scandir(path) as listing:
                for entry in listing:
                    if entry.is_symlink():
                        has_links = True
                        if self._leave_out(entry.path):
                            continue
                    try:
                        (folders if entry.is_dir() else files).append(entry)
                    except OSError as problem:  # a link that leads in a circle
                        self._tell(entry.path, problem)
        except OSError as problem:
            if problem.errno not in (errno.ENOENT, errno.ENOTDIR):
                self._tell(path, problem)
            return None
        files.sort(key=_name)
        folders.sort(key=_name)
        return Folder(parts, path, mtime_ns, files, folders, has_links)

    def _leave_out(self, link: str) -> bool:
        why = why_left_out(self._home, link)
        if why is not None and self._note is not None:
            self._note(link, why)
        return why is not None

    def _tell(self, path: str, problem: OSError) -> None:
        if self._note is not None:
            self._note(path, problem.strerror or "cannot be read")


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


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
    lone_folders: list[Path] = field(default_factory=list)
    """The own folders of sessions that have no main transcript beside them."""

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
        raise Refused(f"{session_id!r} is not a session id (a UUID in lower case)", slug="bad-session-id")


def check_subagent_id(subagent_id: object) -> None:
    """Raise Refused if an id cannot be part of the name of a subagent's transcript or to-do list."""
    if not isinstance(subagent_id, str) or not _SUBAGENT_ID.fullmatch(subagent_id) or ".." in subagent_id:
        raise Refused(
            f"{subagent_id!r} is not a subagent id (letters, digits and @ . + - _, at most 100 of them)",
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
                scan.lone_folders += [
                    Path(entry.path)
                    for entry in folder.folders
                    if is_session_id(entry.name) and entry.name not in sessions
                ]
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
                scan.skipped.append(
                    Skipped(Path(entry.path), "not named .jsonl in lower case: Claude Code does not read it")
                )
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
