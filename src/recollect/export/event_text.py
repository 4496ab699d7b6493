"""Write what happens in sessions as lines for a terminal. Text from a transcript is made safe before it is styled."""

from __future__ import annotations

from datetime import datetime

from ..format.blocks import TextBlock, ThinkingBlock, ToolResultBlock
from ..watch.events import (
    BudgetReached,
    Compacted,
    EntryAdded,
    LineDamaged,
    MessageAdded,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    SubagentStarted,
    TitleChanged,
    ToolFinished,
    ToolStarted,
)
from .conversation import SPEAKERS, TASK
from .conversation_text import COLORS, Style, no_style, result_line
from .formatting import argument_line, model_name, one_line, seconds
from .terminal_text import safe, safe_line


class EventText:
    """Writes events as lines; with `one_session`, without the name of the session."""

    def __init__(self, style: Style = no_style, *, thinking: bool, one_session: bool) -> None:
        self._style = style
        self.thinking = thinking
        self.one_session = one_session
        self._results: dict[str, ToolResultBlock] = {}
        self._speaker: tuple[object, ...] | None = None

    def lines(self, event: SessionEvent) -> list[str]:
        """Write an event; nothing for an event that means nothing to a person."""
        lines = self._event_lines(event)
        if not lines:
            return []
        start = self._start(event)
        return [f"{start}{line}" for line in lines]

    def _start(self, event: SessionEvent) -> str:
        """Write the time, and the session and subagent of the event unless they are clear."""
        clock = self._style(_time_of_day(event.time), dim=True)
        names = [] if self.one_session else [event.session_id[:8]]
        if event.subagent_id is not None:
            names.append(f"subagent {event.subagent_id[:8]}")
        who = f" {self._style(safe_line(' '.join(names)), fg='blue')}" if names else ""
        return f"{clock}{who}  "

    def _event_lines(self, event: SessionEvent) -> list[str]:
        style = self._style
        if isinstance(event, MessageAdded):
            return self._message(event)
        self._speaker = None
        if isinstance(event, EntryAdded):
            return [style(f"· {event.type or '(no type)'}", dim=True)]
        if isinstance(event, SessionStarted):
            where = f" in {event.cwd}" if event.cwd else ""
            by = f" by process {event.pid}" if event.pid else ""
            return [style(f"● session {event.session_id} started{by}{where}", fg="green")]
        if isinstance(event, SessionEnded):
            return [style(f"○ session {event.session_id} ended ({event.reason})", fg="green")]
        if isinstance(event, ToolStarted):
            line = f"{safe(event.name)}  {safe(argument_line(event.input))}".rstrip()
            return [f"{style('⏵', fg='green')} {line}"]
        if isinstance(event, ToolFinished):
            return [self._finished(event)]
        if isinstance(event, SubagentStarted):
            what = " ".join(part for part in (event.subagent_type, one_line(event.description, 80)) if part)
            return [style(f"┌ subagent {event.subagent_id} started  {safe_line(what)}".rstrip(), fg="blue")]
        if isinstance(event, Compacted):
            tokens = f", {event.tokens_before:,} tokens before" if event.tokens_before is not None else ""
            return [style(f"════ compacted ({event.trigger or '?'}{tokens}) ════", fg="yellow")]
        if isinstance(event, TitleChanged):
            return [style(f"title: {safe_line(event.title, 120)}", bold=True)]
        if isinstance(event, LineDamaged):
            return [
                style(f"damage at offset {event.damage.offset}: {event.damage.kind} {event.damage.detail}", fg="red")
            ]
        if isinstance(event, BudgetReached):
            text = f"budget {event.name}: {event.spent:g} of {event.limit:g} {event.unit}"
            return [style(text, fg="red", bold=True)]
        return [style(event.kind, dim=True)]

    def _message(self, event: MessageAdded) -> list[str]:
        parts: list[str] = []
        self._results = {}  # the events of their end come next
        for block in event.blocks:
            if isinstance(block, ToolResultBlock):
                self._results[block.tool_use_id] = block
            elif isinstance(block, TextBlock) and event.role in COLORS:
                parts.extend(safe(block.text).strip("\n").splitlines())
            elif isinstance(block, ThinkingBlock) and self.thinking:
                words = "(redacted)" if block.redacted else safe(block.thinking).strip("\n")
                parts.extend(self._style(f"✻ {line}", dim=True) for line in words.splitlines())
        if not any(part.strip() for part in parts):
            return []
        name = SPEAKERS.get(event.role, event.role) if event.role in COLORS else event.role
        if event.subagent_id is not None and event.role == "user":
            name = TASK
        if event.model and event.role == "assistant":
            name = f"{name} ({model_name(event.model)})"
        speaker = (event.session_id, event.subagent_id, event.role, event.message_id or event.uuid)
        head = (
            []
            if speaker == self._speaker
            else [self._style(f"▌ {safe_line(name)}", fg=COLORS.get(event.role), bold=True)]
        )
        self._speaker = speaker
        return [*head, *(f"  {part}" for part in parts)]

    def _finished(self, event: ToolFinished) -> str:
        result = self._results.pop(event.tool_use_id, None)
        words = result.text() if result is not None else ""
        text = f"{result_line(words, event.name)}  {seconds(event.duration)}".rstrip()
        return self._style(text, fg="red" if event.is_error else None, dim=True)


def _time_of_day(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment).strftime("%H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "--:--:--"
