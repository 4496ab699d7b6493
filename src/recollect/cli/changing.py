"""Show the plan of a changing command, confirm it if needed, carry it out, and report how to undo it.

A change that removes or rewrites something is confirmed on a terminal; without one it needs --yes. A change that only adds,
or changes a single to-do, is made at once. `confirm` is that rule, for every command.

JSON of every changing command: the command's own fields, and `change` (the number for `recollect undo`, null on a dry run),
`dry_run`, `steps` (the plan, one line for each step).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..errors import Refused
from ..library.plan import Committed, Plan
from . import streams
from .command_run import CommandRun

TO_APPEND = "Append even if the session is in use. Never rewrites one that is."
NO_EFFECT = "Accepted as by all changing commands; here nothing has to be forced."


def changing_options(force: str = TO_APPEND) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options --dry-run, --yes and --force; `force` is the help of the last one."""

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


def refuse_empty_path(*paths: str | None) -> None:
    """Refuse an empty path: it would become the current folder, which nobody meant."""
    if any(path is not None and not path.strip() for path in paths):
        raise click.UsageError("a path must not be empty")


def confirm(what: str, *, yes: bool, question: str = "Go ahead?") -> None:
    """Raise Refused unless the user agrees: by --yes, or when asked on a terminal. `what` says what would happen."""
    if yes:
        return
    if not streams.stdin_is_terminal():
        raise Refused(
            f"{what}: there is no terminal on which to ask", slug="not-confirmed",
            hint="look at the plan (--dry-run), then say --yes",
        )  # fmt: skip
    if not click.confirm(question, err=True):
        raise Refused("nothing was done", slug="not-confirmed")


def carry_out(run: CommandRun, plan: Plan, *, dry_run: bool, yes: bool) -> Committed | None:
    """Show the plan and stop (dry run), or make the change. A destructive change is confirmed first."""
    if dry_run:
        if run.is_text:
            run.print(f"would: {plan.title}")
            for step in plan.steps:
                run.print(f"  {step}")
        else:
            run.value(plan.as_dict())
        return None
    if plan.destructive:
        if not yes and streams.stdin_is_terminal():
            run.say(plan.title)
            for step in plan.steps:
                run.say(f"  {step}")
        confirm(plan.title, yes=yes)
    done = plan.commit()
    if run.is_text:
        run.print(plan.said)
        tell_undo(run, done)
    else:
        run.value(plan.as_dict(done))
    return done


def tell_notes(run: CommandRun, plan: Plan) -> None:
    """Print the notes of a plan, in text only: JSON has them among its fields."""
    if run.is_text:
        for note in plan.notes:
            run.say(f"note: {note}")


def tell_undo(run: CommandRun, done: Committed) -> None:
    if done.undo_command is not None:
        run.say(f"change {done.number}; `{done.undo_command}` takes it back")
