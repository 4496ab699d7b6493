"""Export a session as a trajectory in the Agent Trajectory Interchange Format (ATIF), for training and evaluation.

A prompt is a step of the user, an answer a step of the agent with its tool calls and what they returned. Subagents are embedded
trajectories, referred to by the result of the call that started them. The order of the steps is that of the conversation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..format.times import to_iso
from ..graph.session import Subagent
from .conversation import Media, Part, ShownCall, ShownMessage
from .document import DAMAGED, DEEPEST_SUBAGENT, Document, ExportOptions
from .formats import Output
from .formatting import size
from .json_text import json_text
from .markdown import ENDINGS

SCHEMA: Final = "ATIF-v1.8"
_SOURCES: Final = {"user": "user", "assistant": "agent"}
_UNKNOWN: Final = "unknown"


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write one document as a trajectory."""
    for document in documents:
        writer = _Writer(document, out)
        out.write(out.name, writer.trajectory())


class _Metrics:
    """Sums over the steps of one trajectory."""

    def __init__(self) -> None:
        self.steps = 0
        self.prompt = self.completion = self.cached = self.cost = 0

    def values(self, *, costs: bool) -> dict[str, Any]:
        found: dict[str, Any] = {
            "total_prompt_tokens": self.prompt, "total_completion_tokens": self.completion,
            "total_cached_tokens": self.cached, "total_steps": self.steps,
        }  # fmt: skip
        return found | {"total_cost_usd": self.cost / 1_000_000} if costs else found


