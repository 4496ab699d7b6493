"""`recollect history`: prompts and slash commands that were typed into the terminal, newest first.

JSON: rows of {timestamp, display, project, session_id, pasted, home, line, problem}, with total (all that match) and
shown. `pasted` is a list of {id, type, text}; a paste that Claude Code keeps in its paste cache is fetched from there,
and `text` is null where it is gone. A damaged line is a row with a `problem` and without a text.
"""

from __future__ import annotations

from datetime import datetime

import click

from recollect.export.moments import local
from recollect.library.shapes import plain

from ..command_run import Column, CommandRun, command, used_columns
from ..option_types import SINCE, UNTIL

COLUMNS = (
    Column("timestamp", "when", show=local),
    Column("project", show=lambda path: str(path).replace("\\", "/").rpartition("/")[2]),
    Column("session_id", "session", show=lambda text: str(text)[:8]),
    Column("display", "prompt", stretch=True),
    Column("problem"),
)


@command(
    "history",
    epilog="""
    recollect history --limit 20
    recollect history --grep deploy --since 7d
    recollect history --project /w/app --json
    """,
)
@click.option("--grep", metavar="TEXT", help="Only entries with this text, in the prompt or a paste; any case.")
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--session", metavar="ID", help="Only this session: its id or the start of it.")
@click.option("--since", type=SINCE, help="Not before this moment.")
@click.option("--until", type=UNTIL, help="Not after this moment; a day counts as a whole.")
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True, help="How many; 0 for all.")
def history(
    run: CommandRun,
    grep: str | None,
    project: str | None,
    session: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> None:
    """Typed prompts and slash commands, newest first."""
    found = run.library.history(
        grep=grep, project=project, session=session, since=since, until=until, limit=limit or None
    )
    rows = [plain(prompt) for prompt in found.rows]
    run.rows(rows, used_columns(rows, COLUMNS), empty="no prompts", total=found.total, shown=len(rows))
    if run.is_text and len(rows) < found.total:
        run.say(f"{len(rows)} of {found.total}; --limit 0 shows all")
    if not rows:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)
