"""Install or remove something: show the plan, confirm it, and carry it out. `commands/keep.py` describes the JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..errors import Unavailable
from .changing import confirm, tell_notes, tell_undo
from .command_run import CommandRun

if TYPE_CHECKING:
    from ..library.installing import InstallPlan

PER_HOME = ("hook", "statusline")
"""What is installed into the settings of each home."""


def install_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --install and --remove, with --dry-run and --yes."""
    for option in (
        click.option("--yes", "-y", is_flag=True, help="Do not ask."),
        click.option("--dry-run", "-n", is_flag=True, help="With --install and --remove: change nothing."),
        click.option("--remove", "take_out", is_flag=True, help="Take out what --install put in."),
        click.option("--install", "put_in", is_flag=True, help="Put it where it is used. Shown before it is done."),
    ):
        function = option(function)
    return function


def install(run: CommandRun, what: str, *, remove: bool, yes: bool, dry_run: bool, **more: Any) -> None:
    """Install or remove something; what belongs into settings, for every open home."""
    run.may_change = True
    library = run.library
    library.changes.journal.lock_seconds = run.lock_seconds
    verb: Callable[..., InstallPlan] = library.uninstall if remove else library.install
    options = {name: value for name, value in more.items() if not remove or name == "shell"}
    for home in library.homes if what in PER_HOME else [None]:
        with verb(what, home=home, **options) as plan:
            _carry_out(run, plan, yes=yes, dry_run=dry_run)


def _carry_out(run: CommandRun, plan: InstallPlan, *, yes: bool, dry_run: bool) -> None:
    if run.is_text:
        for line in plan.shown:
            run.say(line)
        if plan.present and not plan.removes:
            run.say("it is installed already, and is put in anew")
    tell_notes(run, plan)
    done = None
    if not dry_run:
        confirm(plan.title, yes=yes)
        done = plan.commit()
    for problem in plan.problems:
        run.say(problem)
    if not run.is_text:
        run.value(plan.as_dict(done))
    elif done is None:
        run.print(f"would: {plan.title}")
    else:
        if not plan.problems:
            run.print(plan.said)
        tell_undo(run, done)
    if plan.problems:
        raise click.exceptions.Exit(Unavailable.exit_code)
