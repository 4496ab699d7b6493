"""Join rows to messages: Claude Code writes one API response as several lines; any other row is a message of its own."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from .rows import Row


class Message(Struct, gc=False):
    """One message as a reader sees it: a prompt, a response (of one or more lines), a tool result, a system row."""

    role: str
    """user, assistant, error, tool, meta, summary, system, attachment, progress."""
    rows: list[Row]

    @property
    def uuid(self) -> str | None:
        return self.rows[0].uuid

    @property
    def time(self) -> float | None:
        return next((row.time for row in self.rows if row.time is not None), None)

    @property
    def model(self) -> str | None:
        return next((row.model for row in self.rows if row.model), None)


def role_of(row: Row) -> str:
    if row.type == "assistant":
        return "error" if row.is_api_error else "assistant"
    if row.type != "user":
        return row.type
    if row.tool_results:
        return "tool"
    if row.is_compact_summary:
        return "summary"
    return "meta" if row.is_meta else "user"


def join_responses(rows: Iterable[Row]) -> list[Message]:
    """Return the messages in order. Lines of a response are joined also where results of parallel calls separate them."""
    messages: list[Message] = []
    open_response: dict[tuple[str, str | None], Message] = {}
    for row in rows:
        role = "assistant" if row.type == "assistant" and not row.is_api_error else role_of(row)
        if role == "assistant" and row.message_id:
            key = (row.message_id, row.request_id)
            known = open_response.get(key)
            if known is not None:
                known.rows.append(row)
                continue
            message = Message(role, [row])
            open_response[key] = message
            messages.append(message)
            continue
        if open_response and (role == "user" or role == "summary"):
            open_response.clear()
        messages.append(Message(role, [row]))
    return messages
