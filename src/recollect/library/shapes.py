"""Define the JSON of sessions, messages, branches, subagents, tool calls and changes: one shape each, for every face.

`--json`, `/api/v1` and the provider use these names and values; the schemas of `/api/v1` are made from these classes. In
Python, times are datetimes in UTC; in JSON (see `plain`) they are ISO 8601. Costs are whole micro-dollars, unknown is null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, overload

import msgspec
from msgspec import Meta, Struct

from ..export.formatting import argument_line
from ..format.blocks import (
    Block,
    MediaBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    one_line,
    parse_blocks,
)
from ..format.times import to_datetime, to_iso
from ..format.usage import Usage
from ..graph.messages import MessageView, ToolCall, blocks_of
from ..graph.session import Branch, Subagent
from ..journal.changes import Record
from ..store.summary import SessionSummary
from .reading import prompt_words

if TYPE_CHECKING:
    from .session import Session

Time = datetime
"""In UTC."""
Count = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=1)]


class SessionShape(Struct, kw_only=True):
    """The main facts of a session."""

    session_id: str
    path: str
    home: str
    project: str | None
    worktree_of: str | None
    title: str | None
    title_source: str | None
    first_prompt: str | None
    last_prompt: str | None
    created: Time | None
    modified: Time | None
    last_activity: Time | None
    lines: Count | None
    messages: Count | None
    subagents: Count
    subagent_ids: list[str]
    """The subagents that have files of their own."""
    bytes: Count
    git_branch: str | None
    version: str | None
    running: bool
    tag: str | None
    pr_url: str | None
    client_lists: bool
    """Whether Claude Code lists the session; it does not list some files."""
    kept: bool
    """Whether only the vault has the session."""
    problem: str | None


class SessionFacts(Struct, kw_only=True):
    """Facts that are known once the session is read."""

    lines: Count
    rows: Count
    messages: Count
    first: Time | None
    """When the first row was written; `last` is when the last one was."""
    last: Time | None
    models: list[str]
    """The models that answered, the most frequent first."""
    versions: list[str]
    """The versions of Claude Code that wrote the session."""
    statuses: dict[str, int]
    reachable_share: float
    leaf: str | None
    leaf_reason: str
    compactions: Count
    branches: Count
    tool_calls: Count
    tool_errors: Count
    damage: Count


class UsageShape(Struct, kw_only=True):
    """The tokens of one answer."""

    input_tokens: Count
    output_tokens: Count
    cache_write_5m: Count
    cache_write_1h: Count
    cache_read: Count
    thinking: Count | None
    web_searches: Count


class MessageShape(Struct, kw_only=True):
    """A message: its lines joined. `blocks` have the names of the transcript; pictures come without their bytes."""

    number: Number
    uuid: str | None
    uuids: list[str]
    parent: str | None
    role: str
    time: Time | None
    model: str | None
    status: str
    text: str
    blocks: list[dict[str, Any]]
    lines: list[int]
    usage: UsageShape | None


class BranchShape(Struct, kw_only=True):
    """A branch that left the conversation."""

    number: Number
    status: str
    left_at: str | None
    parent_branch: Count
    messages: Count
    rows: Count
    prompt: str | None
    prompt_uuid: str | None
    leaf: str | None
    first: Time | None
    last: Time | None
    reason: str


class SubagentShape(Struct, kw_only=True):
    """A subagent of a session."""

    subagent_id: str
    kind: str | None
    description: str | None
    layout: str
    parent_subagent: str | None
    depth: Number
    tool_use_id: str | None
    linked_by: str | None
    workflow: str | None
    messages: Count
    rows: Count
    lines: Count
    bytes: Count | None
    path: str | None
    first: Time | None
    last: Time | None
    children: list[str]


class ToolCallShape(Struct, kw_only=True):
    """A tool call with its result. `structured` is Claude Code's own record of the result."""

    id: str
    name: str
    time: Time | None
    duration: float | None
    is_error: bool
    answered: bool
    subagent: str | None
    arguments: str
    input: Any
    result_bytes: Count | None
    structured: Any
    call_uuid: str | None
    result_uuid: str | None
    call_line: Number
    result_line: Number | None
    status: str


class ChangeShape(Struct, kw_only=True):
    """A change in the journal."""

    number: Number
    name: str
    title: str
    state: str
    time: Time | None
    home: str
    steps: list[str]


def plain(shape: Struct) -> dict[str, Any]:
    """Return a shape as plain data for JSON: times as `2026-03-02T09:00:00.000Z`."""
    found: dict[str, Any] = msgspec.to_builtins(shape, builtin_types=(datetime,))
    return {key: _iso(value) if isinstance(value, datetime) else value for key, value in found.items()}


def _iso(moment: datetime) -> str | None:
    return to_iso(moment.timestamp())


