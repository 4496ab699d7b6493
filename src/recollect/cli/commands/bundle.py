"""`recollect bundle`: sessions with all that belongs to them in one file.

JSON: {path, sessions, files, bytes}, with --redact also redaction {profile, values, kinds, left_out, words}.
"""

from __future__ import annotations

import click

from ...export.formatting import plural, size
from ..command_run import CommandRun, command, complete_session
from ..redaction import RedactingCommand, redact_option


@command(
    "bundle",
    epilog="recollect bundle 3f2a -o talk.recollect\nrecollect bundle 3f2a 9bc1 -o both.recollect\n"
    "recollect bundle 3f2a --redact -o to-share.recollect",
    cls=RedactingCommand,
)
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...", shell_complete=complete_session)
@click.option("--output", "-o", required=True, metavar="FILE", help="The new file.")
@redact_option
def bundle(run: CommandRun, sessions: tuple[str, ...], output: str, redact: str | None, same_length: bool) -> None:
    """Put SESSIONs into one file for another machine: transcript, subagents, long outputs, file history, tasks, plan.

    `recollect unbundle` takes them into a home. A bundle holds everything that was said, secrets that were typed included,
    unless --redact leaves them out.
    """
    result = run.library.bundle(sessions, output, redact=redact or "none", same_length=same_length)
    if run.is_text:
        count = plural(len(result["sessions"]), "session")
        run.print(f"{result['path']}: {count}, {plural(result['files'], 'file')}, {size(result['bytes'])}")
        if "redaction" in result:
            run.say(result["redaction"]["words"])
    else:
        run.value(result)
