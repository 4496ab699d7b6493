"""Where transcripts stand below `projects/`, and what is there now by names and sizes: the start of a watch opens no file."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from ..format.path_text import to_text
from ..store.home import Home
from ..store.links import parts_below as parts_below
from ..store.paths import is_inside, why_left_out
from ..store.scan import is_session_id

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
    """What a file is by the parts of its path below `projects/`; None for what is no transcript of the client."""
    name = parts[-1] if parts else ""
    if not name.endswith(".jsonl"):
        return None
    stem = name.removesuffix(".jsonl")
    subagent = to_text(stem.removeprefix("agent-")) if stem.startswith("agent-") else None
    if len(parts) == 2:
        if subagent:
            return Place(None, subagent)
        return Place(stem) if is_session_id(stem) else None
    if len(parts) < 4 or not subagent or parts[2] != "subagents":
        return None
    if len(parts) == 4:
        return Place(to_text(parts[1]), subagent)
    if len(parts) == 6 and parts[3] == "workflows":
        return Place(to_text(parts[1]), subagent, to_text(parts[4]))
    return None


def holds_transcripts(parts: Sequence[str]) -> bool:
    """Whether a folder below `projects/` may hold transcripts, or folders that do."""
    if len(parts) > _DEEPEST:
        return False
    return (len(parts) < 3 or parts[2] == "subagents") and (len(parts) < 4 or parts[3] == "workflows")


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