def session_shape(item: SessionSummary, *, running: bool) -> SessionShape:
    return SessionShape(
        session_id=item.session_id,
        path=str(item.file.path),
        home=str(item.file.home.root),
        project=item.project,
        worktree_of=item.worktree_of,
        title=one_line(item.title),
        title_source=item.title_source,
        first_prompt=item.first_prompt,
        last_prompt=item.last_prompt,
        created=item.created,
        modified=to_datetime(item.file.mtime),
        last_activity=item.last_activity,
        lines=item.lines,
        messages=item.messages,
        subagents=item.subagents,
        subagent_ids=[subagent.subagent_id for subagent in item.file.subagents],
        bytes=item.file.size,
        git_branch=item.git_branch or None,
        version=item.version,
        running=running,
        tag=item.tag,
        pr_url=item.pr_url,
        client_lists=item.file.client_lists and not item.sidechain_only,
        kept=item.file.is_kept,
        problem=item.problem or ("empty file" if item.is_empty else None),
    )


def session_facts(session: Session) -> SessionFacts:
    """Compute the facts that need the whole session."""
    graph, transcript = session.conversation, session.transcript
    times = [row.time for row in transcript.rows if row.time is not None]
    models = Counter(row.model for row in transcript.rows if row.model and row.model != "<synthetic>")
    return SessionFacts(
        lines=transcript.lines,
        rows=len(transcript.rows),
        messages=sum(row.is_message for row in transcript.rows),
        first=to_datetime(min(times, default=None)),
        last=to_datetime(max(times, default=None)),
        models=[str(model) for model, _ in models.most_common()],
        versions=list(transcript.versions),
        statuses=dict(Counter(place.status for place in graph.thread.placements).most_common()),
        reachable_share=round(graph.thread.reachable_share, 6),
        leaf=graph.thread.leaf,
        leaf_reason=graph.thread.leaf_reason,
        compactions=len(graph.compactions),
        branches=len(graph.branches),
        tool_calls=len(graph.tools.calls),
        tool_errors=sum(call.is_error for call in graph.tools.calls),
        damage=len(session.damage),
    )


def usage_shape(usage: Usage) -> UsageShape:
    return UsageShape(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_write_5m=usage.cache_write_5m,
        cache_write_1h=usage.cache_write_1h,
        cache_read=usage.cache_read,
        thinking=usage.thinking,
        web_searches=usage.web_searches,
    )


def message_shape(view: MessageView, number: int) -> MessageShape:
    return MessageShape(
        number=number,
        uuid=view.uuid,
        uuids=[row.uuid for row in view.rows if row.uuid],
        parent=view.rows[0].parent,
        role=view.role,
        time=view.time,
        model=view.model,
        status=view.status,
        text=view.text,
        blocks=[block_data(block) for block in view.blocks],
        lines=[row.line for row in view.rows],
        usage=None if view.usage is None else usage_shape(view.usage),
    )


def block_data(block: Block) -> dict[str, Any]:
    """Return a block with the names it has in the transcript."""
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ThinkingBlock):
        return {"type": "thinking", "thinking": block.thinking, "redacted": block.redacted}
    if isinstance(block, ToolUseBlock):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    if isinstance(block, ToolResultBlock):
        return {
            "type": "tool_result",
            "tool_use_id": block.tool_use_id,
            "is_error": block.is_error,
            "content": block.content,
        }
    if isinstance(block, MediaBlock):
        return {"type": block.type, "media_type": block.media_type, "bytes": block.size}
    assert isinstance(block, UnknownBlock)
    return {"type": block.type, "value": block.value}


def branch_shapes(session: Session) -> list[BranchShape]:
    return [_branch_shape(session, branch) for branch in session.conversation.branches]


def _branch_shape(session: Session, branch: Branch) -> BranchShape:
    times = [row.time for row in branch.rows if row.time is not None]
    return BranchShape(
        number=branch.number,
        status=branch.status,
        left_at=branch.left_at,
        parent_branch=branch.parent_branch,
        messages=branch.messages,
        rows=len(branch.rows),
        prompt=prompt_words(session, branch.prompt, 200),
        prompt_uuid=branch.prompt.uuid if branch.prompt is not None else None,
        leaf=branch.leaf.uuid,
        first=to_datetime(min(times, default=None)),
        last=to_datetime(max(times, default=None)),
        reason=branch.reason,
    )


def subagent_shapes(session: Session) -> list[SubagentShape]:
    """Return the subagents of a session: parents before their children, in the order in which they started."""
    return [_subagent_shape(session, subagent) for subagent in _in_tree_order(session.conversation.subagents)]


def _in_tree_order(subagents: list[Subagent]) -> list[Subagent]:
    by_id = {subagent.subagent_id: subagent for subagent in subagents}
    ordered: list[Subagent] = []
    seen: set[str] = set()
    stack = [subagent for subagent in reversed(subagents) if subagent.parent_subagent not in by_id]
    stack = [*(subagent for subagent in reversed(subagents) if subagent not in stack), *stack]
    while stack:
        subagent = stack.pop()
        if subagent.subagent_id in seen:
            continue
        seen.add(subagent.subagent_id)
        ordered.append(subagent)
        stack.extend(by_id[child] for child in reversed(subagent.children) if child in by_id)
    return ordered


