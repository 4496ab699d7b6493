"""`recollect tree`: the branches of a session, drawn.

JSON: session_id, leaf, leaf_reason, reachable_share, counts (rows by status), roots, orphans, circles, compactions (list of
{uuid, line, trigger, pre_tokens, post_tokens, preserved, rows_before, summary}), turns of the thread (list of {prompt,
uuid, time, rows, tool_calls, duration, precompact}) and rows: branches of {number, status, left_at, parent_branch,
messages, rows, prompt, prompt_uuid, leaf, first, last, reason}, with total.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...export.formatting import one_line, plural, seconds
from ...format.times import local_minute, to_iso
from ...graph.branches import Branch
from ...library.session import Session
from ...library.shapes import branch_shapes, plain, prompt_words
from ..face import Face, command, session_argument


@command("tree", epilog="recollect tree last\nrecollect tree 3f2a --json")
@session_argument
def tree(face: Face, session: str) -> None:
    """The turns of the conversation with its compactions, and every branch where it left."""
    found = face.library.session(session)
    if not face.is_text:
        data = tree_data(found)
        if face.format == "json":
            rows = data.pop("rows")
            face.rows(rows, **data)
        else:
            face.rows(data["rows"])
        return
    for line in _draw(face, found):
        face.print_styled(line)


def tree_data(session: Session) -> dict[str, Any]:
    graph = session.conversation
    thread = graph.thread
    live = {row.index for row in thread.chain}
    return {
        "session_id": session.id,
        "leaf": thread.leaf,
        "leaf_reason": thread.leaf_reason,
        "reachable_share": round(thread.reachable_share, 6),
        "counts": dict(Counter(place.status for place in thread.placements)),
        "roots": graph.tree.roots,
        "orphans": graph.tree.orphans,
        "circles": graph.tree.circles,
        "compactions": [
            {
                "uuid": item.boundary.uuid,
                "line": item.boundary.line,
                "trigger": item.trigger,
                "pre_tokens": item.pre_tokens,
                "post_tokens": item.post_tokens,
                "preserved": item.preserved,
                "rows_before": item.rows_before,
                "summary": item.summary.uuid if item.summary is not None else None,
            }
            for item in graph.compactions
        ],
        "turns": [
            {
                "prompt": prompt_words(session, turn.prompt, 200),
                "uuid": turn.prompt.uuid if turn.prompt is not None else None,
                "time": to_iso(turn.rows[0].time),
                "rows": len(turn.rows),
                "tool_calls": turn.tool_calls,
                "duration": turn.duration,
                "precompact": turn.rows[0].index not in live,
            }
            for turn in graph.turns(graph.full_history())
        ],
        "rows": [plain(item) for item in branch_shapes(session)],
        "total": len(graph.branches),
    }


def _draw(face: Face, session: Session) -> list[str]:
    graph = session.conversation
    thread = graph.thread
    lines = [face.style(one_line(session.summary.title, 100) or "(no title)", bold=True)]
    counts = Counter(place.status for place in thread.placements)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    lines.append(face.style(f"{session.id} · {told or 'no rows'} · {thread.reachable_share:.0%} reachable", dim=True))
    lines.append("")
    left: dict[str | None, list[Branch]] = {}
    for branch in graph.branches:
        left.setdefault(branch.left_at if branch.status == "abandoned" else None, []).append(branch)
    live = {row.index for row in thread.chain}
    for turn in graph.turns(graph.full_history()):
        seam = next((row for row in turn.rows if row.is_boundary), None)
        before = turn.rows[0].index not in live
        words = prompt_words(session, turn.prompt) or "(no prompt)"
        took = seconds(turn.duration)
        calls = plural(turn.tool_calls, "call") if turn.tool_calls else ""
        note = "  ".join(item for item in (local_minute(turn.rows[0].time), calls, took) if item)
        if turn.prompt is not None or not seam:
            mark = face.style("○" if before else "●", fg="yellow" if before else "green")
            lines.append(f"{mark} {face.style(words)}  {face.style(note, dim=True)}")
        for row in turn.rows:
            if row.is_boundary:
                lines.append(face.style("╪ compacted: what is above was replaced by a summary", fg="yellow"))
            for branch in left.pop(row.uuid, ()):
                lines.extend(_draw_branch(face, session, branch, left, 1))
    for branch in left.pop(None, ()):
        lines.extend(_draw_branch(face, session, branch, left, 0))
    for rest in list(left.values()):
        for branch in rest:
            lines.extend(_draw_branch(face, session, branch, {}, 0))
    return lines


def _draw_branch(
    face: Face, session: Session, branch: Branch, left: dict[str | None, list[Branch]], depth: int
) -> list[str]:
    lines: list[str] = []
    stack = [(branch, depth)]
    while stack:
        item, level = stack.pop()
        words = prompt_words(session, item.prompt) or "(no prompt)"
        color = "red" if item.status == "unreachable" else "blue"
        head = face.style(f"├─ branch {item.number} ({item.status}, {plural(item.messages, 'message')})", fg=color)
        lines.append("│ " * (level - 1) + f"{head} {face.style(words)}")
        if item.status == "unreachable":
            lines.append("│ " * level + face.style(item.reason, dim=True))
        for row in reversed(item.rows):
            stack.extend((below, level + 1) for below in reversed(left.pop(row.uuid, [])))
    return lines
