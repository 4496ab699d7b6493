"""`recollect restore`: sessions back from the vault, byte for byte, with their times.

JSON: {files, sessions, bytes, same, left: [{path, why}], damaged: [{path, why}], notes, change, dry_run, steps}.
"""

from __future__ import annotations

from datetime import datetime

import click

from ...errors import DamagedData
from ...export.formatting import plural
from ..changing import NO_EFFECT, carry_out, changing_options
from ..command_run import CommandRun, command, complete_session, library_of_vault
from ..option_types import UNTIL


@command(
    "restore",
    epilog="recollect restore 3f2a\nrecollect restore --project myapp --at 2026-03-02\n"
    "recollect restore --all --to ~/restored-claude",
)
@click.argument("sessions", nargs=-1, metavar="SESSION...", shell_complete=complete_session)
@click.option(
    "--project",
    metavar="P",
    help="All kept sessions of a project: its path, the end of it, or a folder above; any case.",
)
@click.option("--all", "everything", is_flag=True, help="Everything that is kept.")
@click.option("--to", metavar="DIR", help="Into another home, which may not exist yet.")
@click.option("--at", type=UNTIL, metavar="DATE", help="As it was then: 2026-03-02, 7d, yesterday.")
@click.option(
    "--renew", is_flag=True, help="With the time of now, so that Claude Code does not delete it again at once."
)
@click.option("--partly", is_flag=True, help="Of a damaged transcript, the lines that can still be read.")
@changing_options(NO_EFFECT)
def restore(
    run: CommandRun,
    sessions: tuple[str, ...],
    project: str | None,
    everything: bool,
    to: str | None,
    at: datetime | None,
    renew: bool,
    partly: bool,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Put SESSIONs back into their home: transcript, subagents, long outputs, file history, tasks, plan.

    What stands there and is newer stays. A file with a damaged block is named and left out; the rest is restored.
    """
    if (bool(sessions) + (project is not None) + everything) != 1:
        raise click.UsageError("SESSION..., or --project P, or --all")
    run.may_change = True
    with library_of_vault(run).restore(
        *sessions, project=project, everything=everything, at=at, to=to, renew=renew, partly=partly
    ) as plan:
        result = plan.result
        if plan.steps:
            carry_out(run, plan, dry_run=dry_run, yes=yes)
        elif run.is_text:
            run.print(plan.said)
        else:
            run.value({**result, "change": None, "dry_run": dry_run, "steps": []})
    if run.is_text:
        for item in result["left"][:20]:
            run.say(f"left as it is: {item['path']}: {item['why']}")
        for note in plan.notes:
            run.say(f"note: {note}")
    if result["damaged"]:
        for item in result["damaged"]:
            why = item["why"].removeprefix(f"{item['path']}, ")  # the vault's message names the file as well
            run.say(f"damaged: {item['path']}: {why}")
        raise DamagedData(
            f"{plural(len(result['damaged']), 'file')} could not be restored", slug="vault-damaged",
            hint="--partly brings back the lines that can still be read; --at an earlier state",
        )  # fmt: skip
