"""`recollect plans`: the plans of plan mode, and one of them in full.

JSON: rows of {slug, title, modified, bytes, path, home, problem}, with total; for one plan an object of the same fields
with its `text`.
"""

from __future__ import annotations

import click

from recollect.export.moments import local
from recollect.library.shapes import plain

from ...library.side_files import PlanDocument
from ..command_run import Column, CommandRun, command, used_columns

COLUMNS = (
    Column("slug", "plan"),
    Column("title", stretch=True),
    Column("modified", show=local),
    Column("bytes", right=True),
    Column("problem"),
)


@command("plans", epilog="recollect plans\nrecollect plans brave-otter")
@click.argument("slug", required=False)
def plans(run: CommandRun, slug: str | None) -> None:
    """Plans of plan mode, newest first; with SLUG (or the start of one) the text of a plan."""
    if slug is not None:
        _show(run, run.library.plan(slug))
        return
    rows = [plain(plan) for plan in run.library.plans()]
    for row in rows:
        del row["text"]
    run.rows(rows, used_columns(rows, COLUMNS), empty="no plans", total=len(rows))
    if not rows:
        raise click.exceptions.Exit(1)


def _show(run: CommandRun, plan: PlanDocument) -> None:
    if not run.is_text:
        run.value(plain(plan))
        return
    if plan.problem is not None:
        run.say(f"{plan.path}: {plan.problem}")
    run.print(plan.text.removesuffix("\n"))
