"""`recollect new`: begin a session that the client can resume.

JSON: {session_id, path, project, change, dry_run, steps}.
"""

from __future__ import annotations

import os
import uuid

import click

from ...errors import Refused
from ...format.encode import custom_title, encode_line
from ...store.append import project_folder
from ...store.scan import is_session_id
from ..changing import carry_out, changing_options
from ..face import Face, command


@command(
    "new",
    epilog='recollect new --project . --title "Notes"\nrecollect new --project ~/app --id "$(uuidgen | tr A-Z a-z)"',
)
@click.option(
    "--project", required=True, metavar="DIR", help="The working directory in which the client will resume it."
)
@click.option("--title", metavar="T", help="The title that lists show.")
@click.option("--id", "session_id", metavar="UUID", help="The session's id; made up where not given.")
@changing_options
def new(
    face: Face, project: str, title: str | None, session_id: str | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Begin an empty session in DIR and print its id; `recollect append` adds messages."""
    home = face.library.homes[0]
    ident = session_id or str(uuid.uuid4())
    if not is_session_id(ident):
        raise Refused(f"{ident!r} is no UUID in lower case", slug="bad-session-id")
    if any(file.session_id == ident for file in face.library.files()):
        raise Refused(f"session {ident} is there already", slug="exists")
    cwd = os.path.realpath(os.path.expanduser(project))
    if not os.path.isdir(cwd):
        raise Refused(
            f"{project} is no folder", hint="the client resumes a session in its project's folder", slug="no-folder"
        )
    path = project_folder(home, cwd) / f"{ident}.jsonl"
    lines = [
        {"type": "relocated", "sessionId": ident, "relocatedCwd": cwd}
    ]  # without rows, nothing else tells the project
    if title:
        lines.append(custom_title(ident, " ".join(title.split())))
    with face.journal.change(home, "new", f"New session {ident} in {cwd}") as change:
        change.append(path, b"".join(encode_line(line) for line in lines), create=True)
        result = {"session_id": ident, "path": str(path), "project": cwd}
        carry_out(face, change, result, dry_run=dry_run, yes=yes, said=ident)
