"""`recollect delete`: sessions, or a whole project, with everything that belongs to them, into the trash.

JSON: {sessions, paths, bytes, history_lines, config_projects, notes, change, dry_run, steps}.
"""

from __future__ import annotations

import os

import click

from ...errors import Refused
from ...store.trash import DeleteResult, plan_delete, plan_delete_project
from ..changing import carry_out, changing_options, session_to_change
from ..face import Face, command, complete_session
from ..words import plural
from .move import here, only_home, tell


@command(
    "delete",
    epilog="recollect delete 3f2a --dry-run\nrecollect delete 3f2a 9bc1 --yes\nrecollect delete --project ~/old-app",
)
@click.argument("sessions", nargs=-1, metavar="SESSION...", shell_complete=complete_session)
@click.option(
    "--project", metavar="PATH", help="All of a project: sessions at PATH and below, prompts, settings, memory."
)
@changing_options("With --project: go ahead while clients work in other projects. Never deletes what is in use.")
def delete(face: Face, sessions: tuple[str, ...], project: str | None, dry_run: bool, yes: bool, force: bool) -> None:
    """Move SESSIONs to the trash: transcript, sub-agents, long outputs, file history, tasks, todos, logs, pastes.

    `recollect undo` brings them back. Prompts in history.jsonl stay, unless the whole project goes (--project).
    """
    if bool(sessions) == (project is not None):
        raise click.UsageError("SESSION..., or --project PATH")
    if project is not None:
        change, result = plan_delete_project(face.journal, only_home(face), here(project), force=force)
    else:
        files = {str(found.path): found for found in (session_to_change(face, name).file for name in sessions)}
        homes = {file.home.real_root: file.home for file in files.values()}
        if len(homes) > 1:
            raise Refused(
                "the sessions are in several homes", hint="delete those of each home at a time", slug="several-homes"
            )
        change, result = plan_delete(face.journal, next(iter(homes.values())), list(files.values()))
    with change:
        if not dry_run and face.is_text:
            tell(face, result)
        carry_out(face, change, result.as_dict(), dry_run=dry_run, yes=yes, destructive=True, said=_said(result))
        if dry_run and face.is_text:
            tell(face, result)


def _said(result: DeleteResult) -> str:
    names = ", ".join(os.path.basename(name) for name in result.sessions[:3])
    more = f" and {len(result.sessions) - 3} more" if len(result.sessions) > 3 else ""
    what = f"{names}{more}" if names else "the project's entries"
    return f"deleted {what}: {plural(len(result.paths), 'file or folder', 'files and folders')}, {result.bytes:,} bytes"
