"""`recollect statusline`: one line for the status line of Claude Code.

No JSON form. It prints text only: model, cost of the session and of today, the five-hour block, and how full the context is.
"""

from __future__ import annotations

import click

from ..command_run import CommandRun, command
from ..installing import install, install_options


@command(
    "statusline", epilog='echo \'{"session_id": "3f2a..."}\' | recollect statusline\nrecollect statusline --install'
)
@click.option("--timezone", metavar="Z", help="Time zone of today. Default: the system's.")
@install_options
def statusline(run: CommandRun, timezone: str | None, put_in: bool, take_out: bool, dry_run: bool, yes: bool) -> None:
    """Read what Claude Code sends on stdin and print one line. It never fails.

    --install lets Claude Code show that line.
    """
    if put_in or take_out:
        install(run, "statusline", remove=take_out, yes=yes, dry_run=dry_run)
        return
    from ..lean_statusline import print_statusline, read_input

    print_statusline(read_input(), run.homes, timezone)
