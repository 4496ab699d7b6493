"""`recollect archive`: mark a session as put away, by its tag and (if given) its title.

JSON: {session_id, tag, title, change, dry_run, steps}. `tag` is the one that it has afterwards.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options
from ..command_run import CommandRun, command, session_argument


@command(
    "archive",
    epilog='recollect archive 3f2a\nrecollect archive 3f2a --title "Tide tables (done)"\nrecollect archive 3f2a --back',
)
@session_argument
@click.option("--title", metavar="T", help="A last title to remember it by.")
@click.option("--back", is_flag=True, help="Take it out of the archive again; the tag it had before is its tag again.")
@changing_options()
def archive(
    run: CommandRun, session: str, title: str | None, back: bool, dry_run: bool, yes: bool, force: bool
) -> None:
    """Mark SESSION as archived: by a tag, which `recollect list` and Claude Code show, in the place of the one it has."""
    verb = run.changes.unarchive if back else run.changes.archive
    with verb(session, title=title, force=force) as plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)
