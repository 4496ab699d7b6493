"""`recollect prune`: take sessions out of a home that the vault has.

JSON: {sessions: [{session_id, title, project, bytes, files}], left: [{session_id, why}], bytes, change, dry_run}.
"""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import Any

import click

from ...export.formatting import number, plural, size
from ..changing import confirm, tell_undo, yes_option
from ..command_run import Column, CommandRun, command
from ..option_types import SINCE

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)b?", re.IGNORECASE)


def parse_size(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Parse a size such as ``500k``, ``20MB``, ``1.5G``: in thousands, as sizes are shown."""
    if text is None:
        return None
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is not a size: use 500k, 20MB or 1.5G", context, parameter)
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


@command(
    "prune",
    epilog="recollect prune --older 90d\nrecollect prune --larger 50MB --project myapp --apply\n"
    "recollect prune --older 2026-01-01 --apply --yes",
)
@click.option("--older", type=SINCE, metavar="AGE", help="Not changed since: 90d, 2026-01-01.")
@click.option(
    "--larger", callback=parse_size, metavar="SIZE", help="Larger than this with all that belongs to them: 20MB."
)
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--apply", "apply", is_flag=True, help="Do it. Without this, what would go is shown.")
@click.option("--dry-run", "-n", is_flag=True, help="Show what would go and change nothing. The default.")
@yes_option
def prune(
    run: CommandRun,
    older: datetime | None,
    larger: int | None,
    project: str | None,
    apply: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove sessions from the home that fit all given rules, to make room. Only what the vault has goes.

    Before a session goes, every file of it is compared with the vault, byte for byte; one that differs, is missing there, or
    is in use stays. `recollect restore` brings sessions back, and all reading commands go on seeing them.
    """
    if older is None and larger is None and project is None:
        raise click.UsageError("at least one rule: --older AGE, --larger SIZE, --project P")
    if apply and dry_run:
        raise click.UsageError("--apply and --dry-run exclude one another")
    run.may_change = True
    plan = run.library.prune(before=older, larger=larger, project=project)
    result = plan.result
    if run.is_text:
        _show(run, result["sessions"], result["left"])
    if not plan.steps:
        if not run.is_text:
            run.value({**result, "change": None, "dry_run": not apply})
        run.advise_on_project(project)
        raise click.exceptions.Exit(1)
    with plan:
        done = None
        if apply:
            confirm(plan.title, yes=yes, question=f"{plan.title}?")
            done = plan.commit()
    if not run.is_text:
        run.value({**result, "change": None if done is None else done.number, "dry_run": not apply})
        return
    what = f"{plural(len(result['sessions']), 'session')}, {size(result['bytes'])}"
    if done is not None:
        run.print(f"removed {what}")
        run.say("the vault has them: `recollect restore SESSION` brings one back")
        tell_undo(run, done)
    else:
        run.print(f"would remove {what}; --apply does it")


def _show(run: CommandRun, sessions: list[dict[str, Any]], left: list[dict[str, str]]) -> None:
    if sessions:
        run.table(
            sessions,
            (
                Column("session_id", "session", lambda text: text[:8]),
                Column("bytes", "size", size, right=True),
                Column("files", "files", number, right=True),
                Column("project", "project"),
                Column("title", "title", stretch=True),
            ),
        )
    for item in left:
        run.say(f"stays: {item['session_id'][:8]}: {item['why']}")
    if not sessions and not left:
        run.say(f"no session fits ({time.strftime('%Y-%m-%d')})")
