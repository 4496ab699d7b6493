"""What came of it: lines changed, commits and pull requests, each with what it cost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ..format.times import to_iso
from .cost import cost_of
from .prices.book import PriceBook
from .responses import Response, project_path

if TYPE_CHECKING:
    from ..index.catalogue import Catalogue

_COMMIT: Final = re.compile(r"\bgit\s+(?:-\S+\s+(?:\S+\s+)?)*commit\b")


def _costs(found: Iterable[Response], book: PriceBook) -> list[tuple[Response, int]]:
    told = []
    for item in found:
        cost, _ = cost_of(book, item.model, item.time, item.counts, item.speed, item.service_tier, item.geo)
        told.append((item, cost or 0))
    return told


def lines_changed(catalogue: Catalogue, found: Iterable[Response], book: PriceBook) -> list[dict[str, Any]]:
    """By project: lines added and removed by tools, files, and what a changed line cost."""
    projects: dict[str, dict[str, Any]] = {}
    of_session: dict[str, str] = {}
    for item, cost in _costs(found, book):
        name = project_path(item.cwd) or "(no project)"
        of_session.setdefault(item.session_id or "", name)
        row = projects.setdefault(
            name, {"project": name, "files": set(), "added": 0, "removed": 0, "cost_micro_usd": 0}
        )
        row["cost_micro_usd"] += cost
    rows = catalogue.connection.execute(
        "SELECT f.session_id, c.path, min(c.lines_added), min(c.lines_removed), c.tool_use_id FROM file_changes c "
        "JOIN files f ON f.id = c.file_id GROUP BY coalesce(c.tool_use_id, c.entry_id), c.path"
    )
    for session, path, added, removed, _ in rows:
        known = projects.get(of_session.get(session, ""))
        if known is not None:
            known["files"].add(path)
            known["added"] += added or 0
            known["removed"] += removed or 0
    told = []
    for row in projects.values():
        row["files"] = len(row["files"])
        lines = row["added"] + row["removed"]
        row["micro_usd_per_line"] = row["cost_micro_usd"] // lines if lines else None
        told.append(row)
    return sorted(told, key=lambda row: -row["cost_micro_usd"])


def commits(catalogue: Catalogue, found: Iterable[Response], book: PriceBook) -> list[dict[str, Any]]:
    """Commits made through the shell, each with what its session had cost since the commit before."""
    sessions: dict[str, list[tuple[Response, int]]] = {}
    for item, cost in _costs(found, book):
        if item.session_id is not None and item.time is not None:
            sessions.setdefault(item.session_id, []).append((item, cost))
    rows = catalogue.connection.execute(
        "SELECT f.session_id, t.started, min(t.target) FROM tool_calls t JOIN files f ON f.id = t.file_id "
        "WHERE t.name = 'Bash' AND t.target LIKE '%commit%' AND t.is_error IS NOT 1 AND t.started IS NOT NULL "
        "GROUP BY t.tool_use_id ORDER BY t.started"
    )
    told = []
    since: dict[str, int] = {}
    for session, moment, target in rows:
        if session not in sessions or _COMMIT.search(target or "") is None:
            continue
        low = since.get(session, -(1 << 62))
        part = [(item, cost) for item, cost in sessions[session] if low < (item.time or 0) <= moment]
        since[session] = moment
        told.append(
            {
                "time": to_iso(moment / 1e6), "session_id": session, "command": target, "calls": len(part),
                "branch": part[-1][0].git_branch if part else None, "cost_micro_usd": sum(cost for _, cost in part),
            }
        )  # fmt: skip
    return told


def pull_requests(catalogue: Catalogue, found: Iterable[Response], book: PriceBook) -> list[dict[str, Any]]:
    """Pull requests that sessions are linked to, with the cost of those sessions."""
    urls: dict[str, str] = dict(
        catalogue.connection.execute("SELECT session_id, pr_url FROM sessions WHERE pr_url IS NOT NULL")
    )
    told: dict[str, dict[str, Any]] = {}
    for item, cost in _costs(found, book):
        url = urls.get(item.session_id or "")
        if url is not None:
            row = told.setdefault(url, {"pr_url": url, "sessions": set(), "calls": 0, "cost_micro_usd": 0})
            row["sessions"].add(item.session_id)
            row["calls"] += 1
            row["cost_micro_usd"] += cost
    for row in told.values():
        row["sessions"] = sorted(row["sessions"])
    return sorted(told.values(), key=lambda row: -row["cost_micro_usd"])
