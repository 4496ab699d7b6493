"""`recollect history`: prompts and slash commands that were typed into the terminal client, newest first.

JSON: rows of {timestamp, display, project, session_id, pasted, home, line, problem}, with total (all that match) and
shown. `pasted` is a list of {id, type, text}; a paste that the client keeps in its paste cache is fetched from there,
and `text` is null where it is gone. A damaged line is a row with a `problem` and without a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from recollect.cli.command_run import Column, CommandRun, command
from recollect.cli.moments import SINCE, UNTIL, iso, local
from recollect.cli.plain import used_columns
from recollect.format.history import HistoryEntry, PastedContent
from recollect.format.project_key import repository_of
from recollect.library.project_paths import ProjectFilter
from recollect.store.home import Home
from recollect.store.side_files import paste_text, prompt_history

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
    wanted = None if project is None else ProjectFilter(project)
    found: list[tuple[Home, HistoryEntry]] = []
    for home in run.library.homes:
        for entry in prompt_history(home):
            if (
                _in_time(entry, since, until)
                and (session is None or (entry.session_id or "").startswith(session))
                and (wanted is None or wanted.fits(entry.project, repository_of(entry.project)))
                and (grep is None or _holds(home, entry, grep.casefold()))
            ):
                found.append((home, entry))
    found.sort(key=lambda pair: (pair[1].timestamp is not None, pair[1].timestamp, pair[1].line), reverse=True)
    shown = found[:limit] if limit else found
    rows = [_row(home, entry) for home, entry in shown]
    run.rows(
        rows,
        used_columns(rows, COLUMNS),
        empty="no prompts",
        total=len(found),
        shown=len(shown),
    )
    if run.is_text and len(shown) < len(found):
        run.say(f"{len(shown)} of {len(found)}; --limit 0 shows all")
    if not found:
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)


def _in_time(entry: HistoryEntry, since: datetime | None, until: datetime | None) -> bool:
    if since is None and until is None:
        return True
    if entry.timestamp is None:
        return False
    return (since is None or entry.timestamp >= since) and (until is None or entry.timestamp < until)


def _holds(home: Home, entry: HistoryEntry, text: str) -> bool:
    if text in (entry.display or "").casefold():
        return True
    return any(text in (_paste(home, paste) or "").casefold() for paste in entry.pasted)


def _paste(home: Home, paste: PastedContent) -> str | None:
    if paste.content is not None or paste.content_hash is None:
        return paste.content
    return paste_text(home, paste.content_hash)


def _row(home: Home, entry: HistoryEntry) -> dict[str, Any]:
    return {
        "timestamp": iso(entry.timestamp),
        "display": entry.display,
        "project": entry.project,
        "session_id": entry.session_id,
        "pasted": list(_pasted_rows(home, entry)),
        "home": str(home.root),
        "line": entry.line,
        "problem": entry.problem,
    }


def _pasted_rows(home: Home, entry: HistoryEntry) -> Iterator[dict[str, Any]]:
    for paste in entry.pasted:
        yield {"id": paste.id or paste.key, "type": paste.type, "text": _paste(home, paste)}
