"""`recollect tools`: the tool calls of a session, joined to their results.

JSON: rows of {id, name, time, duration, is_error, answered, agent, arguments, input, result_bytes, call_uuid, result_uuid,
call_line, result_line, status, structured}, with total, errors, unanswered, orphan_results and by_tool ({name: {calls,
errors, seconds}}). `structured` is the client's own `toolUseResult`. `input` and `structured` are given in JSON only.
"""

from __future__ import annotations

from typing import Any

import click

from ...format.blocks import ToolResultBlock, ToolUseBlock
from ...format.times import to_iso
from ...graph.tool_calls import ToolCall
from ...library.session import Session
from ...library.wording import argument_line
from ..face import Column, Face, command, session_argument
from ..moments import local
from ..words import seconds, size


@command("tools", epilog="recollect tools last\nrecollect tools 3f2a --name Bash --errors\nrecollect tools 3f2a --json")
@session_argument
@click.option("--name", "only", metavar="TOOL", help="Only calls of this tool.")
@click.option("--errors", is_flag=True, help="Only calls that failed.")
def tools(face: Face, session: str, only: str | None, errors: bool) -> None:
    """Tool calls with input, result, time taken and errors; those of sub-agents too."""
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
            Column("agent"),
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
    view = session.messages([call.call])[0]
    uses = [block for block in view.blocks if isinstance(block, ToolUseBlock) and block.id == call.id]
    arguments = uses[0].input if uses else None
    text = ""
    structured = None
    if call.result is not None:
        value = session.value(call.result)
        structured = value.get("toolUseResult")
        for block in session.messages([call.result])[0].blocks:
            if isinstance(block, ToolResultBlock) and block.tool_use_id == call.id:
                text = block.text()
    row: dict[str, Any] = {
        "id": call.id,
        "name": call.name,
        "time": to_iso(call.call.time),
        "duration": call.duration,
        "is_error": call.is_error,
        "answered": call.result is not None,
        "agent": call.call.agent_id if call.call.sidechain or call.call.file else None,
        "arguments": argument_line(arguments, 160),
        "result_bytes": len(text.encode("utf-8", "replace")) if call.result is not None else None,
        "call_uuid": call.call.uuid,
        "result_uuid": call.result.uuid if call.result is not None else None,
        "call_line": call.call.line,
        "result_line": call.result.line if call.result is not None else None,
        "status": session.thread.placements[call.call.index].status if call.call.file == 0 else "agent",
        "shown": "error" if call.is_error else ("" if call.result is not None else "no result"),
    }
    if whole:
        row |= {"input": arguments, "structured": structured}
    return row
