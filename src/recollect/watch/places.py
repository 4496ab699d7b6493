"""Tell which transcripts stand below `projects/` by names and sizes: the start of a watch opens no file."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ..format.path_text import to_text
from ..store.home import Home
from ..store.layout import PROJECTS, FileKind, file_at, is_session_id
from ..store.layout import holds_transcripts as holds_transcripts
from ..store.opening import parts_below as parts_below
from ..store.scan import transcript_folders


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


def walk(home: Home, folder: str, known: Container[str] = ()) -> Iterator[FoundFile | FoundFolder]:
    """Find transcripts in and below a folder, and the folders to look at for more.

    Folders below it that are `known` are not entered again.
    """
    for listed in transcript_folders(home, folder, known=known):
        yield FoundFolder(listed.path, listed.mtime_ns)
        for entry in listed.files:
            try:
                if (place := place_of((*listed.parts, entry.name))) is not None and entry.is_file():
                    # Windows tells a file's identity only when it is asked for the file itself.
                    info = os.stat(entry.path) if os.name == "nt" else entry.stat()
                    yield FoundFile(entry.path, place, identity_of(info), info.st_size, info.st_mtime_ns)
            except OSError:
                continue
