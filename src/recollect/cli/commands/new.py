"""`recollect new`: begin an empty session, to which messages are appended.

JSON: {session_id, path, project, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import NO_EFFECT, carry_out, changing_options, refuse_empty_path
from ..command_run import CommandRun, command


@command(
    "new",
    epilog='recollect new --project . --title "Notes"\nrecollect new --project ~/app --id "$(uuidgen | tr A-Z a-z)"',
)
@click.option(
    "--project", required=True, metavar="DIR", help="The working directory in which Claude Code will resume it."
)
@click.option("--title", metavar="T", help="The title that lists show.")
@click.option("--id", "session_id", metavar="UUID", help="The session's id; made up where not given.")
@changing_options(NO_EFFECT)
def new(
    run: CommandRun, project: str, title: str | None, session_id: str | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Begin an empty session in DIR and print its id.

    Claude Code resumes it once it has a message: `recollect append` adds one.
    """
    refuse_empty_path(project)
    with run.changes.new(project, title=title, session_id=session_id) as plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)
    if run.is_text and not dry_run:
        for note in plan.notes:
            run.say(note)
