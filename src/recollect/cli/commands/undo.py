"""`recollect undo`: take a change back, byte for byte.

JSON: {number, title, home, undone, dry_run, steps}.
"""

from __future__ import annotations

from pathlib import Path

import click

from ...library.homes import open_homes
from ...store.home import Home
from ..face import Face, command


@command("undo", epilog="recollect undo\nrecollect undo 12 --dry-run\nrecollect --home ./copied-claude undo")
@click.argument("number", type=int, required=False)
@click.option("--dry-run", "-n", is_flag=True, help="Say what would be undone, or why it cannot be.")
@click.option("--yes", "-y", is_flag=True, expose_value=False, help="For scripts, as elsewhere: undoing never asks.")
def undo(face: Face, number: int | None, dry_run: bool) -> None:
    """Undo change NUMBER, or the newest one of the home: contents and times are as before.

    Refused where somebody wrote since, and while somebody else wrote to the file within the last minute.
    """
    journal = face.journal
    record = journal.record(number, open_homes(face.homes))
    home = Home(Path(record.home))
    steps = journal.describe_undo(record)
    if dry_run:
        journal.check_undo(record, home)
    else:
        journal.undo(record, home)
    if not face.is_text:
        face.value(
            {"number": record.number, "title": record.title, "home": record.home, "undone": not dry_run,
             "dry_run": dry_run, "steps": steps}
        )  # fmt: skip
        return
    face.print(f"{'would undo' if dry_run else 'undone'}: {record.number} {record.title}")
    for step in steps if dry_run else ():
        face.print(f"  {step}")
