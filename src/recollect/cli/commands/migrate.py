"""`recollect migrate`: migrate old layouts of Claude Code to the current one.

JSON: rows: {session_id, path, steps_taken [{name, description, places}], change, steps}, total, dry_run, home.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...errors import RecollectError
from ...export.formatting import plural
from ...library.checking import files_of
from ...library.plan import Plan
from ..changing import confirm, tell_undo, yes_option
from ..command_run import CommandRun, command, complete_session

EXAMPLES = """
recollect migrate
recollect migrate 3f2a --to 2.1
recollect migrate --all --to 2.1 --apply --yes
recollect migrate --all --to 2.1 --copy ~/claude-migrated
"""


@command("migrate", epilog=EXAMPLES)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--to", metavar="VERSION", default="2.1", help="The version whose layout they get: 2.1, the default.")
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--all", "everything", is_flag=True, help="All sessions, which is what the plan is shown for by default.")
@click.option(
    "--copy", "copy", metavar="DIR", type=click.Path(path_type=Path),
    help="Copy the sessions into a new home at DIR and migrate them there.",
)  # fmt: skip
@click.option("--apply", is_flag=True, help="Do it. Without it the plan is shown and nothing changes.")
@click.option("--dry-run", "-n", is_flag=True, help="Show the plan and change nothing. The default.")
@yes_option
def migrate(
    run: CommandRun,
    session: str | None,
    to: str,
    project: str | None,
    everything: bool,
    copy: Path | None,
    apply: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Migrate sessions of old versions of Claude Code to today's layout, so that every version and tool finds all of them.

    Subagents get files of their own, answers a line for each block, to-do lists become tasks. A resume sends the same as before;
    that is checked before anything is written, and --apply asks.
    """
    if apply and dry_run:
        raise click.UsageError("--apply and --dry-run exclude one another")
    chosen = sum((session is not None, project is not None, everything))
    if chosen > 1 or (apply and not chosen):
        raise click.UsageError("SESSION, --project or --all")
    library = run.library
    if copy is not None:
        library = library.copy_to(copy)
        apply = yes = True  # a new home: nothing that exists is rewritten
    elif session is not None:
        library.changes.session(session)
    elif apply:  # one question for all of them
        confirm("Sessions would be rewritten", yes=yes, question="Migrate every session that has an old layout?")
        yes = True
    changes = run.changes if apply else library.changes
    rows: list[dict[str, Any]] = []
    failed = None
    for file in files_of(library, session, project):
        try:
            with changes.migrate(file, to=to) as plan:
                row = _convert(run, plan, apply=apply, yes=yes)
        except RecollectError as problem:
            if session is not None:
                raise
            failed = problem
            run.say(f"{file.session_id}: {problem.message}")
            continue
        if row is not None:
            rows.append(row)
    if not run.is_text:
        run.rows(rows, total=len(rows), dry_run=not apply, home=str(library.homes[0].root))
    else:
        run.print(f"{plural(len(rows), 'session')} {'migrated' if apply else 'to migrate'}")
        if not apply and rows:
            run.say("nothing was changed; --apply does it")
    if failed is not None:
        raise click.exceptions.Exit(failed.exit_code)


def _convert(run: CommandRun, plan: Plan, *, apply: bool, yes: bool) -> dict[str, Any] | None:
    if not plan.steps:
        return None
    steps = plan.steps
    if run.is_text:
        run.print(plan.result["session_id"])
        for step in plan.result["steps_taken"]:
            run.print(f"  {step['description']} ({plural(step['places'], 'place')})")
        for words in steps:
            run.print(f"  - {words}")
    number = None
    if apply:
        confirm(plan.title, yes=yes)
        done = plan.commit()
        number = done.number
        if run.is_text:
            tell_undo(run, done)
    return {**plan.result, "change": number, "steps": steps}
