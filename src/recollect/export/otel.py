"""Export sessions as OpenTelemetry spans in a file of OTLP/JSON, with the attributes `gen_ai.*`. Experimental.

The conventions for agents are still being worked out, so names may change with them. A session is a trace: a span
`invoke_agent`, below it a span `chat` for each answer with its tokens and messages, and a span `execute_tool` for each tool call.
A subagent is an `invoke_agent` below the call that started it. Ids are made from the ids of the transcript, so that the same
session gives the same trace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..graph.session import Subagent
from .conversation import Part, ShownCall, ShownMessage
from .document import DEEPEST_SUBAGENT, Document, ExportOptions
from .formats import Output
from .formatting import size
from .json_text import json_text

_INTERNAL: Final = 1
_CLIENT: Final = 3
_ERROR: Final = 2


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write documents as spans, one resource for each session."""
    out.write(out.name, _pieces(documents))


def _pieces(documents: Iterable[Document]) -> Iterator[str]:
    yield '{"resourceSpans":['
    for place, document in enumerate(documents):
        resource = {"attributes": _attributes(_resource(document))}
        scope = {"name": "recollect"}
        yield (
            "," if place else ""
        ) + f'\n{{"resource":{json_text(resource)},"scopeSpans":[{{"scope":{json_text(scope)},"spans":['
        for number, span in enumerate(_Trace(document).spans()):
            yield ("," if number else "") + "\n" + json_text(span)
        yield "]}]}"
    yield "]}\n"


def _resource(document: Document) -> dict[str, Any]:
    notes = [] if document.redaction is None else [document.redaction.words()]
    notes += [f"Left out: {'; '.join(document.left_out)}."] if document.left_out else []
    stamp = document.options.stamp
    return {
        "service.name": "claude-code",
        "service.version": max(document.session.transcript.versions, default=None),
        "session.id": document.id,
        "recollect.experimental": True,
        "recollect.title": document.title,
        "recollect.project": document.project,
        "recollect.notes": " ".join(notes) or None,
        "recollect.damaged_lines": len(document.damage) or None,
        "recollect.exported_at": stamp.isoformat() if stamp is not None else None,
    }


