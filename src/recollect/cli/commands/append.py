"""`recollect append`: add a message to the end of a conversation.

JSON: {session_id, uuid, role, parent, bytes, change, dry_run, steps}. `bytes` are those of the text.
"""

from __future__ import annotations

import click

from ...errors import Refused
from .. import streams
from ..changing import carry_out, changing_options
from ..command_run import CommandRun, command, session_argument

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
    run: CommandRun,
    session: str,
    role: str,
    model: str | None,
    path: str | None,
    text: str | None,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Append TEXT (or --file F, or - for standard input) as a message that Claude Code resumes with."""
    if model is not None and role == "user":
        raise click.UsageError("--model is for answers: --role assistant")
    if model is not None and not model.strip():
        raise click.UsageError("--model must not be empty")
    with run.changes.append(session, role, _words(text, path), model=model, force=force) as plan:
        carry_out(run, plan, dry_run=dry_run, yes=yes)


def _words(text: str | None, path: str | None) -> str:
    if (text is None) == (path is None):
        raise click.UsageError("give a TEXT (or - for standard input) or --file, one of them")
    if path is not None:
        with open(path, "rb") as stream:
            data = stream.read(_LIMIT + 1)
    elif text == "-":
        data = streams.read_stdin_bytes(_LIMIT + 1)
    else:
        return text or ""
    if len(data) > _LIMIT:
        raise Refused(f"more than {_LIMIT >> 20} MB in one message", slug="too-large")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Refused(
            f"the text is not UTF-8: {problem.reason} at byte {problem.start}", slug="unusable-text"
        ) from problem
