"""`recollect changes`: what Recollect changed in the homes.

JSON: rows of {number, name, title, state, time, home, steps}, with total. States: done, pruned (done, and only the vault has
what it took out), masked (done, and no longer to be undone: secrets were masked in what it kept or wrote), undone, failed (rolled
back; what a masking had done stays), started (going on right now, or crashed: the next change rolls it back).
"""

from __future__ import annotations

import click

from ...export.moments import local
from ...library.shapes import change_shape, plain
from ..command_run import Column, CommandRun, command


@command("changes", epilog="recollect changes\nrecollect changes --limit 5 --json\nrecollect changes --all-homes")
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True)
@click.option("--all-homes", is_flag=True, help="Also what was changed in other homes than the open ones.")
def changes(run: CommandRun, limit: int, all_homes: bool) -> None:
    """The journal of changes in the home, newest first. `recollect undo N` takes one back."""
    records = run.library.changes.records(all_homes=all_homes)
    rows = [plain(change_shape(record)) for record in records[:limit]]
    columns = [
        Column("number", right=True),
        Column("time", show=local),
        Column("state"),
        Column("title", stretch=True),
    ]
    if all_homes or len(run.library.homes) > 1:
        columns.insert(3, Column("home"))
    run.rows(rows, columns, empty="nothing was changed yet", total=len(records))
    if not records:
        raise click.exceptions.Exit(1)
