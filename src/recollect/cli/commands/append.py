"""`recollect append`: add a message to the end of a conversation.

JSON: {session_id, uuid, role, parent, bytes, change, dry_run, steps}. `bytes` are those of the text.
"""

from __future__ import annotations

from typing import Any

import click

from ...errors import Refused
from ...format.encode import check_message, check_text
from ...library.writing import session_writer
from .. import standard_input
from ..changing import carry_out, changing_options, session_to_change, tell_undo
from ..face import Face, command, session_argument

_LIMIT = 50 << 20


@command(
    "append",
    epilog='recollect append last --role user "And the tests?"\n'
    "recollect append 3f2a --role assistant --model claude-opus-5 --file answer.md\n"
    "git diff | recollect append 3f2a --role user -",
)
@session_argument
@click.option("--role", required=True, type=click.Choice(["user", "assistant"]))
@click.option("--model", metavar="M", help="The model of an answer; without it, the session's last one.")
@click.option("--file", "path", type=click.Path(exists=True, dir_okay=False), help="Take the text from a file.")
@click.argument("text", required=False)
@changing_options()
def append(
    face: Face,
    session: str,
    role: str,
    model: str | None,
    path: str | None,
    text: str | None,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Append TEXT (or --file F, or - for standard input) as a message that the client resumes with."""
    if model is not None and role == "user":
        raise click.UsageError("--model is for answers: --role assistant")
    if model is not None and not model.strip():
        raise click.UsageError("--model must not be empty")
    words = _words(text, path)
    found = session_to_change(face, session)
    check_text(words)
    check_message(words)
    result: dict[str, Any] = {"session_id": found.id, "role": role, "bytes": len(words.encode())}
    with session_writer(found, face.journal, force=force) as writer:
        if dry_run:
            line = writer.planned_line(role, words, model=model)
            title = f"Append a message of the {role} to {found.id}, below {writer.leaf or 'nothing'}"
            with face.journal.change(found.home, "append", title) as change:
                change.append(found.file.path, line)
                planned = {**result, "parent": writer.leaf, "uuid": None}
                carry_out(face, change, planned, dry_run=True, yes=yes, said="")
            return
        uuid = writer.append_message(role, words, model=model)
        result["parent"] = writer.hung_on
        record = writer.record
    if face.is_text:
        face.print(uuid)
        if record is not None:
            tell_undo(face, record)
        return
    steps = [] if record is None else [action.describe() for action in record.actions]
    number = None if record is None else record.number
    face.value({**result, "uuid": uuid, "change": number, "dry_run": False, "steps": steps})


def _words(text: str | None, path: str | None) -> str:
    if (text is None) == (path is None):
        raise click.UsageError("give a TEXT (or - for standard input) or --file, one of them")
    if path is not None:
        with open(path, "rb") as stream:
            data = stream.read(_LIMIT + 1)
    elif text == "-":
        data = standard_input.read_bytes(_LIMIT + 1)
    else:
        return text or ""
    if len(data) > _LIMIT:
        raise Refused(f"more than {_LIMIT >> 20} MB in one message", slug="too-large")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Refused(
            f"the text is no UTF-8: {problem.reason} at byte {problem.start}", slug="unusable-text"
        ) from problem
