"""`recollect unbundle`: take the sessions of a bundle into a home.

JSON: {files, sessions, bytes, same, left: [{path, why}], damaged, notes, change, dry_run, steps}.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import click

from ...library.bundling import Unbundling
from ...store.path_map import parse_pair
from ...vault.bundle_read import BundleLimits
from ..changing import NO_EFFECT, carry_out, changing_options
from ..face import Face, command
from ..words import plural, size
from .move import only_home
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
    face: Face, file: str, maps: tuple[str, ...], limit: int | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Take the sessions of a bundle into the home; the client lists and resumes them.

    The bundle is checked while it is unpacked: one that names a place outside of the sessions, is cut, or unpacks to more than
    it says is refused, and nothing is left of it. Files that stand there already and are not older stay.
    """
    limits = BundleLimits() if limit is None else replace(BundleLimits(), bytes=limit)
    source = Path(os.path.abspath(os.path.expanduser(file)))
    home = only_home(face)
    with Unbundling(face.journal, source, limits) as bundle:
        change, result = bundle.plan(home, [parse_pair(text) for text in maps])
        with change:
            if result.files:
                parts = (plural(len(result.sessions), "session"), plural(len(result.files), "file"), size(result.bytes))
                carry_out(
                    face,
                    change,
                    result.as_dict(),
                    dry_run=dry_run,
                    yes=yes,
                    destructive=change.takes_away,
                    said=f"unbundled {', '.join(parts)}",
                )
            elif face.is_text:
                face.print(f"nothing to do: {plural(result.same, 'file')} there already")
            else:
                face.value({**result.as_dict(), "change": None, "dry_run": dry_run, "steps": []})
        if face.is_text:
            for item in result.left:
                face.say(f"left as it is: {item['path']}: {item['why']}")
