"""`recollect unbundle`: take the sessions of a bundle into a home.

JSON: {files, sessions, bytes, same, left: [{path, why}], damaged, notes, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ...library.library import library_to_fill
from ..changing import NO_EFFECT, carry_out, changing_options
from ..command_run import CommandRun, command
from .prune import parse_size


@command(
    "unbundle",
    epilog="recollect unbundle talk.recollect\nrecollect unbundle talk.recollect --map /Users/ann=/home/ann\n"
    "recollect unbundle talk.recollect --dry-run",
)
@click.argument("file", metavar="FILE")
@click.option(
    "--map", "maps", multiple=True, metavar="OLD=NEW", help="Paths of projects that are others on this machine."
)
@click.option("--limit", callback=parse_size, metavar="SIZE", help="Refuse what unpacks to more than this (16 GB).")
@changing_options(NO_EFFECT)
def unbundle(
    run: CommandRun, file: str, maps: tuple[str, ...], limit: int | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Take the sessions of a bundle into the home, which is made where it is not there yet; Claude Code resumes them.

    The bundle is checked while it is unpacked: one that names a place outside of the sessions, is cut, or unpacks to more than
    it says is refused, and nothing is left of it. Files that stand there already and are not older stay.
    """
    run.may_change = True
    with library_to_fill(run.homes).changes.unbundle(file, maps=maps, limit=limit) as plan:
        if plan.steps:
            carry_out(run, plan, dry_run=dry_run, yes=yes)
        elif run.is_text:
            run.print(plan.said)
        else:
            run.value({**plan.result, "change": None, "dry_run": dry_run, "steps": []})
        if run.is_text:
            for item in plan.result["left"]:
                run.say(f"left as it is: {item['path']}: {item['why']}")
