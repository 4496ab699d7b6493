"""`recollect rewind`: set where the conversation ends.

JSON: {session_id, leaf, was, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ...store.edit import plan_rewind
from ..changing import carry_out, changing_options, session_to_change
from ..face import Face, command, session_argument


@command("rewind", epilog="recollect rewind last 8c1f\nrecollect rewind 3f2a 8c1f --dry-run")
@session_argument
@click.argument("message")
@changing_options()
def rewind(face: Face, session: str, message: str, dry_run: bool, yes: bool, force: bool) -> None:
    """Let SESSION go on from MESSAGE (a uuid or the start of one) at the next resume.

    Nothing is deleted: what came after stays as a branch. Clients before 2.1.70 do not know checkpoints; fork for those.
    """
    found = session_to_change(face, session)
    change, leaf = plan_rewind(face.journal, found.file, message, force=force)
    with change:
        result = {"session_id": found.id, "leaf": leaf, "was": found.thread.leaf}
        carry_out(face, change, result, dry_run=dry_run, yes=yes, said=f"{found.id} now goes on from {leaf}")
        if not dry_run:
            face.say(
                "clients before 2.1.70 (2.0.77, for example) ignore a rewind; `recollect fork --at` serves those, too"
            )
