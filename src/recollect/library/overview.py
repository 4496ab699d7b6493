"""Report the main facts of the homes: projects, running sessions, what will be deleted soon, damage."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..errors import RecollectError
from ..export.formatting import iso
from ..format.blocks import one_line
from ..format.line import HARMLESS, Damage
from ..format.times import to_iso
from ..store.config_files import cleanup_days
from ..store.read import stream_entries
from ..store.summary import SessionSummary
from ..vault.retention import SOON_DAYS as SOON_DAYS
from .session_lists import COUNT_BUDGET

if TYPE_CHECKING:
    from .library import Library


def overview(library: Library, *, now: float | None = None) -> dict[str, Any]:
    """Report the main facts as plain data: the object that `recollect overview --json` prints."""
    now = time.time() if now is None else now
    summaries = library.sessions(count=False)
    projects = {item.worktree_of or item.project or item.file.folder for item in summaries}
    days = {home.root: cleanup_days(home) for home in library.homes}
    expiring = []
    for item in summaries:
        deadline = item.file.mtime + days[item.file.home.root] * 86400
        if deadline < now + SOON_DAYS * 86400 and item.session_id not in library.running:
            expiring.append((deadline, item))
    expiring.sort(key=lambda pair: pair[0])
    not_kept = library.vault.not_kept([item.file for _, item in expiring], now=now)
    return {
        "homes": [
            {
                "root": str(home.root),
                "sessions": sum(1 for item in summaries if item.file.home is home),
                "bytes": sum(_bytes(item) for item in summaries if item.file.home is home),
                "cleanup_days": days[home.root],
            }
            for home in library.homes
        ],
        "projects": len(projects),
        "sessions": len(summaries),
        "subagents": sum(len(item.file.subagents) for item in summaries),
        "bytes": sum(_bytes(item) for item in summaries),
        "first": iso(min((item.created for item in summaries if item.created), default=None)),
        "last": iso(max((item.last_activity for item in summaries if item.last_activity), default=None)),
        "running": [
            {"session_id": key, "pid": item.pid, "status": item.status, "cwd": item.cwd}
            for key, item in library.running.items()
        ],
        "expiring": [
            {
                "session_id": item.session_id,
                "title": one_line(item.title),
                "project": item.project,
                "expires": to_iso(deadline),
                "kept": str(item.file.path) not in not_kept,
            }
            for deadline, item in expiring
        ],
        "expiring_not_kept": len(not_kept),
        "left_out": [{"path": str(item.path), "why": item.why} for item in library.left_out()],
        "orphans": len(library.orphans()),
        "vault_problem": library.vault.problem(),
        "other_machine": library.vault.other_machine(),
        "damage": _damage(summaries),
        "unreadable": [
            {"session_id": item.session_id, "path": str(item.file.path), "problem": item.problem or "empty file"}
            for item in summaries
            if item.problem or item.is_empty
        ],
        "recent": [
            {"session_id": item.session_id, "title": one_line(item.title), "project": item.project,
             "modified": to_iso(item.file.mtime), "bytes": item.file.size}
            for item in summaries[:5]
        ],
    }  # fmt: skip


def _bytes(item: SessionSummary) -> int:
    return item.file.size + sum(subagent.size for subagent in item.file.subagents)


def _damage(summaries: list[SessionSummary]) -> dict[str, Any]:
    """Count damaged lines by reading all files while that is quick; otherwise only files that cannot be read at all count."""
    complete = sum(item.file.size for item in summaries) <= COUNT_BUDGET
    sessions = lines = 0
    for item in summaries:
        found: list[Damage] = []
        if complete and not item.problem:
            try:
                for _ in stream_entries(item.file.path, item.file.home, found):
                    pass
            except (RecollectError, OSError):
                continue
        bad = {damage.line for damage in found if damage.kind not in HARMLESS}
        sessions += bool(bad or item.problem)
        lines += len(bad)
    return {"sessions": sessions, "lines": lines, "complete": complete}
