"""`recollect new`: begin an empty session, to which messages are appended.

JSON: {session_id, path, project, change, dry_run, steps}.
"""

from __future__ import annotations

import uuid

import click

from ...library.project_paths import refuse_missing_folder
from ...store.edit import title_words
from ...store.new_session import plan_new_session
from ...store.scan import refuse_taken_id
from ..changing import NO_EFFECT, carry_out, changing_options
from ..face import Face, command
from .move import there


@command(
    "new",
    epilog='recollect new --project . --title "Notes"\nrecollect new --project ~/app --id "$(uuidgen | tr A-Z a-z)"',
)
@click.option(
    "--project", required=True, metavar="DIR", help="The working directory in which the client will resume it."
)
@click.option("--title", metavar="T", help="The title that lists show.")
@click.option("--id", "session_id", metavar="UUID", help="The session's id; made up where not given.")
@changing_options(NO_EFFECT)
def new(
    face: Face, project: str, title: str | None, session_id: str | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Begin an empty session in DIR and print its id.

    The client resumes it once it has a message: `recollect append` adds one.
    """
    home = face.library.homes[0]
    ident = str(uuid.uuid4()) if session_id is None else session_id
    for each in face.library.homes:
        refuse_taken_id(each, ident)
    words = None if title is None else title_words(title)
    cwd = there(project)
    refuse_missing_folder(cwd)
    change, path = plan_new_session(face.journal, home, cwd, ident, title=words)
    with change:
        result = {"session_id": ident, "path": str(path), "project": cwd}
        carry_out(face, change, result, dry_run=dry_run, yes=yes, said=ident)
    if face.is_text and not dry_run:
        face.say("it is empty: `recollect append` gives it the first message, with which the client resumes it")