class _Trace:
    """The spans of one session."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._trace = hashlib.sha256(document.id.encode()).hexdigest()[:32]
        self._written: set[str] = set()

    def spans(self) -> Iterator[dict[str, Any]]:
        document = self._document
        root = self._id("session")
        name = {"gen_ai.agent.name": "claude-code", "gen_ai.conversation.id": document.id}
        yield self._agent(root, None, "claude-code", document.started, document.ended, name)
        yield from self._talk(document.messages(), root, document.started, 0)
        for subagent in document.loose_subagents:
            yield from self._subagent(subagent, root, 0)

    def _id(self, *names: object) -> str:
        """Return the id of a span, made from what it is about."""
        return hashlib.sha256("\0".join([self._trace, *map(str, names)]).encode("utf-8", "replace")).hexdigest()[:16]

    def _agent(
        self, span: str, parent: str | None, name: str, start: float | None, end: float | None, more: dict[str, Any]
    ) -> dict[str, Any]:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "anthropic"} | more
        return self._span(span, parent, f"invoke_agent {name}", _INTERNAL, start, end, attributes)

    def _talk(
        self, messages: Iterable[ShownMessage], parent: str, before: float | None, depth: int
    ) -> Iterator[dict[str, Any]]:
        """Yield a span for each answer; what was said since the last one is its input."""
        heard: list[dict[str, Any]] = []
        for number, message in enumerate(messages):
            if message.role != "assistant":
                heard.append(
                    {"role": "user" if message.role in ("user", "summary") else "system", "parts": self._parts(message)}
                )
                before = message.seconds or before
                continue
            span = self._id("chat", message.uuid or number, message.places[0].file, message.places[0].line)
            yield self._chat(span, parent, message, heard, before)
            heard = []
            for part in message.parts:
                if part.call is not None:
                    heard.append({"role": "tool", "parts": [_response(part.call)]})
                    yield from self._tool(part, part.call, span, message, depth)
            ends = [message.seconds, *((message.seconds or 0) + (p.call.seconds or 0) for p in message.parts if p.call)]
            before = max((end for end in ends if end), default=before)

    def _chat(
        self, span: str, parent: str, message: ShownMessage, heard: list[dict[str, Any]], before: float | None
    ) -> dict[str, Any]:
        usage = message.usage
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "anthropic",
            "gen_ai.request.model": message.model,
            "gen_ai.response.model": message.model,
            "gen_ai.conversation.id": self._document.id,
            "gen_ai.input.messages": json_text(heard) if heard else None,
            "gen_ai.output.messages": json_text([{"role": "assistant", "parts": self._parts(message)}]),
            "recollect.message.uuid": message.uuid,
            "recollect.message.status": message.status,
            "recollect.cost_micro_usd": message.cost,
        }
        if usage is not None:
            written = usage.cache_write_5m + usage.cache_write_1h
            attributes |= {
                "gen_ai.usage.input_tokens": usage.input_tokens + written + usage.cache_read,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
                "gen_ai.usage.cache_creation.input_tokens": written,
            }
        start = (
            before
            if before is not None and message.seconds is not None and before <= message.seconds
            else message.seconds
        )
        return self._span(
            span, parent, f"chat {message.model or ''}".strip(), _CLIENT, start, message.seconds, attributes
        )

    def _tool(
        self, part: Part, call: ShownCall, parent: str, message: ShownMessage, depth: int
    ) -> Iterator[dict[str, Any]]:
        span = self._id("tool", call.id, call.place.file, call.place.line)
        end = None if message.seconds is None else message.seconds + (call.seconds or 0)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": json_text(call.arguments),
            "gen_ai.tool.call.result": call.result,
            "error.type": "tool_error" if call.is_error else None,
            "recollect.no_result": True if call.result is None else None,
        }
        found = self._span(span, parent, f"execute_tool {call.name}", _INTERNAL, message.seconds, end, attributes)
        if call.is_error:
            found["status"] = {"code": _ERROR}
        yield found
        for subagent in self._document.subagents_of(part):
            yield from self._subagent(subagent, span, depth + 1)

    def _subagent(self, subagent: Subagent, parent: str, depth: int) -> Iterator[dict[str, Any]]:
        if subagent.subagent_id in self._written:
            return
        self._written.add(subagent.subagent_id)
        if depth > DEEPEST_SUBAGENT:
            self._document.leave_out(f"subagent {subagent.subagent_id}: nested too deep")
            return
        span = self._id("subagent", subagent.subagent_id)
        facts = {
            "gen_ai.agent.id": subagent.subagent_id, "gen_ai.agent.name": subagent.kind,
            "gen_ai.agent.description": subagent.description,
        }  # fmt: skip
        name = subagent.kind or subagent.subagent_id
        yield self._agent(span, parent, name, subagent.first_time, subagent.last_time, facts)
        talk = self._document.subagent_messages(subagent)
        yield from self._talk(talk, span, subagent.first_time, depth)

    def _parts(self, message: ShownMessage) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for part in message.parts:
            if part.call is not None:
                call = part.call
                found.append({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
            elif part.media is not None:
                words = f"{part.media.kind} {part.media.media_type}, {size(part.media.bytes)}"
                self._document.leave_out(words)
                found.append({"type": "text", "content": f"[{words}: left out]"})
            elif part.kind == "thinking":
                found.append({"type": "reasoning", "content": part.text})
            elif part.kind == "long":
                found.append({"type": "text", "content": f"[a line of {size(part.value)} is too long: left out]"})
            elif part.kind == "unknown":
                found.append({"type": "unknown", "content": part.value})
            elif part.text:
                found.append({"type": "text", "content": part.text})
        return found

    def _span(
        self, span: str, parent: str | None, name: str, kind: int, start: float | None, end: float | None,
        attributes: dict[str, Any],
    ) -> dict[str, Any]:  # fmt: skip
        first = _nanoseconds(start)
        found: dict[str, Any] = {"traceId": self._trace, "spanId": span}
        if parent is not None:
            found["parentSpanId"] = parent
        found |= {
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(first),
            "endTimeUnixNano": str(max(_nanoseconds(end), first)),
            "attributes": _attributes(attributes),
        }
        return found


def _response(call: ShownCall) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": call.id, "response": call.result}


def _nanoseconds(seconds: float | None) -> int:
    """Return a moment as OTLP has it; 0 stands for an unknown one. Exact to the millisecond, as transcripts are."""
    return max(round(seconds * 1000), 0) * 1_000_000 if seconds is not None else 0


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}
