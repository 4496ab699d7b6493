"""`recollect list`: sessions, newest first.

JSON: rows of {session_id, path, home, project, worktree_of, title, title_source, first_prompt, last_prompt, created, modified,
last_activity, lines, messages, agents, bytes, git_branch, version, running, tag, pr_url, client_lists, kept, problem}, with
total and bytes. `kept` is true where the home has lost the session and the vault has it. `lines` and `messages` are null where
the file was not read as a whole (see --count).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from ...format.times import to_iso
from ...library.library import Library
from ...store.summary import SessionSummary, one_line
from ..face import Column, Face, command
from ..moments import SINCE, UNTIL, local
from ..words import number, size


@command(
    "list",
    epilog="recollect list --project myapp --since 7d\nrecollect list --sort bytes --limit 10\nrecollect list --running --json",
)
@click.option("--project", metavar="P", help="Only this project: a path, the last part of one, or a folder's name.")
@click.option("--since", type=SINCE, help="Changed since: 2026-03-02, 7d, yesterday.")
@click.option("--until", type=UNTIL, help="Begun until.")
@click.option("--branch", metavar="B", help="Only sessions on this git branch.")
@click.option("--running", is_flag=True, help="Only sessions that a client has open now.")
@click.option(
    "--sort",
    default="modified",
    show_default=True,
    type=click.Choice(["modified", "created", "bytes", "lines", "messages", "agents", "title", "project"]),
    help="What to order by: numbers and times largest first, names from A to Z.",
)
@click.option("--limit", type=click.IntRange(min=0), help="At most so many rows.")
@click.option("--kept/--no-kept", default=None, help="Only what the vault alone has; or without that. Default: all.")
@click.option("--separate", is_flag=True, help="Do not count worktrees to their repository.")
@click.option(
    "--count/--no-count", default=None, help="Read whole files for exact lines and messages. Default: while quick."
)
def list(
    face: Face,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    branch: str | None,
    running: bool,
    sort: str,
    limit: int | None,
    kept: bool | None,
    separate: bool,
    count: bool | None,
) -> None:
    """Sessions, newest first. Reads only the first and last part of each file."""
    library = face.library
    found = library.sessions(
        project=project,
        since=since.timestamp() if since else None,
        until=until.timestamp() if until else None,
        branch=branch,
        running=True if running else None,
        separate_worktrees=separate,
        count=count,
        sort=sort,
        kept=kept,
    )
    shown = found if limit is None else found[:limit]
    face.rows(
        (session_row(item, library) for item in shown),
        (
            Column("session_id", "session", lambda text: text[:8] if len(text) == 36 else text),
            Column("modified", "changed", local),
            Column("bytes", "size", size, right=True, spare=True),
            Column("messages", "msgs", number, right=True),
            Column("agents", "agents", lambda value: number(value) if value else "", right=True, spare=True),
            Column("git_branch", "branch", spare=True),
            Column("project", "project", _tail),
            Column("shown", "title", stretch=True),
        ),
        empty="no sessions" if not any((project, since, until, branch, running, kept)) else "no session fits",
        total=len(found),
        bytes=sum(item.file.size for item in found),
    )
    if not found:
        raise click.exceptions.Exit(1)


def session_row(item: SessionSummary, library: Library) -> dict[str, Any]:
    """A session as the row that lists show."""
    running = library.running.get(item.session_id)
    row = {
        "session_id": item.session_id,
        "path": str(item.file.path),
        "home": str(item.file.home.root),
        "project": item.project,
        "worktree_of": item.worktree_of,
        "title": one_line(item.title),
        "title_source": item.title_source,
        "first_prompt": item.first_prompt,
        "last_prompt": item.last_prompt,
        "created": to_iso(item.created),
        "modified": to_iso(item.file.mtime),
        "last_activity": to_iso(item.last_activity),
        "lines": item.lines,
        "messages": item.messages,
        "agents": item.agents,
        "bytes": item.file.size,
        "git_branch": item.git_branch or None,
        "version": item.version,
        "running": running is not None,
        "tag": item.tag,
        "pr_url": item.pr_url,
        "client_lists": item.file.client_lists and not item.sidechain_only,
        "kept": item.file.is_kept,
        "problem": item.problem or ("empty file" if item.is_empty else None),
    }
    mark = "● " if running is not None else "(kept) " if item.file.is_kept else ""
    note = f"({row['problem']}) " if row["problem"] else ""
    tag = f"[{one_line(item.tag, 40)}] " if item.tag else ""
    row["shown"] = f"{mark}{note}{tag}{one_line(item.title, 120) or '(no title)'}"
    return row


def _tail(path: str) -> str:
    """The last two parts of a path: enough to know a project by."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else path
