"""Export conversations as chat messages, one conversation a line, as OpenAI's fine-tuning and many tools read them.

The main conversation is a line, and each of its subagents is another. Tool calls are functions; every call is answered, as the
format demands: where the transcript has no result, the answer says so. Thinking, pictures and what only Claude Code says to
itself have no place in the format, and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from .conversation import ShownMessage
from .document import DAMAGED, Document, ExportOptions
from .formats import Output
from .json_text import json_text

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64
_ROLES: Final = {"user": "user", "summary": "user", "assistant": "assistant", "meta": "user"}


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write documents as lines of chat messages."""
    out.write(out.name, _lines(documents))


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        yield from _line(document, document.messages())
        if document.options.depth in ("tools", "all") and document.options.is_whole:
            for subagent in document.subagents:
                if subagent.rows and not document.session.file.is_gone:
                    yield from _line(document, document.subagent_messages(subagent))


def _line(document: Document, messages: Iterable[ShownMessage]) -> Iterator[str]:
    """Write one conversation; nothing if it has no message that the format holds."""
    is_open = False
    for message in messages:
        for row in _rows(document, message):
            yield ("," if is_open else '{"messages":[') + json_text(row)
            is_open = True
    if is_open:
        yield "]}\n"


def _rows(document: Document, message: ShownMessage) -> Iterator[dict[str, Any]]:
    role = _ROLES.get(message.role)
    if role is None:
        document.leave_out("damaged line" if message.role == DAMAGED else f"{message.role} message")
        return
    texts: list[str] = []
    calls = []
    for part in message.parts:
        if part.call is not None:
            calls.append(part.call)
        elif part.kind in ("text", "plain") and part.text.strip():
            texts.append(part.text)
        else:
            kind = part.media.kind if part.media is not None else part.kind
            document.leave_out("thinking block" if kind == "thinking" else f"{kind} in a message")
    if not texts and not calls:
        return
    row: dict[str, Any] = {"role": role, "content": "\n\n".join(texts) if texts else None}
    if calls:
        row["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": _NO_NAME.sub("_", call.name)[:_LONGEST_NAME] or "unknown",
                    "arguments": json_text(
                        call.arguments if isinstance(call.arguments, dict) else {"value": call.arguments}
                    ),
                },
            }
            for call in calls
        ]
    yield row
    for call in calls:
        for media in call.media:
            document.leave_out(f"{media.kind} in a result")
        answer = "(no result stands in the transcript)" if call.result is None else call.result
        if call.result_is_long:
            answer = "(the line of the result is too long)"
        yield {"role": "tool", "tool_call_id": call.id, "content": answer}
