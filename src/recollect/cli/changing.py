"""What all changing commands share: the plan is shown, asked for where it matters, carried out, and can be undone.

What takes away or rewrites something that is there is asked for on a terminal; without one it needs --yes. What only adds, or
changes a single to-do, is done at once. `confirm` is that rule, for every command.

JSON of every changing command: the command's own fields, and `change` (the number for `recollect undo`, null on a dry run),
`dry_run`, `steps` (the plan, a line a step).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..environment import home_candidates
from ..errors import Refused
from ..library.locate import home_with
from ..store.changes import Change, Record
from ..store.home import Home
from . import standard_input
from .face import Face

if TYPE_CHECKING:
    from ..library.session import Session

TO_APPEND = "Append even if the session is in use. Never rewrites one that is."
NO_EFFECT = "Accepted as by all changing commands; here nothing has to be forced."


def changing_options(force: str = TO_APPEND) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--dry-run, --yes and --force; `force` says what that does here."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option("--force", is_flag=True, help=force),
            yes_option,
            click.option("--dry-run", "-n", is_flag=True, help="Show the plan and change nothing."),
        ):
            function = option(function)
        return function

    return add


yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def confirm(what: str, *, yes: bool, question: str = "Go ahead?") -> None:
    """Raise Refused unless the user wants it: by --yes, or asked on a terminal. `what` says what would happen."""
    if yes:
        return
    if not standard_input.is_terminal():
        raise Refused(
            f"{what}: there is no terminal on which to ask", slug="not-confirmed",
            hint="look at the plan (--dry-run), then say --yes",
        )  # fmt: skip
    if not click.confirm(question, err=True):
        raise Refused("nothing was done", slug="not-confirmed")


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
    """Show the plan and stop (dry run), or do it. A destructive change is asked for."""
    steps = change.describe()
    if dry_run:
        if face.is_text:
            face.print(f"would: {change.title}")
            for step in steps:
                face.print(f"  {step}")
        else:
            face.value({**result, "change": None, "dry_run": True, "steps": steps})
        return
    if destructive:
        if not yes and standard_input.is_terminal():
            face.say(change.title)
            for step in steps:
                face.say(f"  {step}")
        confirm(change.title, yes=yes)
    record = change.commit()
    if face.is_text:
        face.print(said)
        tell_undo(face, record)
    else:
        face.value({**result, "change": record.number, "dry_run": False, "steps": steps})


def tell_undo(face: Face, record: Record, what: str = "it") -> None:
    face.say(f"change {record.number}; `{undo_command(record)}` takes {what} back")


def undo_command(record: Record) -> str:
    """How a change is undone from anywhere: one of another home than the usual ones needs its name."""
    usual = {Home(path).real_root for path in home_candidates()[0]}
    home = "" if record.home in usual else f"--home {shlex.quote(record.home)} "
    return f"recollect {home}undo {record.number}"


def session_to_change(face: Face, reference: str) -> Session:
    """The session that is meant; one of several homes is refused where its name does not tell which."""
    found = face.library.session(reference)
    if reference.strip() not in ("last", "latest") and not reference.endswith(".jsonl"):
        home_with(face.library, found.id, hint="name the one that is meant with --home DIR")
    return found
