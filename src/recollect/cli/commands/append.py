"""`recollect append`: add a message to the end of a conversation.

JSON: {session_id, uuid, role, parent, bytes, change, dry_run}.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from ...errors import Refused
from ...format.encode import check_text
from ...library.writing import session_writer
from ...store.guard import refuse_if_busy
from ..changing import changing_options
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
@changing_options
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
    words = _words(text, path)
    found = face.library.session(session)
    journal = face.journal
    refuse_if_busy(found.home, found.id, found.file.path, journal, force=force)
    check_text(words)
    result: dict[str, Any] = {"session_id": found.id, "role": role, "bytes": len(words.encode())}
    if dry_run:
        result |= {"uuid": None, "parent": found.thread.leaf, "change": None, "dry_run": True}
        said = f"would append {result['bytes']} bytes as a message of the {role} below {result['parent']}"
    else:
        with session_writer(found, journal) as writer:
            parent = found.thread.chain[-1].uuid if found.thread.chain else None
            uuid = writer.append_message(role, words, model=model)
            number = writer.record.number if writer.record is not None else None
        result |= {"uuid": uuid, "parent": parent, "change": number, "dry_run": False}
        said = uuid
    if face.is_text:
        face.print(said)
    else:
        face.value(result)


def _words(text: str | None, path: str | None) -> str:
    if (text is None) == (path is None):
        raise click.UsageError("give a TEXT (or - for standard input) or --file, one of them")
    if path is not None:
        with open(path, "rb") as stream:
            data = stream.read(_LIMIT + 1)
    elif text == "-":
        data = sys.stdin.buffer.read(_LIMIT + 1)
    else:
        return text or ""
    if len(data) > _LIMIT:
        raise Refused(f"more than {_LIMIT >> 20} MB in one message", slug="too-large")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Refused(
            f"the text is no UTF-8: {problem.reason} at byte {problem.start}", slug="unusable-text"
        ) from problem
