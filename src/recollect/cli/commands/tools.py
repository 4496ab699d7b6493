"""`recollect tools`: the tool calls of a session, joined to their results.

JSON: rows of {id, name, time, duration, is_error, answered, subagent, arguments, input, result_bytes, call_uuid, result_uuid,
call_line, result_line, status, structured}, with total, errors, unanswered, orphan_results and by_tool ({name: {calls,
errors, seconds}}). `structured` is Claude Code's own `toolUseResult`. `input` and `structured` are given in JSON only.
"""

from __future__ import annotations

from typing import Any

import click

from ...export.formatting import seconds, size
from ...export.moments import local
from ...library.shapes import ToolCallShape, plain
from ..command_run import Column, CommandRun, command, session_argument


@command("tools", epilog="recollect tools last\nrecollect tools 3f2a --name Bash --errors\nrecollect tools 3f2a --json")
@session_argument
@click.option("--name", "only", metavar="TOOL", help="Only calls of this tool.")
@click.option("--errors", is_flag=True, help="Only calls that failed.")
def tools(run: CommandRun, session: str, only: str | None, errors: bool) -> None:
    """Tool calls with input, result, time taken and errors; those of subagents too."""
    with run.library.session(session) as found:
        calls = found.tools.where(name=only, failed=errors)
        run.rows(
            (call_row(call, whole=not run.is_text) for call in calls),
            (
                Column("time", "called", local),
                Column("name", "tool"),
                Column("duration", "took", seconds, right=True),
                Column("result_bytes", "result", size, right=True),
                Column("shown", "state"),
                Column("subagent"),
                Column("arguments", stretch=True),
            ),
            empty="no tool calls",
            total=len(calls),
            errors=calls.errors,
            unanswered=calls.unanswered,
            orphan_results=found.tools.orphan_results,
            by_tool=calls.by_tool,
        )
    if not calls:
        raise click.exceptions.Exit(1)


def call_row(call: ToolCallShape, *, whole: bool) -> dict[str, Any]:
    """Return a call as a row; with `whole`, including its input and the structured result."""
    row = plain(call)
    row["shown"] = "error" if call.is_error else ("" if call.answered else "no result")
    if not whole:
        del row["input"], row["structured"]
    return row
