"""`recollect archive`: mark a session as put away, by its tag and (if given) its title.

JSON: {session_id, tag, title, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ...format.encode import custom_title, encode_line
from ...store.edit import plan_tag
from ..changing import carry_out, changing_options
from ..face import Face, command, session_argument

TAG = "archived"


@command(
    "archive",
    epilog='recollect archive 3f2a\nrecollect archive 3f2a --title "Tide tables (done)"\nrecollect archive 3f2a --back',
)
@session_argument
@click.option("--title", metavar="T", help="A last title to remember it by.")
@click.option("--back", is_flag=True, help="Take it out of the archive again.")
@changing_options
def archive(face: Face, session: str, title: str | None, back: bool, dry_run: bool, yes: bool, force: bool) -> None:
    """Mark SESSION as archived (a tag that `recollect list` and the client show)."""
    found = face.library.session(session)
    with plan_tag(face.journal, found.file, None if back else TAG, force=force) as change:
        change.title = f"{'Take out of' if back else 'Put into'} the archive: {found.id}"
        if title:
            change.append(found.file.path, encode_line(custom_title(found.id, " ".join(title.split()))))
        result = {"session_id": found.id, "tag": None if back else TAG, "title": title}
        said = f"{found.id} is {'no longer ' if back else ''}archived"
        carry_out(face, change, result, dry_run=dry_run, yes=yes, said=said)
