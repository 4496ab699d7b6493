"""`recollect thread`: the conversation as the client would resume it.

JSON: session_id, client (the version of Claude Code that is meant), found, cleared, leaf, leaf_reason, reachable_share, sent
(number), counts (rows by status), and rows: for every row of the file {line, uuid, parent, type, subtype, status, reason, sent
(position from 1, or null), sent_as, mended_to, put_back, time}. sent_as is the role under which a row's words reach the model:
user or assistant, also user for the system rows that hold the answers of local commands; null where they do not reach it.
Statuses: live, abandoned, subagent, precompact, bridged, unreachable.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from ...format.times import to_iso
from ...graph.older import MEASURED, find_thread_of, sent_as_user
from ...graph.thread import Thread
from ...library.session import Session
from ..command_run import CommandRun, command, session_argument

EXAMPLES = """
recollect thread last
recollect thread 3f2a --json | jq '.counts'
recollect thread 3f2a --client 2.0.77
"""


@command("thread", epilog=EXAMPLES)
@session_argument
@click.option(
    "--client", type=click.Choice(MEASURED), default=MEASURED[0], show_default=True, metavar="VERSION",
    help=f"The version of Claude Code by whose rules: {', '.join(MEASURED)}.",
)  # fmt: skip
def thread(run: CommandRun, session: str, client: str) -> None:
    """Uuids of the user and assistant rows that the client would send to the model on --resume, in order.

    Exit code 1 and no output where the client finds no conversation.
    """
    found = run.library.session(session)
    active = found.thread if client == MEASURED[0] else find_thread_of(found.transcript, client)
    if run.format == "json":
        run.value(thread_data(found, active, client))
    elif run.format == "jsonl":
        run.rows(thread_data(found, active, client)["rows"])
    else:
        for row in active.sent:
            run.print(row.uuid or f"(line {row.line} has no uuid)")
    if not active.found:
        if run.is_text:
            run.say(f"no conversation: {active.leaf_reason}")
        raise click.exceptions.Exit(1)


def thread_data(session: Session, active: Thread, client: str) -> dict[str, Any]:
    roles = {row.index: row.type for row in active.sent} | {row.index: "user" for row in sent_as_user(active, client)}
    position = {row.index: number for number, row in enumerate(active.sent, 1)}
    rows = [
        {
            "line": row.line,
            "uuid": row.uuid,
            "parent": row.parent,
            "type": row.type,
            "subtype": row.subtype,
            "status": place.status,
            "reason": place.reason,
            "sent": position.get(row.index),
            "sent_as": roles.get(row.index),
            "mended_to": active.mended.get(row.uuid or ""),
            "put_back": row.uuid in active.put_back,
            "time": to_iso(row.time),
        }
        for row, place in zip(session.transcript.rows, active.placements, strict=True)
    ]
    return {
        "session_id": session.id,
        "client": client,
        "found": active.found,
        "cleared": active.cleared,
        "leaf": active.leaf,
        "leaf_reason": active.leaf_reason,
        "reachable_share": round(active.reachable_share, 6),
        "sent": len(active.sent),
        "counts": dict(Counter(place.status for place in active.placements)),
        "rows": rows,
    }