class _Writer:
    """Writes a trajectory and the ones inside of it, step by step."""

    def __init__(self, document: Document, out: Output) -> None:
        self._document = document
        self._out = out
        self._started: set[str] = set()
        self._written: set[str] = set()

    def trajectory(self) -> Iterator[str]:
        document = self._document
        yield from self._pieces(document.id, document.messages(), document.loose_subagents, self._notes(), 0)
        yield "\n"

    def _pieces(
        self, name: str, messages: Iterable[ShownMessage], loose: list[Subagent], notes: str | None, depth: int
    ) -> Iterator[str]:
        document = self._document
        versions = sorted(document.session.transcript.versions) or [_UNKNOWN]
        agent: dict[str, Any] = {"name": "claude-code", "version": versions[-1]}
        if document.models:
            agent["model_name"] = document.models[0]
        head: dict[str, Any] = {
            "schema_version": SCHEMA,
            "session_id": document.id,
            "trajectory_id": name,
            "agent": agent,
        }
        if notes:
            head["notes"] = notes
        if depth == 0:
            head["extra"] = self._extra()
        yield json_text(head)[:-1] + ',\n"steps":['
        metrics, embedded = _Metrics(), list(loose)
        for message in messages:
            step = self._step(message, metrics, embedded, depth)
            if step is not None:
                yield ("," if metrics.steps > 1 else "") + "\n" + json_text(step)
        yield f'],\n"final_metrics":{json_text(metrics.values(costs=document.options.costs))}'
        embedded = [item for item in embedded if item.subagent_id not in self._written]
        if embedded:
            yield ',\n"subagent_trajectories":['
            for place, subagent in enumerate(embedded):
                self._written.add(subagent.subagent_id)
                yield "," if place else ""
                words = " · ".join(filter(None, (subagent.kind, subagent.description))) or None
                talk = document.subagent_messages(subagent)
                yield from self._pieces(subagent.subagent_id, talk, [], words, depth + 1)
            yield "]"
        yield "}"

    def _notes(self) -> str | None:
        document = self._document
        notes = [] if document.redaction is None else [document.redaction.words()]
        notes += [f"Left out: {'; '.join(document.left_out)}."] if document.left_out else []
        return " ".join(notes) or None

    def _extra(self) -> dict[str, Any]:
        document = self._document
        found: dict[str, Any] = {
            "title": document.title, "project": document.project, "git_branch": document.session.summary.git_branch,
            "damaged_lines": len(document.damage),
        }  # fmt: skip
        if document.options.stamp is not None:
            found["exported_at"] = to_iso(document.options.stamp.timestamp())
        return {key: value for key, value in found.items() if value is not None}

    def _step(
        self, message: ShownMessage, metrics: _Metrics, embedded: list[Subagent], depth: int
    ) -> dict[str, Any] | None:
        """Return a message as a step; None if there is nothing that the format could hold."""
        source = _SOURCES.get(message.role, "system")
        calls = [part for part in message.parts if part.call is not None]
        content = self._content(message)
        thinking = "\n\n".join(part.text for part in message.parts if part.kind == "thinking" and part.text)
        if not content and not calls and not thinking and source != "user":
            return None
        metrics.steps += 1
        step: dict[str, Any] = {"step_id": metrics.steps}
        if (moment := to_iso(message.seconds)) is not None:
            step["timestamp"] = moment
        step |= {"source": source, "message": content}
        if source == "agent":
            if message.model:
                step["model_name"] = message.model
            if thinking:
                step["reasoning_content"] = thinking
            self._tools(step, calls, embedded, depth)
            if message.usage is not None:
                step["metrics"] = self._metrics(message, metrics)
        extra = {"uuid": message.uuid, "role": message.role, "status": message.status, "line": message.places[0].line}
        step["extra"] = {key: value for key, value in extra.items() if value}
        return step

    def _content(self, message: ShownMessage) -> str | list[dict[str, Any]]:
        """Return the text of a message; a list if it has pictures that are written as files."""
        parts: list[dict[str, Any]] = []
        for part in message.parts:
            if part.media is not None:
                parts.append(self._media(part.media))
            elif (text := _words(part)) and part.kind != "thinking":
                parts.append({"type": "text", "text": text})
        if message.seam is not None and not parts:
            parts.append({"type": "text", "text": "The conversation was compacted."})
        if message.role == DAMAGED:
            parts = [{"type": "text", "text": f"Damaged line: {message.parts[0].text}"}]
        return _joined(parts)

    def _media(self, media: Media) -> dict[str, Any]:
        """Return a picture as a part: with the path of its file, else named in words."""
        words = f"{media.kind} {media.media_type or 'of unknown type'}, {size(media.bytes)}"
        ending = ENDINGS.get(media.media_type)
        wanted = self._document.options.pictures or "none"
        data = self._document.media_bytes(media) if ending and wanted == "files" else None
        if data and self._out.may_be_several:
            name = f"{self._out.stem}.files/{hashlib.sha256(data).hexdigest()[:16]}.{ending}"
            if name not in self._started:
                self._started.add(name)
                self._out.write(name, [data])
            return {"type": "image", "source": {"media_type": media.media_type, "path": name}}
        self._document.leave_out(words)
        return {"type": "text", "text": f"[{words}: left out]"}

    def _tools(self, step: dict[str, Any], calls: list[Part], embedded: list[Subagent], depth: int) -> None:
        results: list[dict[str, Any]] = []
        asked: list[dict[str, Any]] = []
        for part in calls:
            call = part.call
            assert call is not None
            arguments = call.arguments if isinstance(call.arguments, dict) else {"value": call.arguments}
            asked.append({"tool_call_id": call.id, "function_name": call.name, "arguments": arguments})
            results.append(self._result(part, call, embedded, depth))
        if asked:
            step |= {"tool_calls": asked, "observation": {"results": results}}

    def _result(self, part: Part, call: ShownCall, embedded: list[Subagent], depth: int) -> dict[str, Any]:
        pieces: list[dict[str, Any]] = []
        if call.result:
            pieces.append({"type": "text", "text": call.result})
        if call.result_is_long:
            pieces.append({"type": "text", "text": "[the line of the result is too long: left out]"})
        pieces += [self._media(media) for media in call.media]
        result: dict[str, Any] = {"source_call_id": call.id}
        extra: dict[str, Any] = {"is_error": call.is_error} if call.result is not None else {"no_result": True}
        if call.result is not None:
            result["content"] = _joined(pieces)
        if call.seconds is not None:
            extra["seconds"] = call.seconds
        subagents = [item for item in self._document.subagents_of(part) if item.subagent_id not in self._written]
        if subagents and depth < DEEPEST_SUBAGENT:
            known = {item.subagent_id for item in embedded}
            embedded += [item for item in subagents if item.subagent_id not in known]
            result["subagent_trajectory_ref"] = [{"trajectory_id": item.subagent_id} for item in subagents]
        elif subagents:
            self._document.leave_out(f"{len(subagents)} subagents: nested too deep")
        return result | {"extra": extra}

    def _metrics(self, message: ShownMessage, sums: _Metrics) -> dict[str, Any]:
        usage = message.usage
        assert usage is not None
        written = usage.cache_write_5m + usage.cache_write_1h
        prompt = usage.input_tokens + written + usage.cache_read
        sums.prompt += prompt
        sums.completion += usage.output_tokens
        sums.cached += usage.cache_read
        sums.cost += message.cost or 0
        found: dict[str, Any] = {
            "prompt_tokens": prompt, "completion_tokens": usage.output_tokens, "cached_tokens": usage.cache_read,
        }  # fmt: skip
        if message.cost is not None:
            found["cost_usd"] = message.cost / 1_000_000
        if written:
            found["extra"] = {"cache_write_tokens": written}
        return found


def _words(part: Part) -> str:
    if part.kind == "long":
        return f"[a line of {size(part.value)} is too long: left out]"
    if part.kind == "unknown":
        return json_text(part.value)
    return "" if part.call is not None else part.text


def _joined(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts
