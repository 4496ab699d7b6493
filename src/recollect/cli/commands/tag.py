"""`recollect tag`: tag a session, or take its tag away.

JSON: {session_id, tag, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options
from ..command_run import CommandRun, command, session_argument


@command("tag", epilog="recollect tag last important\nrecollect tag 3f2a --remove")
@session_argument
@click.argument("text", required=False)
@click.option("--remove", is_flag=True, help="Take the tag away.")
@changing_options()
def tag(run: CommandRun, session: str, text: str | None, remove: bool, dry_run: bool, yes: bool, force: bool) -> None:
    """Tag SESSION with TEXT. A session has one tag; the last one counts."""
    if (text is None) != remove:
        raise click.UsageError("give a TEXT, or --remove")
    with run.changes.tag(session, text, force=force) as plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)
