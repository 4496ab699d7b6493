"""`recollect tools`: the tool calls of a session, joined to their results.

JSON: rows of {id, name, time, duration, is_error, answered, subagent, arguments, input, result_bytes, call_uuid, result_uuid,
call_line, result_line, status, structured}, with total, errors, unanswered, orphan_results and by_tool ({name: {calls,
errors, seconds}}). `structured` is the client's own `toolUseResult`. `input` and `structured` are given in JSON only.
"""

from __future__ import annotations

from typing import Any

import click

from ...export.formatting import seconds, size
from ...graph.tool_calls import ToolCall
from ...library.session import Session
from ...library.shapes import plain, tool_call_shape
from ..face import Column, Face, command, session_argument
from ..moments import local


@command("tools", epilog="recollect tools last\nrecollect tools 3f2a --name Bash --errors\nrecollect tools 3f2a --json")
@session_argument
@click.option("--name", "only", metavar="TOOL", help="Only calls of this tool.")
@click.option("--errors", is_flag=True, help="Only calls that failed.")
def tools(face: Face, session: str, only: str | None, errors: bool) -> None:
    """Tool calls with input, result, time taken and errors; those of subagents too."""
    found = face.library.session(session)
    pairs = found.conversation.tools
    calls = [
        call for call in pairs.calls if (only is None or call.name == only) and (not errors or call.is_error)
    ]  # fmt: skip
    by_tool: dict[str, dict[str, Any]] = {}
    for call in calls:
        told = by_tool.setdefault(call.name, {"calls": 0, "errors": 0, "seconds": 0.0})
        told["calls"] += 1
        told["errors"] += call.is_error
        told["seconds"] = round(told["seconds"] + (call.duration or 0.0), 3)
    face.rows(
        (call_row(found, call, whole=not face.is_text) for call in calls),
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
        errors=sum(call.is_error for call in calls),
        unanswered=sum(call.result is None for call in calls),
        orphan_results=[{"id": ident, "uuid": row.uuid, "line": row.line} for ident, row in pairs.orphan_results],
        by_tool=by_tool,
    )
    if not calls:
        raise click.exceptions.Exit(1)


def call_row(session: Session, call: ToolCall, *, whole: bool) -> dict[str, Any]:
    row = plain(tool_call_shape(session, call))
    row["shown"] = "error" if call.is_error else ("" if call.result is not None else "no result")
    if not whole:
        del row["input"], row["structured"]
    return row
