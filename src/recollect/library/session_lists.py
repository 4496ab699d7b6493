"""Choose and order the sessions of a list."""

from __future__ import annotations

from collections.abc import Callable

from ..store.summary import SessionSummary
from .project_paths import ProjectFilter


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
        "created": lambda item: item.created or 0.0,
        "bytes": lambda item: item.file.size,
        "lines": lambda item: item.lines or 0,
        "messages": lambda item: item.messages or 0,
        "subagents": lambda item: item.subagents,
    }
    return sorted(sessions, key=keys[by], reverse=True)
