"""`recollect changes`: what Recollect changed in the homes.

JSON: rows of {number, name, title, state, time, home, steps}, with total. States: done, undone, failed (rolled back), started
(going on right now, or crashed: the next change rolls it back).
"""

from __future__ import annotations

import click

from ...format.times import to_iso
from ...library.homes import open_homes
from ..face import Column, Face, command
from ..moments import local


@command("changes", epilog="recollect changes\nrecollect changes --limit 5 --json\nrecollect changes --all-homes")
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True)
@click.option("--all-homes", is_flag=True, help="Also what was changed in other homes than the open ones.")
def changes(face: Face, limit: int, all_homes: bool) -> None:
    """The journal of changes in the home, newest first. `recollect undo N` takes one back."""
    homes = None if all_homes else open_homes(face.homes)
    records = face.journal.records(homes)
    rows = [
        {
            "number": record.number,
            "name": record.name,
            "title": record.title,
            "state": record.state,
            "time": to_iso(record.time),
            "home": record.home,
            "steps": [action.describe() for action in record.actions],
        }
        for record in records[:limit]
    ]
    columns = [
        Column("number", right=True),
        Column("time", show=local),
        Column("state"),
        Column("title", stretch=True),
    ]
    if homes is None or len(homes) > 1:
        columns.insert(3, Column("home"))
    face.rows(rows, columns, empty="nothing was changed yet", total=len(records))
    if not records:
        raise click.exceptions.Exit(1)
