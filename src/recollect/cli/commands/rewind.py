"""`recollect rewind`: set where the conversation ends.

JSON: {session_id, leaf, was, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options
from ..command_run import CommandRun, command, session_argument


@command("rewind", epilog="recollect rewind last 8c1f\nrecollect rewind 3f2a 8c1f --dry-run")
@session_argument
@click.argument("message")
@changing_options()
def rewind(run: CommandRun, session: str, message: str, dry_run: bool, yes: bool, force: bool) -> None:
    """Let SESSION go on from MESSAGE (#12, line:292, a uuid or the start of one) at the next resume.

    Nothing is deleted: what came after stays as a branch. Versions before 2.1.70 do not know checkpoints; fork for those.
    """
    with run.changes.rewind(session, message, force=force) as plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)
        if not dry_run:
            for note in plan.notes:
                run.say(note)