def _subagent_shape(session: Session, subagent: Subagent) -> SubagentShape:
    file = session.file.subagents[subagent.file - 1] if subagent.file else None
    transcript = session.subagent_transcripts.get(subagent.subagent_id) if file is not None else None
    return SubagentShape(
        subagent_id=subagent.subagent_id,
        kind=subagent.kind,
        description=subagent.description,
        layout=subagent.layout,
        parent_subagent=subagent.parent_subagent,
        depth=subagent.depth,
        tool_use_id=subagent.tool_use_id,
        linked_by=subagent.linked_by,
        workflow=subagent.workflow,
        messages=sum(1 for row in subagent.rows if row.is_message),
        rows=len(subagent.rows),
        lines=transcript.lines if transcript is not None else len(subagent.rows),
        bytes=file.size if file is not None else None,
        path=str(file.path) if file is not None else None,
        first=to_datetime(subagent.first_time),
        last=to_datetime(subagent.last_time),
        children=subagent.children,
    )


def tool_call_shape(session: Session, call: ToolCall) -> ToolCallShape:
    uses = [
        block
        for block in blocks_of(session.value(call.call))
        if isinstance(block, ToolUseBlock) and block.id == call.id
    ]
    arguments = uses[0].input if uses else None
    text = ""
    structured = None
    if call.result is not None:
        value = session.value(call.result)
        structured = value.get("toolUseResult")
        message = value.get("message")
        for block in parse_blocks(message.get("content") if isinstance(message, dict) else None):
            if isinstance(block, ToolResultBlock) and block.tool_use_id == call.id:
                text = block.text()
    return ToolCallShape(
        id=call.id,
        name=call.name,
        time=to_datetime(call.call.time),
        duration=call.duration,
        is_error=call.is_error,
        answered=call.result is not None,
        subagent=call.call.subagent_id if call.call.sidechain or call.call.file else None,
        arguments=argument_line(arguments, 160),
        input=arguments,
        result_bytes=len(text.encode("utf-8", "replace")) if call.result is not None else None,
        structured=structured,
        call_uuid=call.call.uuid,
        result_uuid=call.result.uuid if call.result is not None else None,
        call_line=call.call.line,
        result_line=call.result.line if call.result is not None else None,
        status=session.thread.placements[call.call.index].status if call.call.file == 0 else "subagent",
    )


class ToolCalls(Sequence[ToolCallShape]):
    """The tool calls of a session. The input and the result of a call are read when the call is accessed."""

    def __init__(self, session: Session, calls: Sequence[ToolCall]) -> None:
        self._session = session
        self._calls = calls

    def __len__(self) -> int:
        return len(self._calls)

    @overload
    def __getitem__(self, place: int) -> ToolCallShape: ...
    @overload
    def __getitem__(self, place: slice) -> ToolCalls: ...
    def __getitem__(self, place: int | slice) -> ToolCallShape | ToolCalls:
        if isinstance(place, slice):
            return ToolCalls(self._session, self._calls[place])
        return tool_call_shape(self._session, self._calls[place])

    def __iter__(self) -> Iterator[ToolCallShape]:
        with self._session:
            for call in self._calls:
                yield tool_call_shape(self._session, call)

    def where(self, *, name: str | None = None, failed: bool = False) -> ToolCalls:
        """Return the calls of one tool, or those that failed."""
        wanted = [
            call for call in self._calls if (name is None or call.name == name) and (call.is_error or not failed)
        ]  # fmt: skip
        return ToolCalls(self._session, wanted)

    @property
    def errors(self) -> int:
        """Return the number of calls that failed."""
        return sum(call.is_error for call in self._calls)

    @property
    def unanswered(self) -> int:
        """Return the number of calls without a result."""
        return sum(call.result is None for call in self._calls)

    @property
    def orphan_results(self) -> list[dict[str, Any]]:
        """Return the results whose call is nowhere in the session."""
        return [
            {"id": ident, "uuid": row.uuid, "line": row.line}
            for ident, row in self._session.conversation.tools.orphan_results
        ]

    @property
    def by_tool(self) -> dict[str, dict[str, Any]]:
        """Count calls, errors and seconds by the name of the tool."""
        found: dict[str, dict[str, Any]] = {}
        for call in self._calls:
            counts = found.setdefault(call.name, {"calls": 0, "errors": 0, "seconds": 0.0})
            counts["calls"] += 1
            counts["errors"] += call.is_error
            counts["seconds"] = round(counts["seconds"] + (call.duration or 0.0), 3)
        return found


def change_shape(record: Record) -> ChangeShape:
    return ChangeShape(
        number=record.number,
        name=record.name,
        title=record.title,
        state=record.state,
        time=to_datetime(record.time),
        home=record.home,
        steps=[action.describe() for action in record.actions],
    )
