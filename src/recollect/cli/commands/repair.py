"""`recollect repair`: a damaged session resumes with everything again.

JSON: rows: {session_id, path, target, fork, before {found, reachable_share, messages}, after {...}, fixes [{fix, words, places,
path}], refused, for_older, fragments, side_file, change, steps}, with home_files
[{home, done, left, change, steps}] where they were asked for; total, dry_run. for_older names fixes that only older versions of
Claude Code need: they are made by --rule.
"""

from __future__ import annotations

import os
from typing import Any

import click

from ...errors import RecollectError
from ...export.formatting import plural
from ...library.plan import Plan
from ..changing import confirm, tell_undo, yes_option
from ..command_run import CommandRun, command, complete_session

EXAMPLES = """
recollect repair 3f2a
recollect repair 3f2a --apply
recollect repair --all --apply --yes
recollect repair 3f2a --fork --apply
recollect repair 3f2a --rule image-too-large --apply
recollect repair --all --home-files
"""


@command("repair", epilog=EXAMPLES)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--all", "everything", is_flag=True, help="All sessions.")
@click.option("--home-files", is_flag=True, help="The global config and Claude Code's lists of sessions.")
@click.option("--rule", "rules", multiple=True, metavar="CODE", help="Only what this rule finds. May be repeated.")
@click.option("--fork", is_flag=True, help="Make a repaired copy under a new id; the session stays as it is.")
@click.option("--apply", is_flag=True, help="Do it. Without it the plan is shown and nothing changes.")
@click.option("--dry-run", "-n", is_flag=True, help="Show the plan and change nothing. The default.")
@yes_option
@click.option("--force", is_flag=True, help="Restore the global config even if Claude Code is running.")
def repair(
    run: CommandRun,
    session: str | None,
    project: str | None,
    everything: bool,
    home_files: bool,
    rules: tuple[str, ...],
    fork: bool,
    apply: bool,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Repair SESSION with the fewest changes after which Claude Code resumes it with everything that is readable.

    Shows the plan; --apply carries it out, after a question. A copy is kept, no valid line is lost, `recollect undo` takes it
    back.
    """
    if sum((session is not None, project is not None, everything)) > 1:
        raise click.UsageError("SESSION, --project and --all exclude one another")
    if session is None and project is None and not everything and not home_files:
        raise click.UsageError("SESSION, --project, --all or --home-files")
    if apply and dry_run:
        raise click.UsageError("--apply and --dry-run exclude one another")
    if apply and not fork and (project is not None or everything):  # one question for all of them
        confirm("Sessions would be rewritten", yes=yes, question="Repair every session that needs it?")
        yes = True
    rows: list[dict[str, Any]] = []
    failed = None
    if session is not None or project is not None or everything:
        changes = run.changes
        for file in changes.sessions_to_repair(session, project=project, rules=rules):
            try:
                with changes.repair(file, rules=rules, fork=fork) as plan:
                    row = _repair_one(run, plan, apply=apply, yes=yes or fork, alone=session is not None)
            except RecollectError as problem:
                if session is not None:
                    raise
                failed = problem  # a session that is in use must not keep the others from being repaired
                run.say(f"{file.session_id}: {problem.message}")
                continue
            if row is not None:
                rows.append(row)
    homes = _repair_homes(run, apply=apply, yes=yes, force=force) if home_files else []
    if not run.is_text:
        extra: dict[str, Any] = {"home_files": homes} if home_files else {}
        run.rows(rows, total=len(rows), dry_run=not apply, **extra)
    elif not apply and (rows or any(item["done"] for item in homes)):
        run.say("nothing was changed; --apply does it")
    if failed is not None:
        raise click.exceptions.Exit(failed.exit_code)


def _repair_one(run: CommandRun, plan: Plan, *, apply: bool, yes: bool, alone: bool) -> dict[str, Any] | None:
    if not plan.steps:
        if alone and run.is_text:
            run.print(plan.said)
            for note in plan.notes:
                run.print(f"  {note}")
        return {**plan.result, "change": None, "steps": []} if alone else None
    steps = plan.steps
    if run.is_text:
        _print(run, plan)
    number = _commit(run, plan, yes=yes) if apply else None
    return {**plan.result, "change": number, "steps": steps}


def _commit(run: CommandRun, plan: Plan, *, yes: bool) -> int | None:
    confirm(plan.title, yes=yes)
    done = plan.commit()
    if run.is_text:
        tell_undo(run, done)
    return done.number


def _print(run: CommandRun, plan: Plan) -> None:
    result = plan.result
    run.print(f"{plan.said}, a resume sends {result['before']['messages']:,} -> {result['after']['messages']:,} rows")
    for item in result["fixes"]:
        where = "" if item["path"] == result["path"] else f" in {os.path.basename(item['path'])}"
        run.print(f"  {item['fix']}: {item['words']} ({plural(item['places'], 'place')}{where})")
    for name in result["refused"]:
        run.print(f"  {name}: left undone, something would be lost by it")
    if result["side_file"] is not None:
        run.print(f"  {plural(result['fragments'], 'fragment')} kept in {result['side_file']}")
    for step in plan.steps:
        run.print(f"  - {step}")


def _repair_homes(run: CommandRun, *, apply: bool, yes: bool, force: bool) -> list[dict[str, Any]]:
    rows = []
    for home in run.library.homes:
        with run.changes.repair_home_files(home, force=force) as plan:
            steps = plan.steps
            if run.is_text:
                for words in plan.result["done"]:
                    run.print(words)
                for words in plan.result["left"]:
                    run.print(f"left: {words}")
                if not plan.result["done"] and not plan.result["left"]:
                    run.print(plan.said)
            number = _commit(run, plan, yes=yes) if apply and steps else None
            rows.append({**plan.result, "change": number, "steps": steps})
    return rows
