"""Sessions, messages and their numbers as dictionaries, with the names of the files: what the provider answers with."""

from __future__ import annotations

from typing import Any

from ..format.times import to_iso
from ..format.usage import Usage
from ..graph.rows import Row
from ..store.summary import SessionSummary, one_line
from .session import MessageView, Session


def session_dict(item: SessionSummary) -> dict[str, Any]:
    return {
        "sessionId": item.session_id,
        "projectPath": item.project,
        "title": one_line(item.title),
        "firstPrompt": item.first_prompt,
        "messageCount": item.messages,
        "created": to_iso(item.created),
        "modified": to_iso(item.file.mtime),
        "gitBranch": item.git_branch,
        "version": item.version,
        "agents": [agent.agent_id for agent in item.file.agents],
        "path": str(item.file.path),
        "bytes": item.file.size,
    }


def message_dict(session: Session, view: MessageView) -> dict[str, Any]:
    """A message with its content as on disk."""
    values = [session.value(row) for row in view.rows]
    content: list[Any] = []
    for value in values:
        message = value.get("message")
        body = message.get("content") if isinstance(message, dict) else value.get("content")
        content.extend(body if isinstance(body, list) else [{"type": "text", "text": body}] if body is not None else [])
    return {
        "uuid": view.uuid,
        "parentUuid": view.rows[0].parent,
        "role": "assistant" if view.role in ("assistant", "error") else "user",
        "kind": view.role,
        "text": view.text,
        "content": content,
        "model": view.model,
        "timestamp": to_iso(view.time),
        "isSidechain": view.rows[0].sidechain,
        "status": view.status,
    }


def session_stats(session: Session) -> dict[str, Any]:
    graph = session.conversation
    usage = _usage(session, [session.transcript.rows, *(agent.rows for agent in graph.agents if agent.file)])
    times = [row.time for row in session.transcript.rows if row.time is not None]
    return {
        "sessionId": session.id,
        "rows": len(session.transcript.rows),
        "messages": sum(1 for row in session.transcript.rows if row.is_message),
        "threadMessages": len(graph.thread.sent),
        "branches": len(graph.branches),
        "compactions": len(graph.compactions),
        "agents": len(graph.agents),
        "toolCalls": len(graph.tools.calls),
        "toolErrors": sum(call.is_error for call in graph.tools.calls),
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheWriteTokens": usage.cache_write_5m + usage.cache_write_1h,
        "cacheReadTokens": usage.cache_read,
        "reachableShare": graph.thread.reachable_share,
        "first": to_iso(min(times, default=None)),
        "last": to_iso(max(times, default=None)),
    }


def _usage(session: Session, groups: list[list[Row]]) -> Usage:
    """Tokens of a session: one API response is counted once, however many lines and copies it has."""
    responses: dict[tuple[str, str | None], Usage] = {}
    for rows in groups:
        wanted = [row for row in rows if row.type == "assistant" and row.message_id and row.model != "<synthetic>"]
        for view in session.messages([row for row in wanted if not row.is_api_error]):
            if view.usage is None:
                continue
            key = (view.rows[0].message_id or "", view.rows[0].request_id)
            known = responses.get(key)
            responses[key] = view.usage if known is None else known.maximum(view.usage)
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
