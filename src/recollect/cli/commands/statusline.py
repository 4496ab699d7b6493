"""`recollect statusline`: one line for the status line of Claude Code.

No JSON form. It prints text only: model, cost of the session and of today, the five-hour block, and how full the context is.
"""

from __future__ import annotations

import click

from ..command_run import CommandRun, command


@command("statusline", epilog='echo \'{"session_id": "3f2a..."}\' | recollect statusline')
@click.option("--timezone", metavar="Z", help="Time zone of today. Default: the system's.")
def statusline(run: CommandRun, timezone: str | None) -> None:
    """Read the client's JSON on stdin and print one line. It never fails."""
    from ..lean_statusline import print_statusline, read_input

    print_statusline(read_input(), run.homes, timezone)
