"""`recollect todo`: change the to-do list or the tasks of a session (`recollect todos` shows them).

JSON: {session_id, kind (todos or tasks), id, status, warnings, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options
from ..command_run import CommandRun, command, session_argument

STATES = ("pending", "in_progress", "completed")


@command(
    "todo",
    epilog='recollect todo last add "Write the tests"\nrecollect todo last set 2 completed\nrecollect todo 3f2a remove 1',
)
@session_argument
@click.argument("action", type=click.Choice(["add", "set", "remove"]))
@click.argument("what")
@click.argument("status", required=False, type=click.Choice(STATES))
@click.option("--subagent", metavar="ID", help="The list of a subagent (to-do lists only).")
@click.option(
    "--kind", type=click.Choice(["todos", "tasks"]), help="Which of the two; by default as the session has them."
)
@changing_options("Write even if the session is in use.")
def todo(
    run: CommandRun,
    session: str,
    action: str,
    what: str,
    status: str | None,
    subagent: str | None,
    kind: str | None,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Add an item (WHAT is its text), set the state of item number WHAT (see `recollect todos`), or remove it."""
    if (action == "set") != (status is not None):
        raise click.UsageError("`set` needs a STATUS, the others none")
    if subagent is not None and kind == "tasks":
        raise click.UsageError("--subagent is for to-do lists; the tasks of a session belong to all of its subagents")
    with run.changes.todo(session, action, what, status, subagent=subagent, kind=kind, force=force) as plan:
        for warning in plan.notes:
            run.say(f"warning: {warning}")
        carry_out(run, plan, dry_run=dry_run, yes=yes)
