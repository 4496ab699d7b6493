"""`recollect thread`: the conversation as the client would resume it.

JSON: session_id, found, cleared, leaf, leaf_reason, reachable_share, sent (number), counts (rows by status), and rows: for every
row of the file {line, uuid, parent, type, subtype, status, reason, sent (position from 1, or null), mended_to, put_back, time}.
Statuses: live, abandoned, agent, precompact, bridged, unreachable.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from ...format.times import to_iso
from ...library.session import Session
from ..face import Face, command, session_argument


@command("thread", epilog="recollect thread last\nrecollect thread 3f2a --json | jq '.counts'")
@session_argument
def thread(face: Face, session: str) -> None:
    """Uuids of the user and assistant rows that the client would send to the model on --resume, in order.

    Exit code 1 and no output where the client finds no conversation.
    """
    found = face.library.session(session)
    active = found.thread
    if face.format == "json":
        face.value(thread_data(found))
    elif face.format == "jsonl":
        face.rows(thread_data(found)["rows"])
    else:
        for row in active.sent:
            face.print(row.uuid or f"(line {row.line} has no uuid)")
    if not active.found:
        if face.is_text:
            face.say(f"no conversation: {active.leaf_reason}")
        raise click.exceptions.Exit(1)


def thread_data(session: Session) -> dict[str, Any]:
    active = session.thread
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
            "mended_to": active.mended.get(row.uuid or ""),
            "put_back": row.uuid in active.put_back,
            "time": to_iso(row.time),
        }
        for row, place in zip(session.transcript.rows, active.placements, strict=True)
    ]
    return {
        "session_id": session.id,
        "found": active.found,
        "cleared": active.cleared,
        "leaf": active.leaf,
        "leaf_reason": active.leaf_reason,
        "reachable_share": round(active.reachable_share, 6),
        "sent": len(active.sent),
        "counts": dict(Counter(place.status for place in active.placements)),
        "rows": rows,
    }
