"""`recollect fork`: a conversation up to some message as a session of its own.

JSON: {session_id, path, from, at, leaf, title, keep_uuids, rows, messages, sent, state_lines, left_out {kind: number}, subagents
[ids], tool_results, file_backups, change, dry_run, steps}.
"""

from __future__ import annotations

import click

from ..changing import NO_EFFECT, carry_out, changing_options, tell_undo
from ..command_run import CommandRun, command, session_argument

EXAMPLES = """
recollect fork last
recollect fork 3f2a --at 81c0e2 --title "Without the cache"
recollect fork 3f2a --branch 1 --dry-run
"""


@command("fork", epilog=EXAMPLES)
@session_argument
@click.option("--at", metavar="MESSAGE", help="Where the fork ends: #12, line:292, a uuid or the start of one.")
@click.option("--branch", type=click.IntRange(min=1), metavar="N", help="Fork branch N (see `recollect tree`).")
@click.option("--keep-uuids", is_flag=True, help="Messages keep their uuids, as with Claude Code's --fork-session.")
@click.option("--title", metavar="T", help="The fork's title; without it, the old one and '(fork)'.")
@click.option("--no-subagents", is_flag=True, help="Leave the subagents' transcripts behind.")
@click.option("--no-tool-results", is_flag=True, help="Leave long outputs behind; messages lead to the original's.")
@click.option("--no-file-history", is_flag=True, help="Leave the checkpoints of files behind.")
@changing_options(NO_EFFECT)
def fork(
    run: CommandRun,
    session: str,
    at: str | None,
    branch: int | None,
    keep_uuids: bool,
    title: str | None,
    no_subagents: bool,
    no_tool_results: bool,
    no_file_history: bool,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Make a new session of SESSION's conversation: all of it, up to a message, or one of its branches.

    The new session's id is printed. SESSION itself is only read, so it may be in use.
    """
    if at is not None and branch is not None:
        raise click.UsageError("--at and --branch cannot be used together")
    plan = run.changes.fork(
        session, at=at, branch=branch, keep_uuids=keep_uuids, title=title, with_subagents=not no_subagents,
        with_tool_results=not no_tool_results, with_file_history=not no_file_history,
    )  # fmt: skip
    with plan:
        if dry_run or not run.is_text:
            carry_out(run, plan, dry_run=dry_run, yes=yes)
            return
        done = plan.commit()
    run.print(plan.result["session_id"])
    tell_undo(run, done)
    run.say(plan.said)
