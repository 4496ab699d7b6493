"""Walk the folders of a home that may hold transcripts: the one walk that scan, index and watch share.

Only names are read; no file is opened. Links are followed as everywhere (`paths.why_left_out`).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Container, Iterator
from typing import NamedTuple

from .home import Home
from .layout import SUBAGENTS, holds_transcripts
from .links import parts_below
from .paths import is_inside, why_left_out

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
