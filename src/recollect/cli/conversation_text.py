"""A conversation as text for a terminal. Everything that comes from a transcript is made safe before it is styled."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from ..export.formatting import argument_line, one_line, plural, seconds
from ..export.terminal_text import safe
from ..format.blocks import MediaBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, UnknownBlock
from ..format.times import local_minute
from ..graph.rows import Row
from ..graph.subagents import Subagent
from ..graph.thread import LIVE
from ..library.session import MessageView, Session
from .face import Face
from .usage_text import message_tokens

_NAMES = {
    "user": ("You", "cyan"),
    "assistant": ("Claude", "magenta"),
    "meta": ("Client", None),
    "summary": ("Summary of what was before", "yellow"),
    "system": ("System", None),
    "attachment": ("Attachment", None),
    "error": ("API error", "red"),
    "tool": ("Tool", None),
    "progress": ("Progress", None),
}
_NEST_LIMIT = 6
_SHORT_RESULT = 100


class ConversationText:
    """Writes messages as text: `tools` is full, short or none."""

    def __init__(self, face: Face, session: Session, *, tools: str, thinking: bool, tokens: bool = False) -> None:
        self.face = face
        self.tokens = tokens
        self.session = session
        self.tools = tools
        self.thinking = thinking
        self.calls = {call.id: call for call in session.conversation.tools.calls}
        self.subagents: dict[str, list[Subagent]] = {}
        for subagent in session.conversation.subagents:
            if subagent.tool_use_id is not None and subagent.rows:
                self.subagents.setdefault(subagent.tool_use_id, []).append(subagent)
        self.shown_subagents: set[str] = set()

    def pieces(
        self, rows: list[Row], offset: int, limit: int | None, total: int, *, numbered: bool = False
    ) -> Iterator[str]:
        """The conversation, piece by piece. `numbered` names messages as `#12`, else by their lines."""
        before = {row.index for row in self.session.thread.summarised}
        yield self._heading(total, rows_before_shown=any(row.index in before and row.file == 0 for row in rows))
        seams = {row.index for row in rows if row.is_boundary and row.file == 0}
        for number, view in enumerate(self.session.messages(rows, offset=offset, limit=limit), offset + 1):
            if view.rows[0].index in seams and view.role == "system":
                yield self._seam(view)
                continue
            yield from self._message(view, 0, f"#{number}" if numbered else f"line:{view.rows[0].line}")
        if limit is not None and offset + limit < total:
            yield self.face.style(f"… {total - offset - limit} more messages (--from {offset + limit + 1})\n", dim=True)

    def _heading(self, total: int, *, rows_before_shown: bool) -> str:
        summary = self.session.summary
        face = self.face
        lines = [face.style(one_line(summary.title, 100) or "(no title)", bold=True)]
        facts = [
            self.session.id, summary.project or "", summary.git_branch or "", local_minute(summary.created),
            plural(total, "message"),
        ]  # fmt: skip
        lines.append(face.style(" · ".join(fact for fact in facts if fact), dim=True))
        share = self.session.thread.reachable_share
        if share < 1:
            lines.append(face.style(f"only {share:.0%} of this conversation is in reach of a resume", fg="red"))
        if self.session.damage:
            lines.append(face.style(f"{plural(len(self.session.damage), 'damaged place')} in the file", fg="red"))
        branches = self.session.conversation.branches
        if branches:
            lines.append(
                face.style(f"{plural(len(branches), 'other branch', 'other branches')}: recollect tree", dim=True)
            )
        before = len(self.session.thread.summarised)
        if before and not rows_before_shown:
            told = f"{plural(before, 'row')} before the last compaction: recollect show --history"
            lines.append(face.style(told, fg="yellow"))
        return "\n".join(lines) + "\n\n"

    def _seam(self, view: MessageView) -> str:
        data = view.rows[0].compact if isinstance(view.rows[0].compact, dict) else {}
        tokens = data.get("preTokens")
        told = f", {tokens:,} tokens before" if isinstance(tokens, int) else ""
        line = (
            f"════ compacted ({data.get('trigger', '?')}{told}) · recollect show --history shows what was before ════"
        )
        return self.face.style(line, fg="yellow") + "\n\n"

    def _message(self, view: MessageView, depth: int, name_of_it: str = "") -> Iterator[str]:
        body = list(self._body(view, depth))
        if not body and view.role != "user":
            return
        name, color = _NAMES.get(view.role, (view.role, None))
        if depth and view.role == "user":
            name = "Task"  # in a subagent nobody typed: the caller did
        if view.model and view.role == "assistant":
            name = f"{name} ({view.model.removeprefix('claude-')})"
        head = self.face.style(f"▌ {name}", fg=color, bold=True)
        marks = [name_of_it, local_minute(view.time)]
        if view.status != LIVE and depth == 0:
            marks.append(view.status)
        if self.tokens and view.usage is not None and view.role == "assistant":
            marks.append(message_tokens(view.model, view.time, view.usage, lower_bound=view.lower_bound))
        yield self._indent(head + "  " + self.face.style("  ".join(mark for mark in marks if mark), dim=True), depth)
        yield from body
        yield "\n"

    def _body(self, view: MessageView, depth: int) -> Iterator[str]:
        quiet = view.role in ("meta", "system", "attachment", "progress")
        for block in view.blocks:
            if isinstance(block, TextBlock):
                if quiet and self.tools != "full":
                    continue
                yield self._text(block.text, depth)
            elif isinstance(block, ThinkingBlock):
                if self.thinking:
                    words = "(redacted)" if block.redacted else block.thinking
                    yield self._text(f"✻ {words}", depth, dim=True)
            elif isinstance(block, ToolUseBlock):
                yield from self._call(block, depth)
            elif isinstance(block, ToolResultBlock):
                if block.tool_use_id not in self.calls and self.tools != "none":
                    yield self._indent(self.face.style("⎿ result without a call", fg="red"), depth + 1)
            elif isinstance(block, MediaBlock):
                yield self._indent(f"[{block.type} {block.media_type or ''}, {block.size:,} bytes]", depth + 1)
            elif isinstance(block, UnknownBlock):
                yield self._indent(self.face.style(f"[unknown block: {block.type}]", fg="yellow"), depth + 1)

    def _call(self, block: ToolUseBlock, depth: int) -> Iterator[str]:
        subagents = [
            subagent
            for subagent in self.subagents.get(block.id, ())
            if subagent.subagent_id not in self.shown_subagents
        ]
        if self.tools == "none" and not subagents:
            return
        call = self.calls.get(block.id)
        mark = self.face.style("⏵", fg="red" if call is not None and call.is_error else "green")
        asked = f"{block.name}  {argument_line(block.input)}".rstrip()
        yield self._indent(f"{mark} {safe(asked)}", depth + 1)
        if self.tools == "full":
            yield self._text(json.dumps(block.input, indent=2, ensure_ascii=False, default=str), depth + 1, dim=True)
        for subagent in subagents:
            yield from self._subagent(subagent, depth)
        if self.tools != "none":
            yield from self._result(block, depth)

    def _result(self, block: ToolUseBlock, depth: int) -> Iterator[str]:
        call = self.calls.get(block.id)
        if call is None or call.result is None:
            yield self._indent(self.face.style("⎿ (no result)", fg="yellow"), depth + 1)
            return
        content = ""
        for result in self.session.messages([call.result])[0].blocks:
            if isinstance(result, ToolResultBlock) and result.tool_use_id == block.id:
                content = result.text()
        took = seconds(call.duration)
        if self.tools == "full":
            yield self._text(content, depth + 1)
            return
        lines = content.rstrip("\n").count("\n") + 1
        first = one_line(content, _SHORT_RESULT) or "(empty)"
        more = f"  (+{lines - 1} lines)" if lines > 1 else ""
        color = "red" if call.is_error else None
        yield self._indent(self.face.style(f"⎿ {first}{more}  {took}".rstrip(), fg=color, dim=True), depth + 1)

    def _subagent(self, subagent: Subagent, depth: int) -> Iterator[str]:
        """A subagent's talk, indented below the call that started it."""
        self.shown_subagents.add(subagent.subagent_id)
        name = f"┌ subagent {subagent.subagent_id}" + (f" ({subagent.kind})" if subagent.kind else "")
        yield self._indent(self.face.style(f"{name}, {plural(len(subagent.rows), 'row')}", fg="blue"), depth + 1)
        if depth < _NEST_LIMIT:
            for view in self.session.messages(subagent.rows):
                yield from self._message(view, depth + 2)
        yield self._indent(self.face.style(f"└ end of {subagent.subagent_id}", fg="blue"), depth + 1)

    def _text(self, text: str, depth: int, *, dim: bool = False) -> str:
        cleaned = safe(text).strip("\n")
        if not cleaned.strip():
            return ""
        styled = self.face.style(cleaned, dim=True) if dim else cleaned
        return textwrap.indent(styled, "  " * (depth + 1)) + "\n"

    @staticmethod
    def _indent(line: str, depth: int) -> str:
        return "  " * depth + line + "\n"
