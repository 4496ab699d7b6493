"""Build prompts, answers, tool results, compactions and rewinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .dialect import Dialect
from .identifiers import message_id, request_id, tool_use_id, uuid_from
from .rowwriter import FOLLOWING, Entry, Parent
from .statelines import StateLines
from .toolcalls import ResultContent, ToolCall

# Build token counts as each version of Claude Code writes them.

PLACEHOLDER_OUTPUT = 3
"""`output_tokens` of the stream's first event, which 1.0.128 to 2.1.96 leave on the lines."""


def whole_usage(number: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the true counts of the `number`-th response, overridden by `given`."""
    usage: dict[str, Any] = {
        "input_tokens": 4 + number % 7,
        "cache_creation_input_tokens": 400 + 37 * number,
        "cache_read_input_tokens": 12_000 + 500 * number,
        "output_tokens": 90 + 13 * number,
    }
    usage.update(given or {})
    return usage


def written_usage(dialect: Dialect, usage: Mapping[str, Any], *, final: bool) -> dict[str, Any]:
    """Return `usage` with the fields of the version; a placeholder for the output unless the line is `final`."""
    written = dict(usage)
    if not final:
        written["output_tokens"] = min(PLACEHOLDER_OUTPUT, usage["output_tokens"])
    creation = {
        "ephemeral_5m_input_tokens": usage["cache_creation_input_tokens"],
        "ephemeral_1h_input_tokens": 0,
    }
    if dialect.since("1.0.60"):
        written.setdefault("cache_creation", creation)
    written.setdefault("service_tier", "standard")
    if dialect.since("2.1.20"):
        written.setdefault("inference_geo", "not_available")
    if dialect.since("2.1.80"):
        written.setdefault("server_tool_use", {"web_search_requests": 0, "web_fetch_requests": 0})
        counted = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        iteration = {name: written[name] for name in counted}
        written.setdefault("iterations", [{**iteration, "cache_creation": creation, "type": "message"}])
        written.setdefault("speed", "standard")
    if dialect.since("2.1.230"):
        written.setdefault("output_tokens_details", {"thinking_tokens": 0})
    if dialect.since("2.1.325"):
        written.setdefault("fallback_credit", None)
    return written


def empty_usage() -> dict[str, Any]:
    """Return the zeros of a message that no model wrote."""
    return {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": None,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    }


BLOCK_STEP = 0.2
"""Seconds between the lines of one response."""


class Conversation(StateLines):
    """Writes rows of the message tree. Every method returns the uuid of the (last) row that it wrote."""

    subagent_type = "general-purpose"

    def _begin(self) -> None:
        super()._begin()
        self.calls: dict[str, ToolCall] = {}
        self.tool_lines: dict[str, str] = {}
        self._answered: set[str] = set()
        self._prompts = 0
        self._responses = 0
        # The lines of a response and the results of its calls, in file order, under each of their uuids.
        self._group_of: dict[str, list[str]] = {}
        self._preserved: dict[str, list[str]] = {}

    # -- prompts ------------------------------------------------------------------------------------------------------
    def user(
        self, content: str | list[dict[str, Any]], *, meta: bool = False, parent: Parent = FOLLOWING, **extra: Any
    ) -> str:
        """Write a prompt, or with `meta` a line that Claude Code made itself. `extra` are further fields of the row."""
        if not meta:
            self._prompts += 1
            self.prompt_id = uuid_from(self.session_id, "prompt", self._prompts)
        uuid = self.new_uuid()
        body: Entry = {"type": "user", "message": {"role": "user", "content": content}}
        if meta:
            body["isMeta"] = True
        body |= {"uuid": uuid, "timestamp": self._tick()}
        if not meta and not self.is_sidechain:
            body |= self._prompt_fields()
        fields = {} if meta and not self.dialect.since("2.1.150") else self._prompt_id_field()
        return self._row(body, uuid=uuid, parent=parent, head_fields=fields, extra=extra)

    def _prompt_fields(self) -> Entry:
        fields: Entry = {}
        if self.dialect.permission_mode:
            fields["permissionMode"] = "default"
        if self.dialect.prompt_source:
            fields |= {"origin": {"kind": "human"}, "promptSource": "typed"}
        if self.dialect.turn_position:
            fields |= {"turnOrigin": "user", "turnPosition": {"promptIndex": self._prompts - 1, "turnIndex": 0}}
        return fields

    def _prompt_id_field(self) -> Entry:
        return {"promptId": self.prompt_id} if self.dialect.prompt_id else {}

    # -- answers ------------------------------------------------------------------------------------------------------
    def assistant(
        self,
        text: str | None = None,
        *,
        thinking: str | None = None,
        tools: Sequence[ToolCall] = (),
        blocks: Sequence[Mapping[str, Any]] = (),
        model: str | None = None,
        usage: Mapping[str, Any] | None = None,
        final_usage: bool = False,
        stop_reason: str | None = None,
        parent: Parent = FOLLOWING,
        **extra: Any,
    ) -> str:
        """Write one API response: one line per content block, one line in all up to 1.0.0.

        `final_usage` gives versions with placeholder counts the true ones where a quick stream would (on all lines,
        since 2.1.70 on the last). `blocks` are further blocks, unchanged. The calls' line uuids are in `tool_lines`.
        """
        self._responses += 1
        content = self._content(text, thinking, tools, blocks)
        answer_id = message_id(self.session_id, self.subagent_id, self._responses)
        group: list[str] = []
        dialect = self.dialect
        tokens = whole_usage(self._responses, usage)
        stop = stop_reason or ("tool_use" if tools else "end_turn")
        per_line = [content] if dialect.whole_messages else [[block] for block in content]
        uuid = ""
        for index, line_blocks in enumerate(per_line):
            last = index == len(per_line) - 1
            final = dialect.true_usage or (final_usage and (last or not dialect.since("2.1.70")))
            message: Entry = {
                "id": answer_id,
                "type": "message",
                "role": "assistant",
                "model": model or self.model,
                "content": line_blocks,
                "stop_reason": stop if final else None,
                "stop_sequence": None,
                "usage": written_usage(dialect, tokens, final=final),
            }
            if dialect.since("2.1.80"):
                message["stop_details"] = None
            uuid = self.new_uuid()
            when = self._tick(BLOCK_STEP if index else None)
            body: Entry = {"message": message, **self._answer_fields(index, tokens, model)}
            if dialect.turn_position:
                body |= _block_fields(line_blocks[0]["type"])
            body |= {"type": "assistant", "uuid": uuid, "timestamp": when}
            self._row(body, uuid=uuid, parent=FOLLOWING if index else parent, extra=extra)
            group.append(uuid)
            self._group_of[uuid] = group
            self.tool_lines |= {block["id"]: uuid for block in line_blocks if block["type"] == "tool_use"}
        return uuid

    def _content(
        self,
        text: str | None,
        thinking: str | None,
        tools: Sequence[ToolCall],
        blocks: Sequence[Mapping[str, Any]],
    ) -> list[Entry]:
        content: list[Entry] = []
        if thinking is not None:
            content.append({"type": "thinking", "thinking": thinking, "signature": "c2lnbmF0dXJl"})
        if text is not None:
            content.append({"type": "text", "text": text})
        content += [dict(block) for block in blocks]
        for call in tools:
            call_id = call.id or tool_use_id(self.session_id, self.subagent_id, len(self.calls))
            self.calls[call_id] = call
            content.append({"type": "tool_use", "id": call_id, "name": call.name, "input": dict(call.input)})
        return content or [{"type": "text", "text": ""}]

    def _answer_fields(self, index: int, tokens: Mapping[str, Any], model: str | None) -> Entry:
        dialect = self.dialect
        if dialect.whole_messages:
            cost = tokens["input_tokens"] * 3e-6 + tokens["output_tokens"] * 15e-6
            return {"costUSD": round(cost, 6), "durationMs": 1200 + 40 * self._responses}
        request = request_id(self.session_id, self.subagent_id, self._responses)
        fields: Entry = {"requestId": request}
        if dialect.turn_position:
            reference = uuid_from(request, "reference")
            fields |= {"apiBlockIndex": index, "requestRef": reference, "requestedModel": model or self.model}
            fields |= {"promptCacheRequested": "5m", "perTurnEffort": "high", "madeBy": "model"}
        if dialect.effort:
            fields["effort"] = "high"
        if self.is_sidechain and dialect.since("2.1.150"):
            fields["attributionAgent"] = self.subagent_type
        return fields

    def api_error(self, text: str = "API Error: Overloaded", status: int = 529, parent: Parent = FOLLOWING) -> str:
        """Write the row that Claude Code writes in place of an answer; it is shown but never sent again."""
        uuid = self.new_uuid()
        message: Entry = {
            "id": uuid_from(uuid, "message"),
            "container": None,
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "type": "message",
            "usage": empty_usage(),
            "content": [{"type": "text", "text": text}],
        }
        body: Entry = {"type": "assistant", "uuid": uuid, "timestamp": self._tick(), "message": message}
        if self.dialect.since("2.1.150"):
            body["requestId"] = request_id(self.session_id, self.subagent_id, "failed", uuid)
        if self.dialect.since("2.0.77"):
            body["error"] = "rate_limit" if status == 429 else "unknown"
        body["isApiErrorMessage"] = True
        if self.dialect.since("2.1.150"):
            body["apiErrorStatus"] = status
        if self.dialect.turn_position:
            body |= {"apiErrorType": "overloaded_error", "failedResponseHadNoToolCall": True, "madeBy": "client"}
        return self._row(body, uuid=uuid, parent=parent)

    # -- tools --------------------------------------------------------------------------------------------------------
    def tool_result(
        self,
        tool_use_id: str,
        content: ResultContent | None = None,
        *,
        is_error: bool | None = None,
        tool_use_result: Any = None,
        parent: Parent = FOLLOWING,
        **extra: Any,
    ) -> str:
        """Write the result of a call, as a child of the line of that call. What is not given comes from the call itself."""
        call = self.calls.get(tool_use_id)
        if content is None:
            content = call.content if call is not None and call.content is not None else ""
        failed = is_error if is_error is not None else call is not None and call.is_error
        structured = tool_use_result if tool_use_result is not None else (call.structured if call is not None else None)
        block: Entry = {"tool_use_id": tool_use_id, "type": "tool_result", "content": content}
        if failed or (call is not None and call.name == "Bash"):
            block["is_error"] = failed
        call_line = self.tool_lines.get(tool_use_id)
        uuid = self.new_uuid()
        body: Entry = {"type": "user", "message": {"role": "user", "content": [block]}}
        body |= {"uuid": uuid, "timestamp": self._tick()}
        # Subagents since 2.1.50 leave the structured result out.
        if structured is not None and not (self.is_sidechain and self.dialect.since("2.1.50")):
            body["toolUseResult"] = structured
        if call_line is not None:
            if self.dialect.source_tool_uuid:
                body["sourceToolAssistantUUID"] = call_line
            if self.dialect.permission_decision:
                body["permissionDecision"] = {"decision": "accept", "source": "config", "reasonType": "rule"}
            parent = call_line if not isinstance(parent, str) and parent is not None else parent
        self._row(body, uuid=uuid, parent=parent, head_fields=self._prompt_id_field(), extra=extra)
        self._answered.add(tool_use_id)
        if call_line is not None:
            group = self._group_of[call_line]
            group.append(uuid)
            self._group_of[uuid] = group
        return uuid

    def parallel(self, calls: Sequence[ToolCall], text: str | None = None, **options: Any) -> str:
        """Write calls in one response, then their results, each as a child of the line of its own call."""
        before = len(self.calls)
        self.assistant(text, tools=calls, **options)
        return self.results(list(self.calls)[before:])

    def call(self, call: ToolCall, text: str | None = None, **options: Any) -> str:
        """Write one call and its result."""
        return self.parallel([call], text, **options)

    def results(self, tool_use_ids: Sequence[str] | None = None) -> str:
        """Write results for the given calls, or for all without a result."""
        uuid = self.head or ""
        wanted = list(self.calls) if tool_use_ids is None else tool_use_ids
        for call_id in wanted:
            if call_id not in self._answered:
                uuid = self.tool_result(call_id)
        return uuid


def _block_fields(block_type: str) -> Entry:
    """Return the timings that 2.1.325 records for some kinds of blocks."""
    if block_type == "thinking":
        return {"thinkingDurationMs": 900, "thinkingDisplay": "full"}
    return {"toolInputStreamMs": 120} if block_type == "tool_use" else {}
