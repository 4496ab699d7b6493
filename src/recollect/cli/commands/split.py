"""`recollect split`: part a folder that two projects share.

JSON without --project: {rows: [{folder, project, sessions}]}. With it: as of `recollect move`.
"""

from __future__ import annotations

import os

import click

from ...store.move_survey import owned_folders
from ...store.split import plan_split
from ..changing import carry_out, changing_options
from ..face import Column, Face, command
from .move import only_home, summary, tell, there


class _FolderCommand(click.Command):
    """Folders below projects/ begin with a dash, and are no options for that: `split -home-ann-app` means ./-home-ann-app."""

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
@changing_options("Go ahead while clients work in other projects. Never moves what is in use.")
def split(
    face: Face,
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

    Two paths that differ only in characters like "/", "." and "-" have one folder, and no client can be told otherwise.
    So either the project gets another path (--to), which every client understands; or its sessions go into a folder of any
    name (--name): the client resumes them by id, and continues them with CLAUDE_CODE_PROJECT_DIR_NAME=NAME set.
    """
    home = only_home(face)
    if folder is None:
        if project is not None or new_path is not None or name is not None or merge:
            raise click.UsageError("FOLDER is missing: `recollect split` lists the folders that two projects share")
        rows = [
            {"folder": key, "project": path, "sessions": sum(item.project == path for item in owned.sessions)}
            for key, owned in owned_folders(home).items()
            if len(owned.projects) > 1
            for path in owned.projects
        ]
        columns = (Column("folder"), Column("project", stretch=True), Column("sessions", right=True))
        face.rows(rows, columns, empty="no folder is shared", total=len(rows))
        return
    if project is None or (new_path is None) == (name is None):
        raise click.UsageError("--project PATH, and --to NEWPATH or --name NAME")
    to = there(new_path) if new_path is not None else None
    change, result = plan_split(
        face.journal, home, folder, project=os.path.expanduser(project), to=to, name=name, merge=merge, force=force
    )
    with change:
        carry_out(
            face,
            change,
            result.as_dict(),
            dry_run=dry_run,
            yes=yes,
            destructive=True,
            said=summary(result, "split off"),
        )
        if face.is_text:
            tell(face, result)
