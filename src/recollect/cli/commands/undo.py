"""`recollect undo`: take a change back, byte for byte.

JSON: {number, title, home, undone, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..command_run import CommandRun, command


@command("undo", epilog="recollect undo\nrecollect undo 12 --dry-run\nrecollect --home ./copied-claude undo")
@click.argument("number", type=int, required=False)
@click.option("--dry-run", "-n", is_flag=True, help="Say what would be undone, or why it cannot be.")
@click.option("--yes", "-y", is_flag=True, expose_value=False, help="For scripts, as elsewhere: undoing never asks.")
def undo(run: CommandRun, number: int | None, dry_run: bool) -> None:
    """Undo change NUMBER, or the newest one of the home: contents and times are as before.

    Pruned sessions come back from the vault.

    Refused where somebody wrote since, and while somebody else wrote to the file within the last minute.
    """
    plan = run.changes.undo(number)
    done = None
    if dry_run:
        plan.check()
    else:
        done = plan.commit()
    if not run.is_text:
        run.value(plan.as_dict(done))
        return
    run.print(f"would undo: {plan.result['number']} {plan.title}" if dry_run else plan.said)
    for step in plan.steps if dry_run else ():
        run.print(f"  {step}")
