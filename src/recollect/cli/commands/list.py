"""`recollect list`: sessions, newest first.

JSON: rows of {session_id, path, home, project, worktree_of, title, title_source, first_prompt, last_prompt, created, modified,
last_activity, lines, messages, subagents, subagent_ids, bytes, git_branch, version, running, tag, pr_url, client_lists, kept,
problem}, with total, bytes and left_out (list of {path, why}). `kept` is true where the home has lost the session and the vault
has it. `lines` and `messages` are null where the store is large and neither the index has counted this file as it is now nor
--count asked for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from ...export.formatting import number, one_line, plural, size, tail, title_line
from ...export.moments import local
from ...library.library import Library, SessionSummary
from ...library.shapes import plain, session_shape
from ..command_run import Column, CommandRun, command
from ..option_types import SINCE, UNTIL


@command(
    "list",
    epilog="recollect list --project myapp --since 7d\nrecollect list --sort bytes --limit 10\nrecollect list --running --json",
)
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--since", type=SINCE, help="Changed since: 2026-03-02, 7d, yesterday.")
@click.option("--until", type=UNTIL, help="Begun until.")
@click.option("--branch", metavar="B", help="Only sessions on this git branch.")
@click.option("--running", is_flag=True, help="Only sessions that Claude Code has open now.")
@click.option(
    "--sort",
    default="modified",
    show_default=True,
    type=click.Choice(["modified", "created", "bytes", "lines", "messages", "subagents", "title", "project"]),
    help="What to order by: numbers and times largest first, names from A to Z.",
)
@click.option("--limit", type=click.IntRange(min=0), help="At most so many rows.")
@click.option("--kept/--no-kept", default=None, help="Only what the vault alone has; or without that. Default: all.")
@click.option("--separate", is_flag=True, help="Do not count worktrees to their repository.")
@click.option(
    "--count/--no-count",
    default=None,
    help="Read whole files for lines and messages. Default: while quick, else what the index knows.",
)
def list(
    run: CommandRun,
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
    library = run.library
    found = library.sessions(
        project=project,
        since=since,
        until=until,
        branch=branch,
        running=True if running else None,
        separate_worktrees=separate,
        count=count,
        sort=sort,
        kept=kept,
    )
    shown = found if limit is None else found[:limit]
    run.rows(
        (session_row(item, library) for item in shown),
        (
            Column("session_id", "session", lambda text: text[:8] if len(text) == 36 else text),
            Column("modified", "changed", local),
            Column("bytes", "size", size, right=True, spare=True),
            Column("messages", "msgs", number, right=True),
            Column("subagents", "subagents", lambda value: number(value) if value else "", right=True, spare=True),
            Column("git_branch", "branch", spare=True),
            Column("project", "project", tail),
            Column("shown", "title", stretch=True),
        ),
        empty="no sessions" if not any((project, since, until, branch, running, kept)) else "no session fits",
        total=len(found),
        bytes=sum(item.file.size for item in found),
        left_out=[{"path": str(item.path), "why": item.why} for item in library.left_out()],
    )
    say_what_was_left_out(run)
    uncounted = sum(item.messages is None and not item.problem for item in shown)
    if uncounted and count is None and run.is_text:
        run.say(
            f"msgs is empty for {plural(uncounted, 'session')} that the index has not read: "
            "`recollect index` does, and --count reads the files now"
        )
    if not found:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)


def say_what_was_left_out(run: CommandRun) -> None:
    """Report files below `projects/` that are not part of any session, and why, so that no session is missing silently."""
    left = run.library.left_out()
    for item in left[:5]:
        run.say(f"left out {item.path}: {item.why}")
    if len(left) > 5:
        run.say(f"left out {len(left) - 5} more: recollect doctor")


def session_row(item: SessionSummary, library: Library) -> dict[str, Any]:
    """Return a session as a row of a list."""
    running = item.session_id in library.running
    row = plain(session_shape(item, running=running))
    mark = "● " if running else "(kept) " if item.file.is_kept else ""
    note = f"({row['problem']}) " if row["problem"] else ""
    tag = f"[{one_line(item.tag, 40)}] " if item.tag else ""
    row["shown"] = f"{mark}{note}{tag}{title_line(item.title, 120)}"
    return row
