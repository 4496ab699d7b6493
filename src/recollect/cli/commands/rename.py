"""`recollect rename`: give a session a title.

JSON: {session_id, title, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options
from ..command_run import CommandRun, command, session_argument


@command("rename", epilog='recollect rename last "Cache the tide tables"\nrecollect rename 3f2a "New name" --dry-run')
@session_argument
@click.argument("title")
@changing_options()
def rename(run: CommandRun, session: str, title: str, dry_run: bool, yes: bool, force: bool) -> None:
    """Give SESSION a TITLE that Claude Code shows too. The file keeps its time, so --continue picks what it picked before."""
    with run.changes.rename(session, title, force=force) as plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)
