"""Choose, order and count the sessions of a list."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..store.scan import SessionFile
from ..store.summary import SessionSummary, summarise
from .project_paths import ProjectFilter

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import SessionCount


def project_matcher(project: str, separate: bool) -> Callable[[SessionSummary], bool]:
    """Return a test for sessions of a project, however it is named; worktrees count to their repository unless `separate`."""
    wanted = ProjectFilter(project)

    def matches(item: SessionSummary) -> bool:
        if separate and item.worktree_of is not None:  # most worktrees lie below their repository
            return wanted.fits(item.project, folder=item.file.folder, below=False)
        return wanted.fits(item.project, item.worktree_of, folder=item.file.folder)

    return matches


def sort_sessions(sessions: list[SessionSummary], by: str) -> list[SessionSummary]:
    """Sort sessions by modified, created, bytes, messages or subagents (largest first), or by title or project (by name)."""
    if by in ("title", "project"):
        return sorted(sessions, key=lambda item: (getattr(item, by) or "").lower())
    keys = {
        "modified": lambda item: item.file.mtime,
        "created": lambda item: item.created.timestamp() if item.created is not None else 0.0,
        "bytes": lambda item: item.file.size,
        "lines": lambda item: item.lines or 0,
        "messages": lambda item: item.messages or 0,
        "subagents": lambda item: item.subagents,
    }
    return sorted(sessions, key=keys[by], reverse=True)


# Decide for every session of a list where its number of messages comes from: its file, the index, or nowhere yet.

COUNT_BUDGET: Final = 64 << 20
"""A list reads whole files to count their lines and messages only if they are smaller than this in total."""


class MessageCounts:
    """Decides where the counts of one list come from.

    Small stores are read. For larger ones the index has the counts; files that changed since they were indexed are read if
    they are small in total. `count` true reads everything, `count` false counts nothing.
    """

    def __init__(self, files: Collection[SessionFile], index: Path | None, count: bool | None = None) -> None:
        self._known: dict[str, SessionCount] = {}
        self._reads = bool(count)
        if count is not None:
            return
        self._reads = _size(files) <= COUNT_BUDGET
        if not self._reads and index is not None:
            from ..index.catalogue.catalogue import session_counts

            self._known = session_counts(index)
            self._reads = _size([file for file in files if self._from_index(file) is None]) <= COUNT_BUDGET

    def source(self, file: SessionFile) -> str | None:
        """Return where the counts of this session come from: `index`, `file`, or None."""
        if self._from_index(file) is not None:
            return "index"
        return "file" if self._reads else None

    def summarise(self, file: SessionFile) -> SessionSummary:
        """Summarise a session for a list, with its counts as far as they are available."""
        known = self._from_index(file)
        summary = summarise(file, count=known is None and self._reads)
        if known is not None:
            summary.lines, summary.messages = known.lines, known.messages
            if not summary.sidechain_only:
                summary.subagents = max(summary.subagents, known.subagents)
        return summary

    def _from_index(self, file: SessionFile) -> SessionCount | None:
        known = self._known.get(str(file.path)) if file.source is None else None
        return known if known is not None and (known.size, known.ctime_ns) == (file.size, file.ctime_ns) else None


def _size(files: Collection[SessionFile]) -> int:
    return sum(file.size for file in files)
