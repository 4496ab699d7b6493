"""`recollect move`: a project's folder was moved or renamed; its sessions and settings follow.

JSON: {pairs, folders, sessions, transcripts_edited, paths_edited, backups_renamed, history_lines, config_projects, notes,
change, dry_run, steps}.
"""

from __future__ import annotations

import os

import click

from ...errors import Refused
from ...store.home import Home
from ...store.move import MoveResult, plan_move
from ...store.path_map import is_windows_path, parse_pair
from ...store.trash import DeleteResult
from ..changing import carry_out, changing_options
from ..face import Face, command


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
@changing_options("Go ahead while clients work in other projects. Never moves what is in use.")
def move(
    face: Face,
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
    --force goes ahead while clients work in other projects.
    """
    pairs = [parse_pair(text) for text in maps]
    if old is not None and new is not None:
        pairs.insert(0, (here(old), there(new)))
    elif old is not None or not pairs:
        raise click.UsageError("OLD and NEW, or --map OLD=NEW")
    change, result = plan_move(face.journal, only_home(face), *pairs[0], maps=pairs[1:], merge=merge, force=force)
    with change:
        if not dry_run and face.is_text:
            tell(face, result)
        carry_out(
            face, change, result.as_dict(), dry_run=dry_run, yes=yes, destructive=True, said=summary(result, "moved")
        )
        if dry_run and face.is_text:
            tell(face, result)


def here(path: str) -> str:
    """A path as it was: links are not followed, since it may be gone."""
    return path if is_windows_path(path) else os.path.abspath(os.path.expanduser(_named(path)))


def there(path: str) -> str:
    """A path as the client will see it: it resolves links."""
    return path if is_windows_path(path) else os.path.realpath(os.path.expanduser(_named(path)))


def _named(path: str) -> str:
    """An empty path would be the current folder, which nobody meant."""
    if not path.strip():
        raise click.UsageError("a path must not be empty")
    return path


def only_home(face: Face) -> Home:
    homes = face.library.homes
    if len(homes) > 1:
        raise Refused(
            "there are several homes", hint="name the one that is meant with --home DIR", slug="several-homes"
        )
    return homes[0]


def summary(result: MoveResult, verb: str) -> str:
    parts = [f"{verb} {_count(len(result.sessions), 'session')} in {_count(len(result.folders), 'folder')}"]
    if result.history_lines:
        parts.append(_count(result.history_lines, "prompt"))
    if result.config_projects:
        parts.append(_count(len(result.config_projects), "entry", "entries") + " of the config")
    if result.backups_renamed:
        parts.append(_count(result.backups_renamed, "file backup"))
    return ", ".join(parts)


def tell(face: Face, result: MoveResult | DeleteResult) -> None:
    for note in result.notes:
        face.say(f"note: {note}")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
