"""`recollect thread`: the conversation as Claude Code would resume it.

JSON: session_id, client (the version of Claude Code that is meant), found, cleared, leaf, leaf_reason, reachable_share, sent
(number), counts (rows by status), and rows: for every row of the file {line, uuid, parent, type, subtype, status, reason, sent
(position from 1, or null), sent_as, repaired_to, put_back, time}. sent_as is the role under which a row's words reach the model:
user or assistant, also user for the system rows that hold the answers of local commands; null where they do not reach it.
Statuses: live, abandoned, subagent, precompact, bridged, unreachable.
"""

from __future__ import annotations

import click

from ...library.conversation_shapes import CLIENT_VERSIONS
from ..command_run import CommandRun, command, session_argument

EXAMPLES = """
recollect thread last
recollect thread 3f2a --json | jq '.counts'
recollect thread 3f2a --client 2.0.77
"""


@command("thread", epilog=EXAMPLES)
@session_argument
@click.option(
    "--client", type=click.Choice(CLIENT_VERSIONS), default=CLIENT_VERSIONS[0], show_default=True, metavar="VERSION",
    help=f"The version of Claude Code by whose rules: {', '.join(CLIENT_VERSIONS)}.",
)  # fmt: skip
def thread(run: CommandRun, session: str, client: str) -> None:
    """Uuids of the user and assistant rows that Claude Code would send to the model on --resume, in order.

    Exit code 1 and no output where Claude Code finds no conversation.
    """
    thread = run.library.session(session).resumed_by(client)
    if run.format == "json":
        run.value(thread.as_dict())
    elif run.format == "jsonl":
        run.rows(thread.as_dict()["rows"])
    else:
        for row in sorted((row for row in thread.rows if row.sent is not None), key=lambda row: row.sent or 0):
            run.print(row.uuid or f"(line {row.line} has no uuid)")
    if not thread.found:
        if run.is_text:
            run.say(f"no conversation: {thread.leaf_reason}")
        raise click.exceptions.Exit(1)
