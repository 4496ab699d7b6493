"""What all changing commands share: the plan is shown, asked for where it matters, carried out, and can be undone.

JSON of every changing command: the command's own fields, and `change` (the number for `recollect undo`, null on a dry run),
`dry_run`, `steps` (the plan, a line a step).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from ..store.changes import Change
from .face import Face


def changing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--dry-run, --yes and --force."""
    for option in (
        click.option("--force", is_flag=True, help="Append even if the session is in use. Never rewrites one that is."),
        click.option("--yes", "-y", is_flag=True, help="Do not ask."),
        click.option("--dry-run", "-n", is_flag=True, help="Show the plan and change nothing."),
    ):
        function = option(function)
    return function


def carry_out(
    face: Face,
    change: Change,
    result: dict[str, Any],
    *,
    dry_run: bool,
    yes: bool,
    destructive: bool = False,
    said: str,
) -> None:
    """Show the plan and stop (dry run), or do it. A destructive change is asked for on a terminal."""
    steps = change.describe()
    if dry_run:
        if face.is_text:
            face.print(f"would: {change.title}")
            for step in steps:
                face.print(f"  {step}")
        else:
            face.value({**result, "change": None, "dry_run": True, "steps": steps})
        return
    if destructive and not yes and sys.stdin.isatty():
        face.say(change.title)
        for step in steps:
            face.say(f"  {step}")
        click.confirm("Go ahead?", abort=True, err=True)
    record = change.commit()
    if face.is_text:
        face.print(said)
        face.say(f"change {record.number}; `recollect undo {record.number}` takes it back")
    else:
        face.value({**result, "change": record.number, "dry_run": False, "steps": steps})
