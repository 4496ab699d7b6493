"""Write a conversation as text for a terminal. Everything from a transcript is made safe before it is styled."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ..graph.session import Subagent
from ..graph.thread import LIVE
from .conversation import TASK, Part, Seam, ShownCall, ShownMessage
from .formatting import argument_line, local_minute, model_name, one_line, plural, seconds, size, title_line
from .terminal_text import safe

COLORS: Final = {"user": "cyan", "assistant": "magenta", "summary": "yellow", "error": "red"}
"""Colours by speaker; other speakers have none."""
_QUIET: Final = ("meta", "system", "attachment", "progress")
"""Roles whose text is shown only with full tools."""
_NEST_LIMIT: Final = 6
_SHORT_RESULT: Final = 100


class Style(Protocol):
    """Makes text safe for a terminal and colours it, if colours are on."""

    def __call__(self, text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str: ...


def no_style(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """Make text safe and leave it without colours."""
    return safe(text)


@dataclass
class Heading:
    """The heading of a conversation."""

    title: str | None
    facts: list[str]
    """Session, project, branch, time, number of messages: those that are known."""
    reachable_share: float = 1.0
    damaged_places: int = 0
    branches: int = 0
    rows_before: int = 0
    """The number of rows before the last compaction that are not shown."""


class ConversationText:
    """Writes messages as text: `tools` is full, short or none; `tokens` writes the tokens of an answer.

    `talk` returns the messages of a subagent, `moment` writes a time, `hints` name the commands that show more.
    """

    def __init__(
        self,
        talk: Callable[[Subagent], Iterable[ShownMessage]],
        style: Style = no_style,
        *,
        tools: str = "short",
        thinking: bool = False,
        tokens: Callable[[ShownMessage], str] | None = None,
        moment: Callable[[float | None], str] = local_minute,
        hints: bool = True,
    ) -> None:
        self._talk = talk
        self._moment = moment
        self._hints = hints
        self._style = style
        self._tools = tools
        self._thinking = thinking
        self._tokens = tokens
        self._shown_subagents: set[str] = set()

    def heading(self, heading: Heading) -> str:
        """Write the heading of the conversation: its title, facts, and what a reader must know first."""
        style = self._style
        lines = [style(title_line(heading.title), bold=True)]
        lines.append(style(" · ".join(fact for fact in heading.facts if fact), dim=True))
        if heading.reachable_share < 1:
            share = heading.reachable_share
            lines.append(style(f"only {share:.0%} of this conversation is in reach of a resume", fg="red"))
        if heading.damaged_places:
            lines.append(style(f"{plural(heading.damaged_places, 'damaged place')} in the file", fg="red"))
        if heading.branches:
            words = plural(heading.branches, "other branch", "other branches")
            lines.append(style(f"{words}: recollect tree", dim=True))
        if heading.rows_before:
            words = f"{plural(heading.rows_before, 'row')} before the last compaction: recollect show --history"
            lines.append(style(words, fg="yellow"))
        return "\n".join(lines) + "\n\n"

    def pieces(self, messages: Iterable[ShownMessage], *, numbered: bool = False) -> Iterator[str]:
        """Write messages one after the other. `numbered` labels them as `#12`, otherwise by their lines."""
        for message in messages:
            if message.seam is not None and message.role == "system":
                yield self._seam(message.seam)
                continue
            is_numbered = numbered and message.number > 0
            yield from self._message(
                message, 0, f"#{message.number}" if is_numbered else f"line:{message.places[0].line}"
            )

    def _seam(self, seam: Seam) -> str:
        tokens = f", {seam.tokens_before:,} tokens before" if seam.tokens_before is not None else ""
        hint = " · recollect show --history shows what was before" if self._hints else ""
        line = f"════ compacted ({seam.trigger or '?'}{tokens}){hint} ════"
        return self._style(line, fg="yellow") + "\n\n"

    def _message(self, message: ShownMessage, depth: int, name: str = "") -> Iterator[str]:
        body = [text for part in message.parts for text in self._part(part, message.role, depth)]
        if not body and message.role != "user":
            return
        speaker = TASK if depth and message.role == "user" else message.speaker
        if message.model and message.role == "assistant":
            speaker = f"{speaker} ({model_name(message.model)})"
        head = self._style(f"▌ {speaker}", fg=COLORS.get(message.role), bold=True)
        marks = [name, self._moment(message.seconds)]
        if message.status not in (LIVE, "") and depth == 0:
            marks.append(message.status)
        if self._tokens is not None and message.usage is not None and message.role == "assistant":
            marks.append(self._tokens(message))
        yield _indented(head + "  " + self._style("  ".join(mark for mark in marks if mark), dim=True), depth)
        yield from body
        yield "\n"

    def _part(self, part: Part, role: str, depth: int) -> Iterator[str]:
        if part.kind in ("text", "plain"):
            if role not in _QUIET or self._tools == "full":
                yield self._text(part.text, depth)
        elif part.kind == "thinking":
            if self._thinking:
                yield self._text(f"✻ {part.text or '(redacted)'}", depth, dim=True)
        elif part.call is not None:
            yield from self._call(part.call, depth)
        elif part.kind == "orphan":
            if self._tools != "none":
                yield _indented(self._style("⎿ result without a call", fg="red"), depth + 1)
        elif part.media is not None:
            media = part.media
            yield _indented(safe(f"[{media.kind} {media.media_type}, {media.bytes:,} bytes]"), depth + 1)
        elif part.kind == "unknown":
            yield _indented(self._style(f"[unknown block: {part.text}]", fg="yellow"), depth + 1)
        elif part.kind == "long":
            yield _indented(
                self._style(f"[a line of {size(part.value)}, too long to be shown]", fg="yellow"), depth + 1
            )
        elif part.kind == "note" and role not in _QUIET:
            yield _indented(self._style(part.text, fg="yellow"), depth + 1)

    def _call(self, call: ShownCall, depth: int) -> Iterator[str]:
        subagents = [
            item for item in call.subagents if item.rows and item.subagent_id not in self._shown_subagents
        ]  # fmt: skip
        if self._tools == "none" and not subagents:
            return
        mark = self._style("⏵", fg="red" if call.is_error else "green")
        asked = f"{call.name}  {argument_line(call.arguments)}".rstrip()
        yield _indented(f"{mark} {safe(asked)}", depth + 1)
        if self._tools == "full":
            yield self._text(json.dumps(call.arguments, indent=2, ensure_ascii=False, default=str), depth + 1, dim=True)
        for subagent in subagents:
            yield from self.subagent(subagent, depth)
        if self._tools != "none":
            yield self._result(call, depth)

    def _result(self, call: ShownCall, depth: int) -> str:
        if call.result_is_long:
            return _indented(self._style("⎿ (a line too long to be shown)", fg="yellow"), depth + 1)
        if call.result is None:
            return _indented(self._style("⎿ (no result)", fg="yellow"), depth + 1)
        if self._tools == "full":
            return self._text(call.result, depth + 1)
        color = "red" if call.is_error else None
        line = f"{result_line(call.result)}  {seconds(call.seconds)}".rstrip()
        return _indented(self._style(line, fg=color, dim=True), depth + 1)

    def subagent(self, subagent: Subagent, depth: int = 0) -> Iterator[str]:
        """Write a subagent's conversation, indented below the call that started it."""
        self._shown_subagents.add(subagent.subagent_id)
        name = f"┌ subagent {subagent.subagent_id}" + (f" ({subagent.kind})" if subagent.kind else "")
        yield _indented(self._style(f"{name}, {plural(len(subagent.rows), 'row')}", fg="blue"), depth + 1)
        if depth < _NEST_LIMIT:
            for message in self._talk(subagent):
                yield from self._message(message, depth + 2)
        yield _indented(self._style(f"└ end of {subagent.subagent_id}", fg="blue"), depth + 1)

    def _text(self, text: str, depth: int, *, dim: bool = False) -> str:
        cleaned = safe(text).strip("\n")
        if not cleaned.strip():
            return ""
        styled = self._style(cleaned, dim=True) if dim else cleaned
        return textwrap.indent(styled, "  " * (depth + 1)) + "\n"


def result_line(result: str, tool: str | None = None) -> str:
    """Write the result of a call in one line, with the number of its lines."""
    lines = result.rstrip("\n").count("\n") + 1
    more = f"  (+{lines - 1} lines)" if lines > 1 else ""
    name = f"{tool}: " if tool else ""
    return f"⎿ {name}{one_line(result, _SHORT_RESULT) or '(empty)'}{more}"


def _indented(line: str, depth: int) -> str:
    return "  " * depth + line + "\n"
