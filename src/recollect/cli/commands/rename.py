"""`recollect rename`: give a session a title.

JSON: {session_id, title, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ...store.edit import plan_rename
from ..changing import carry_out, changing_options, session_to_change
from ..face import Face, command, session_argument


@command("rename", epilog='recollect rename last "Cache the tide tables"\nrecollect rename 3f2a "New name" --dry-run')
@session_argument
@click.argument("title")
@changing_options()
def rename(face: Face, session: str, title: str, dry_run: bool, yes: bool, force: bool) -> None:
    """Give SESSION a TITLE that the client shows too. The file keeps its time, so --continue picks what it picked before."""
    found = session_to_change(face, session)
    with plan_rename(face.journal, found.file, title, force=force) as change:
        result = {"session_id": found.id, "title": " ".join(title.split())}
        carry_out(face, change, result, dry_run=dry_run, yes=yes, said=f"{found.id} is now called {result['title']!r}")
