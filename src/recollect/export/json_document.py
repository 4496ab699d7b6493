"""Export a session as one JSON object: versioned, documented, and with everything that was said.

The blocks of a message have the names and values of the transcript. A tool call has its result and the conversations of the
subagents that it started, so nothing must be put together by the reader. `Exported` and the classes below it are the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from ..format.blocks import ToolResultBlock, parse_blocks
from ..format.times import to_iso
from ..format.usage import Usage
from ..graph.messages import Message, usage_of
from ..graph.rows import Row
from ..graph.session import Subagent
from .document import LONGEST_LINE, Document, ExportOptions
from .formats import Output
from .json_text import json_text

VERSION: Final = 1
_THINKING: Final = ("thinking", "redacted_thinking")
_MEDIA: Final = ("image", "document")
_DEEPEST: Final = 20


class ExportedUsage(Struct, kw_only=True):
    """The tokens of an answer, or of the whole session."""

    input_tokens: int
    output_tokens: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    thinking: int
    web_searches: int


class ExportedResult(Struct, kw_only=True):
    """The result of a tool call."""

    uuid: str | None
    line: int
    time: str | None
    seconds: float | None
    is_error: bool
    content: Any
    """As in the transcript: a text or a list of blocks."""
    structured: Any
    """Claude Code's own record of the result."""


class ExportedMessage(Struct, kw_only=True):
    """A message: the rows of one answer are joined. Results stand at their calls."""

    number: int
    uuid: str | None
    uuids: list[str]
    parent: str | None
    role: str
    """user, assistant, tool (a result whose call is missing), meta, summary, system, attachment, progress, error."""
    time: str | None
    model: str | None
    status: str
    """What resuming does with the message: live, precompact, abandoned, unreachable, subagent."""
    lines: list[int]
    usage: ExportedUsage | None
    cost_micro_usd: int | None
    entry: dict[str, Any] | None
    """The whole entry of a row that is no message of the API (system, attachment, progress)."""
    blocks: list[dict[str, Any]]
    """As in the transcript. A `tool_use` also has `result` (ExportedResult or null) and `subagents` (ExportedSubagent)."""


class ExportedSubagent(Struct, kw_only=True):
    """The conversation of a subagent."""

    id: str
    kind: str | None
    description: str | None
    tool_use_id: str | None
    messages: list[ExportedMessage]


class ExportedBranch(Struct, kw_only=True):
    """Messages that left the conversation."""

    number: int
    status: str
    left_at: str | None
    messages: list[ExportedMessage]


class ExportedDamage(Struct, kw_only=True):
    """A line that is not as it should be."""

    line: int
    kind: str
    meaning: str
    offset: int
    bytes: int


class ExportedSession(Struct, kw_only=True):
    """The facts of the session."""

    id: str
    title: str | None
    project: str | None
    git_branch: str | None
    tag: str | None
    started: str | None
    ended: str | None
    models: list[str]
    versions: list[str]
    depth: str
    view: str
    count: int
    """How many messages were exported, without those of subagents and branches."""


class ExportedRedaction(Struct, kw_only=True):
    """What was replaced before the session was written."""

    profile: str
    count: int
    kinds: dict[str, int]


class ExportedTotals(Struct, kw_only=True):
    """Tokens and cost of the session with its subagents."""

    responses: int
    usage: ExportedUsage
    cost_micro_usd: int | None
    unpriced: int
    lower_bounds: int


