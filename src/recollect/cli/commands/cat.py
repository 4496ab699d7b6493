"""`recollect cat`: the bytes of a session, exactly as they are on disk, damage included.

The output is put together from the lines that Recollect reads, so it is also a proof that nothing is lost. No JSON form.
"""

from __future__ import annotations

import sys

import click

from ..command_run import CommandRun, command, session_argument


@command("cat", epilog="recollect cat last > copy.jsonl\nrecollect cat 3f2a --subagent a1b2c3d | wc -l")
@session_argument
@click.option("--subagent", metavar="ID", help="A subagent's file instead of the main transcript.")
def cat(run: CommandRun, session: str, subagent: str | None) -> None:
    """Write the bytes of a session to stdout. Raw: escape sequences in it reach the terminal."""
    found = run.library.session(session)
    out = sys.stdout.buffer
    for line in found.lines(subagent):
        out.write(line.data)
    out.flush()
