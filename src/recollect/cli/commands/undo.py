"""`recollect undo`: take a change back, byte for byte.

JSON: {number, title, undone, dry_run}.
"""

from __future__ import annotations

from pathlib import Path

import click

from ...store.home import Home
from ..face import Face, command


@command("undo", epilog="recollect undo\nrecollect undo 12 --dry-run")
@click.argument("number", type=int, required=False)
@click.option("--dry-run", "-n", is_flag=True, help="Say what would be undone.")
def undo(face: Face, number: int | None, dry_run: bool) -> None:
    """Undo change NUMBER, or the newest one: contents and times are as before. Refused where somebody wrote since."""
    journal = face.journal
    record = journal.record(number)
    if not dry_run:
        journal.undo(record, Home(Path(record.home)))
    if face.is_text:
        face.print(f"{'would undo' if dry_run else 'undone'}: {record.number} {record.title}")
    else:
        face.value({"number": record.number, "title": record.title, "undone": not dry_run, "dry_run": dry_run})
