"""`recollect delete`: sessions, or a whole project, with everything that belongs to them, into the trash.

JSON: {sessions, paths, bytes, history_lines, config_projects, notes, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options, refuse_empty_path, tell_notes
from ..command_run import CommandRun, command, complete_session


@command(
    "delete",
    epilog="recollect delete 3f2a --dry-run\nrecollect delete 3f2a 9bc1 --yes\nrecollect delete --project ~/old-app",
)
@click.argument("sessions", nargs=-1, metavar="SESSION...", shell_complete=complete_session)
@click.option(
    "--project", metavar="PATH", help="All of a project: sessions at PATH and below, prompts, settings, memory."
)
@changing_options("With --project: go ahead while Claude Code works in other projects. Never deletes what is in use.")
def delete(
    run: CommandRun, sessions: tuple[str, ...], project: str | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Move SESSIONs to the trash: transcript, subagents, long outputs, file history, tasks, todos, logs, pastes.

    `recollect undo` brings them back. Prompts in history.jsonl stay, unless the whole project goes (--project).
    """
    if bool(sessions) == (project is not None):
        raise click.UsageError("SESSION..., or --project PATH")
    refuse_empty_path(project)
    changes = run.changes
    with changes.delete(sessions) if project is None else changes.delete_project(project, force=force) as plan:
        if not dry_run:
            tell_notes(run, plan)
        carry_out(run, plan, dry_run=dry_run, yes=yes)
        if dry_run:
            tell_notes(run, plan)
