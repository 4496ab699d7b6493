"""`recollect split`: part a folder that two projects share.

JSON without --project: {rows: [{folder, project, sessions}]}. With it: as of `recollect move`.
"""

from __future__ import annotations

import click

from ..changing import carry_out, changing_options, refuse_empty_path, tell_notes
from ..command_run import Column, CommandRun, command


class _FolderCommand(click.Command):
    """Accepts folders below projects/, which begin with a dash, as arguments: `split -home-ann-app` means ./-home-ann-app."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = [item for item in self.get_params(ctx) if isinstance(item, click.Option)]
        flags = {name[1] for item in options for name in item.opts if len(name) == 2}
        valued = {name for item in options if not item.is_flag for name in item.opts}
        given: list[str] = []
        for number, text in enumerate(args):
            is_value = number > 0 and args[number - 1] in valued
            is_folder = text.startswith("-") and text[1:2] not in ("", "-") and not set(text[1:]) <= flags
            given.append(f"./{text}" if is_folder and not is_value else text)
        return super().parse_args(ctx, given)


@command(
    "split",
    cls=_FolderCommand,
    epilog="recollect split\nmv ~/w-a/b ~/w-a/b2 && recollect split -home-ann-w-a-b --project ~/w-a/b --to ~/w-a/b2\n"
    "recollect split -home-ann-w-a-b --project ~/w-a/b --name b-of-w-a",
)
@click.argument("folder", required=False)
@click.option("--project", metavar="PATH", help="The project whose sessions are taken out of the folder.")
@click.option(
    "--to", "new_path", metavar="NEWPATH", help="They go where this path's sessions are kept: rename the project so."
)
@click.option("--name", metavar="NAME", help="They go into a folder of this name, and the project keeps its path.")
@click.option("--merge", is_flag=True, help="If there are sessions at the target already, put both together.")
@changing_options("Go ahead while Claude Code works in other projects. Never moves what is in use.")
def split(
    run: CommandRun,
    folder: str | None,
    project: str | None,
    new_path: str | None,
    name: str | None,
    merge: bool,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Part FOLDER (below projects/), in which sessions of two projects are. Without FOLDER: list such folders.

    Two paths that differ only in characters like "/", "." and "-" have one folder; Claude Code cannot be told otherwise.
    So either the project gets another path (--to), which every version understands; or its sessions go into a folder of any
    name (--name): Claude Code resumes them by id, and continues them with CLAUDE_CODE_PROJECT_DIR_NAME=NAME set.
    """
    if folder is None:
        if project is not None or new_path is not None or name is not None or merge:
            raise click.UsageError("FOLDER is missing: `recollect split` lists the folders that two projects share")
        rows = run.library.changes.shared_folders()
        columns = (Column("folder"), Column("project", stretch=True), Column("sessions", right=True))
        run.rows(rows, columns, empty="no folder is shared", total=len(rows))
        return
    if project is None or (new_path is None) == (name is None):
        raise click.UsageError("--project PATH, and --to NEWPATH or --name NAME")
    refuse_empty_path(new_path)
    plan = run.changes.split(folder, project=project, to=new_path, name=name, merge=merge, force=force)
    with plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)
        tell_notes(run, plan)
