"""`recollect move`: a project's folder was moved or renamed; its sessions and settings follow.

JSON: {pairs, folders, sessions, transcripts_edited, paths_edited, backups_renamed, history_lines, config_projects, notes,
change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options, refuse_empty_path, tell_notes
from ..command_run import CommandRun, command


@command(
    "move",
    epilog="mv ~/app ~/work/app && recollect move ~/app ~/work/app\nrecollect move ~/app ~/work/app --dry-run\n"
    "recollect --home ./copied-claude move --map /Users/ann=/home/ann",
)
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "--map", "maps", multiple=True, metavar="OLD=NEW", help="Paths that became others, for a home from another machine."
)
@click.option("--merge", is_flag=True, help="If there are sessions at NEW already, put both together.")
@changing_options("Go ahead while Claude Code works in other projects. Never moves what is in use.")
def move(
    run: CommandRun,
    old: str | None,
    new: str | None,
    maps: tuple[str, ...],
    merge: bool,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """The project at OLD is at NEW now: its sessions, memory, prompts and settings follow, worktrees and all below it too.

    Move the folder itself with `mv`, before or after. Nothing is overwritten; sessions that are open are refused.
    --force goes ahead while Claude Code works in other projects.
    """
    if (old is None) != (new is None) or (old is None and not maps):
        raise click.UsageError("OLD and NEW, or --map OLD=NEW")
    refuse_empty_path(old, new)
    with run.changes.move(old, new, maps=maps, merge=merge, force=force) as plan:
        if not dry_run:
            tell_notes(run, plan)
        carry_out(run, plan, dry_run=dry_run, yes=yes)
        if dry_run:
            tell_notes(run, plan)
