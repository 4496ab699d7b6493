"""Count the figures of one session from its rows, for the answers of the provider."""

from __future__ import annotations

from typing import Any

from ..format.times import to_iso
from ..format.usage import Usage
from ..graph.rows import Row
from .session import Session


def session_stats(session: Session) -> dict[str, Any]:
    graph = session.conversation
    usage = _usage(
        session, [session.transcript.rows, *(subagent.rows for subagent in graph.subagents if subagent.file)]
    )
    times = [row.time for row in session.transcript.rows if row.time is not None]
    return {
        "session_id": session.id,
        "rows": len(session.transcript.rows),
        "messages": sum(1 for row in session.transcript.rows if row.is_message),
        "thread_messages": len(graph.thread.sent),
        "branches": len(graph.branches),
        "compactions": len(graph.compactions),
        "subagents": len(graph.subagents),
        "tool_calls": len(graph.tools.calls),
        "tool_errors": sum(call.is_error for call in graph.tools.calls),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_write": usage.cache_write_5m + usage.cache_write_1h,
        "cache_read": usage.cache_read,
        "reachable_share": graph.thread.reachable_share,
        "first": to_iso(min(times, default=None)),
        "last": to_iso(max(times, default=None)),
    }


def _usage(session: Session, groups: list[list[Row]]) -> Usage:
    """Sum the tokens of a session. An API response counts once, however many lines and copies it has.

    A subagent's row of the same message under another request is a copy, too: see `index.api_calls.dedupe`.
    """
    responses: dict[tuple[str, str | None], Usage] = {}
    of_main: dict[tuple[str, str | None], bool] = {}
    for rows in groups:
        wanted = [row for row in rows if row.type == "assistant" and row.message_id and row.model != "<synthetic>"]
        for view in session.messages([row for row in wanted if not row.is_api_error]):
            if view.usage is None:
                continue
            key = (view.rows[0].message_id or "", view.rows[0].request_id)
            known = responses.get(key)
            responses[key] = view.usage if known is None else known.maximum(view.usage)
            of_main[key] = of_main.get(key, False) or (rows is groups[0] and not view.rows[0].sidechain)
    counted: set[str] = set()
    for key in sorted(responses, key=lambda key: not of_main[key]):
        if not of_main[key] and key[0] in counted:
            del responses[key]
        counted.add(key[0])
    total = Usage()
    for item in responses.values():
        total = Usage(
            total.input_tokens + item.input_tokens,
            total.output_tokens + item.output_tokens,
            total.cache_write_5m + item.cache_write_5m,
            total.cache_write_1h + item.cache_write_1h,
            total.cache_read + item.cache_read,
            total.web_searches + item.web_searches,
            total.odd or item.odd,
        )
    return total