class Exported(Struct, kw_only=True):
    """The whole file."""

    recollect_export: int
    exported_at: str | None
    session: ExportedSession
    redaction: ExportedRedaction | None
    left_out: list[str]
    damage: list[ExportedDamage]
    totals: ExportedTotals | None
    messages: list[ExportedMessage]
    subagents: list[ExportedSubagent]
    """Subagents that hang on no call, or that are nested too deep to stand at it."""
    branches: list[ExportedBranch]


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write one document as JSON."""
    for document in documents:
        out.write(out.name, _Writer(document).pieces())


class _Writer:
    """Writes a document piece by piece: only one message is in memory."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._written: set[str] = set()
        self._deep: set[str] = set()
        """Subagents that are nested too deep for most readers of JSON: they stand at the end."""
        self._depth = 0
        self._calls = {call.id: call for call in document.session.conversation.tools.calls}
        self._subagents: dict[str, list[Subagent]] = {}
        for subagent in document.subagents:
            if subagent.tool_use_id is not None and subagent.rows and not document.session.file.is_gone:
                self._subagents.setdefault(subagent.tool_use_id, []).append(subagent)

    def pieces(self) -> Iterator[str]:
        document, options = self._document, self._document.options
        head = {
            "recollect_export": VERSION,
            "exported_at": to_iso(options.stamp.timestamp()) if options.stamp is not None else None,
            "session": msgspec.to_builtins(_session(document)),
            "redaction": None if document.redaction is None else msgspec.to_builtins(_redaction(document)),
            "left_out": document.left_out,
            "damage": [
                {
                    "line": item.line,
                    "kind": item.kind,
                    "meaning": item.meaning,
                    "offset": item.offset,
                    "bytes": item.length,
                }
                for item in document.damage
            ],
            "totals": msgspec.to_builtins(_totals(document)) if options.costs else None,
        }
        yield json_text(head)[:-1]
        with document.session:
            yield ',\n"messages":['
            yield from self._messages(document.whole_messages())
            yield '],\n"subagents":['
            yield from self._several(self._subagent(subagent) for subagent in self._left())
            yield '],\n"branches":['
            for place, branch in enumerate(document.branches):
                facts = {"number": branch.number, "status": branch.status, "left_at": branch.left_at}
                yield ("," if place else "") + json_text(facts)[:-1] + ',"messages":['
                yield from self._messages(document.whole_messages_of(branch.rows))
                yield "]}"
        yield "]}\n"

    def _left(self) -> Iterator[Subagent]:
        """Yield the subagents that hang on no call, and those nested too deep."""
        loose = {item.subagent_id for item in self._document.loose_subagents}
        for subagent in self._document.subagents:
            is_left = subagent.subagent_id in loose or subagent.subagent_id in self._deep
            if is_left and subagent.subagent_id not in self._written:
                yield subagent

    def _several(self, items: Iterable[Iterator[str]]) -> Iterator[str]:
        for place, item in enumerate(items):
            if place:
                yield ","
            yield from item

    def _messages(self, messages: Iterable[tuple[int, Message]]) -> Iterator[str]:
        for place, (number, message) in enumerate(messages):
            yield ",\n" if place else "\n"
            yield from self._message(number, message)

    def _message(self, number: int, message: Message) -> Iterator[str]:
        document, session = self._document, self._document.session
        first = message.rows[0]
        entries = [{} if row.length > LONGEST_LINE else session.value(row) for row in message.rows]
        usage, _ = usage_of(entry for row, entry in zip(message.rows, entries, strict=True) if row.type == "assistant")
        placements = session.conversation.thread.placements
        facts: dict[str, Any] = {
            "number": number,
            "uuid": message.uuid,
            "uuids": [row.uuid for row in message.rows if row.uuid],
            "parent": first.parent,
            "role": message.role,
            "time": to_iso(message.time),
            "model": message.model,
            "status": placements[first.index].status if first.file == 0 else "subagent",
            "lines": [row.line for row in message.rows],
            "usage": None if usage is None else msgspec.to_builtins(_usage(usage)),
            "cost_micro_usd": None if usage is None else document.cost(message.model, message.time, usage),
            "entry": None if first.is_message else entries[0],
        }
        yield json_text(facts)[:-1] + ',"blocks":['
        blocks = [block for entry in entries for block in self._blocks(entry)]
        yield from self._several(self._block(block) for block in blocks)
        yield "]}"

    def _blocks(self, entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the blocks of a message as they stand in the transcript, at the depth of the export."""
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        depth = self._document.options.depth
        for item in content if isinstance(content, list) else [] if content is None else [content]:
            block = item if isinstance(item, dict) else {"type": "text", "text": item}
            kind = block.get("type")
            if kind in _THINKING and depth != "all":
                continue
            if kind in ("tool_use", "tool_result") and depth in ("prompts", "conversation"):
                continue
            if kind == "tool_result" and block.get("tool_use_id") in self._calls:
                continue  # it stands at its call
            yield block

    def _block(self, block: dict[str, Any]) -> Iterator[str]:
        block = self._without_pictures(block)
        if block.get("type") != "tool_use":
            yield json_text(block)
            return
        call_id = block.get("id")
        found = self._calls.get(call_id) if isinstance(call_id, str) else None
        result = None if found is None or found.result is None else self._result(found.id, found.result)
        if result is not None and found is not None:
            result.seconds, result.is_error = found.duration, found.is_error
        yield json_text(block | {"result": None if result is None else msgspec.structs.asdict(result)})[:-1]
        yield ',"subagents":['
        nested = [
            item for item in self._subagents.get(call_id or "", ()) if item.subagent_id not in self._written
        ]  # fmt: skip
        if self._depth >= _DEEPEST:
            self._deep |= {item.subagent_id for item in nested}
            nested = []
        yield from self._several(self._subagent(subagent) for subagent in nested)
        yield "]}"

    def _result(self, call_id: str, row: Row) -> ExportedResult:
        result = ExportedResult(
            uuid=row.uuid, line=row.line, time=to_iso(row.time), seconds=None, is_error=False, content=None,
            structured=None,
        )  # fmt: skip
        if row.length > LONGEST_LINE:
            return result
        entry = self._document.session.value(row)
        message = entry.get("message")
        for block in parse_blocks(message.get("content") if isinstance(message, dict) else None):
            if isinstance(block, ToolResultBlock) and block.tool_use_id == call_id:
                result.content = self._without_pictures({"content": block.content})["content"]
        result.structured = self._without_pictures({"content": entry.get("toolUseResult")})["content"]
        return result

    def _without_pictures(self, block: dict[str, Any]) -> dict[str, Any]:
        """Return a block without the bytes of its pictures, if these are not wanted."""
        if self._document.options.pictures != "none":
            return block
        found: dict[str, Any] = self._stripped(block, 0)
        return found

    def _stripped(self, value: Any, depth: int) -> Any:
        if isinstance(value, list) and depth < 20:
            return [self._stripped(item, depth + 1) for item in value]
        if not isinstance(value, dict) or depth >= 20:
            return value
        source = value.get("source")
        if value.get("type") in _MEDIA and isinstance(source, dict) and isinstance(source.get("data"), str):
            self._document.leave_out(f"{value['type']} {source.get('media_type')}")
            return value | {"source": source | {"data": None}}
        return {key: self._stripped(item, depth + 1) for key, item in value.items()}

    def _subagent(self, subagent: Subagent) -> Iterator[str]:
        self._written.add(subagent.subagent_id)
        facts = {
            "id": subagent.subagent_id, "kind": subagent.kind, "description": subagent.description,
            "tool_use_id": subagent.tool_use_id,
        }  # fmt: skip
        yield json_text(facts)[:-1] + ',"messages":['
        self._depth += 1
        yield from self._messages(self._document.whole_messages_of(subagent.rows))
        self._depth -= 1
        yield "]}"


def _session(document: Document) -> ExportedSession:
    summary = document.session.summary
    return ExportedSession(
        id=document.id, title=summary.title, project=document.project, git_branch=summary.git_branch, tag=summary.tag,
        started=to_iso(document.started), ended=to_iso(document.ended), models=document.models,
        versions=sorted(document.session.transcript.versions),
        depth=document.options.depth, view=document.options.view, count=document.count,
    )  # fmt: skip


def _redaction(document: Document) -> ExportedRedaction:
    found = document.redaction
    assert found is not None
    return ExportedRedaction(profile=found.profile, count=found.count, kinds=dict(sorted(found.kinds.items())))


def _totals(document: Document) -> ExportedTotals:
    totals = document.totals
    return ExportedTotals(
        responses=totals.responses, usage=_usage(totals.usage), cost_micro_usd=totals.cost, unpriced=totals.unpriced,
        lower_bounds=totals.lower_bounds,
    )  # fmt: skip


def _usage(usage: Usage) -> ExportedUsage:
    return ExportedUsage(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_write_5m=usage.cache_write_5m,
        cache_write_1h=usage.cache_write_1h, cache_read=usage.cache_read, thinking=usage.thinking or 0,
        web_searches=usage.web_searches,
    )  # fmt: skip


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for the documentation."""
    return msgspec.json.schema(Exported)
