"""Where transcripts stand below `projects/`, and what is there now by names and sizes: the start of a watch opens no file."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ..format.path_text import to_text
from ..store.home import Home
from ..store.layout import PROJECTS, SUBAGENTS, WORKFLOWS, FileKind, file_at, is_session_id
from ..store.links import parts_below as parts_below
from ..store.paths import is_inside, why_left_out

_DEEPEST = 5
"""`<project>/<session>/subagents/workflows/<run>`"""


class Place(NamedTuple):
    """Whose transcript a file is. Of subagents beside the sessions (2.0.28 - 2.1.8) only the lines tell the session."""

    session_id: str | None
    subagent_id: str | None = None
    workflow: str | None = None

    @property
    def key(self) -> str:
        """The same for the same transcript, wherever it stands."""
        return f"{self.session_id or ''}/{self.subagent_id or ''}"


class FoundFile(NamedTuple):
    path: str
    place: Place
    identity: int
    size: int
    mtime_ns: int


class FoundFolder(NamedTuple):
    path: str
    mtime_ns: int


def identity_of(info: os.stat_result) -> int:
    """What stays the same when a file is renamed, and differs when another one takes its place; 0 if the system has no such."""
    return info.st_dev << 64 | info.st_ino if info.st_ino else 0


def place_of(parts: Sequence[str]) -> Place | None:
    """Read whose transcript a file is by the parts of its path below `projects/`; None where Claude Code reads none there."""
    file = file_at((PROJECTS, *parts))
    if file.kind is FileKind.TRANSCRIPT:
        return Place(file.session_id) if is_session_id(file.session_id) else None
    if file.kind is not FileKind.SUBAGENT_TRANSCRIPT:
        return None
    session_id, subagent_id, workflow = (None if name is None else to_text(name) for name in file[2:5])
    return Place(session_id, subagent_id, workflow)


def holds_transcripts(parts: Sequence[str]) -> bool:
    """Whether a folder below `projects/` may hold transcripts, or folders that do."""
    if len(parts) > _DEEPEST:
        return False
    return (len(parts) < 3 or parts[2] == SUBAGENTS) and (len(parts) < 4 or parts[3] == WORKFLOWS)


def walk(home: Home, folder: str, known: Container[str] = ()) -> Iterator[FoundFile | FoundFolder]:
    """Transcripts in and below a folder, and the folders to look at for more. What leads out of the home is left out.

    Folders below it that are `known` are not entered again.
    """
    root = str(home.projects)
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        parts = parts_below(root, here)
        if parts is None or not holds_transcripts(parts) or (here in (folder, root) and not is_inside(home, here)):
            continue
        try:
            # Before the listing: what comes meanwhile makes the folder look changed the next time.
            changed = os.stat(here).st_mtime_ns
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            continue
        yield FoundFolder(here, changed)
        for entry in entries:
            try:
                if entry.is_symlink() and why_left_out(home, entry.path) is not None:
                    continue
                if entry.is_dir():
                    if entry.path not in known:
                        waiting.append(entry.path)
                elif (place := place_of((*parts, entry.name))) is not None and entry.is_file():
                    # Windows tells a file's identity only when it is asked for the file itself.
                    info = os.stat(entry.path) if os.name == "nt" else entry.stat()
                    yield FoundFile(entry.path, place, identity_of(info), info.st_size, info.st_mtime_ns)
            except OSError:
                continue
