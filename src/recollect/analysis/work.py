"""Measure what came of the work: lines changed, commits and pull requests, each with its cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..format.entries import decode_loosely
from ..format.times import to_iso
from .api_calls import ApiCall, project_path
from .prices.book import PriceBook
from .tools import calls_made

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue
    from ..index.catalogue.reading_back import EntryReader


def lines_changed(catalogue: Catalogue, found: Iterable[ApiCall], book: PriceBook) -> list[dict[str, Any]]:
    """Return by project the lines and files changed by the tools that these responses called, and the cost per line."""
    projects: dict[str, dict[str, Any]] = {}
    found = list(found)
    for item in found:
        cost = item.cost(book)
        name = _project(item)
        row = projects.setdefault(
            name,
            {
                "project": name, "files": set(), "added": 0, "removed": 0, "cost_micro_usd": 0, "unpriced_calls": 0,
                "lower_bound_calls": 0,
            },
        )  # fmt: skip
        row["cost_micro_usd"] += cost or 0
        row["unpriced_calls"] += cost is None
        row["lower_bound_calls"] += item.lower_bound
    changes = calls_made(
        catalogue, found, "c.path, c.lines_added, c.lines_removed", once="t.tool_use_id || char(10) || c.path",
        source="file_changes c JOIN tool_calls t ON t.file_id = c.file_id AND t.tool_use_id = c.tool_use_id",
    )  # fmt: skip
    for item, (path, added, removed) in changes:
        known = projects[_project(item)]
        known["files"].add(path)
        known["added"] += added or 0
        known["removed"] += removed or 0
    rows = []
    for row in projects.values():
        row["files"] = len(row["files"])
        lines = row["added"] + row["removed"]
        row["micro_usd_per_line"] = row["cost_micro_usd"] // lines if lines else None
        rows.append(row)
    return sorted(rows, key=lambda row: -row["cost_micro_usd"])


def _project(item: ApiCall) -> str:
    return project_path(item.cwd) or "(no project)"


def commits(catalogue: Catalogue, found: Iterable[ApiCall], book: PriceBook) -> list[dict[str, Any]]:
    """Return the commits made in the shell by these responses, each with its session's cost since the commit before."""
    sessions: dict[tuple[str, str], list[tuple[ApiCall, int | None]]] = {}
    found = list(found)
    for item in found:
        if item.session_id is not None and item.time is not None:
            sessions.setdefault((item.home, item.session_id), []).append((item, item.cost(book)))
    made = calls_made(
        catalogue, found, "t.started, t.target",
        where="t.commits AND t.is_error IS NOT 1 AND t.started IS NOT NULL",
    )  # fmt: skip
    rows = []
    since: dict[tuple[str, str], int] = {}
    for moment, target, maker in sorted(
        ((moment, target, item) for item, (moment, target) in made),
        key=lambda commit: (commit[0], commit[2].home, commit[2].session_id or "", commit[1] or ""),
    ):
        home, session = maker.home, maker.session_id or ""
        if (home, session) not in sessions:
            continue
        low = since.get((home, session), -(1 << 62))
        part = [(item, cost) for item, cost in sessions[home, session] if low < (item.time or 0) <= moment]
        since[home, session] = moment
        rows.append(
            {
                "time": to_iso(moment / 1e6), "session_id": session, "command": target, "calls": len(part),
                "branch": maker.git_branch, "cost_micro_usd": sum(cost or 0 for _, cost in part),
                "unpriced_calls": sum(cost is None for _, cost in part),
                "lower_bound_calls": sum(item.lower_bound for item, _ in part),
            }
        )  # fmt: skip
    return rows


def pull_requests(
    catalogue: Catalogue, reader: EntryReader, found: Iterable[ApiCall], book: PriceBook
) -> list[dict[str, Any]]:
    """Return the pull requests that sessions are linked to, each with what its sessions spent on it.

    A link gets what its session spent since the link before. What follows the last link goes to that one too, since the
    work on a pull request does not end when it is opened: so the parts of a session add up to its cost.
    """
    links = _links(catalogue, reader)
    by_url: dict[str, dict[str, Any]] = {}
    for item in found:
        of_session = links.get((item.home, item.session_id or ""))
        if of_session:
            url = next((link.url for link in of_session if link.is_behind(item)), of_session[-1].url)
            cost = item.cost(book)
            row = by_url.setdefault(
                url,
                {
                    "pr_url": url, "sessions": set(), "calls": 0, "cost_micro_usd": 0, "unpriced_calls": 0,
                    "lower_bound_calls": 0,
                },
            )  # fmt: skip
            row["unpriced_calls"] += cost is None
            row["lower_bound_calls"] += item.lower_bound
            row["sessions"].add(item.session_id)
            row["calls"] += 1
            row["cost_micro_usd"] += cost or 0
    for row in by_url.values():
        row["sessions"] = sorted(row["sessions"])
    return sorted(by_url.values(), key=lambda row: -row["cost_micro_usd"])


class _Link(NamedTuple):
    """A `pr-link` line. If it has no time of its own, it gets the time of the row before it."""

    file_id: int
    line: int
    time: int | None
    url: str

    def is_behind(self, item: ApiCall) -> bool:
        """Return whether a call was made before the link: by its line in the same file, else by its time."""
        if item.file_id == self.file_id:
            return item.line < self.line
        return self.time is not None and item.time is not None and item.time <= self.time


def _links(catalogue: Catalogue, reader: EntryReader) -> dict[tuple[str, str], list[_Link]]:
    """Return the links of each session, by home and session, in the order of their file."""
    found: dict[tuple[str, str], list[_Link]] = {}
    rows = catalogue.connection.execute(
        "SELECT h.path, f.session_id, e.file_id, e.line, coalesce(e.time, (SELECT max(b.time) FROM entries b "
        "WHERE b.file_id = e.file_id AND b.line < e.line)), e.offset, e.length FROM entries e "
        "JOIN files f ON f.id = e.file_id JOIN homes h ON h.id = f.home_id "
        "WHERE e.type = 'pr-link' AND f.kind = 'session' ORDER BY f.path, e.line, e.part"
    )
    for home, session, file_id, line, time, offset, length in rows:
        value = decode_loosely(reader.bytes_at(file_id, offset, length))
        url = value.get("prUrl") if isinstance(value, dict) else None
        if isinstance(url, str) and url:
            found.setdefault((home, session), []).append(_Link(file_id, line, time, url))
    return found
