"""`recollect watch`: what happens in sessions, as it happens.

JSON lines (`--json` prints the same): every event has {event, session_id, subagent_id, time, path}, and by its kind
session_started {cwd, pid}; message {uuid, role, model, message_id, text, blocks, line, offset}; tool_started {tool_use_id, name,
input, uuid}; tool_finished {tool_use_id, name, duration, is_error, uuid}; subagent_started {subagent_type, description,
tool_use_id, parent_subagent_id, workflow}; compaction {trigger, tokens_before, uuid}; title_changed {title, source};
session_ended {reason, pid}; damage {kind, line, offset, length, detail}; budget {name, spent, limit, unit}. With --everything
also entry {type, uuid, line, offset, entry} for all other entries. Durations are in seconds.
"""

from __future__ import annotations

import json
import select
import sys
from typing import Any

import click

from ...export.formatting import argument_line, one_line, seconds
from ...export.terminal_text import safe, safe_line
from ...format.blocks import TextBlock, ThinkingBlock, ToolResultBlock
from ...format.times import to_iso
from ...library.shapes import block_data
from ...library.watching import (
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
    Watching,
)
from ...watch.watch import TICK
from ..face import Face, command, complete_session


@command(
    "watch",
    epilog="recollect watch\nrecollect watch last\nrecollect watch --project myapp\n"
    "recollect watch --jsonl | jq 'select(.event == \"tool_finished\")'",
)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--from-start", is_flag=True, help="First what is in the session already. Needs SESSION.")
@click.option("--thinking", is_flag=True, help="Show thoughts too.")
@click.option(
    "--everything", is_flag=True, help="Also entries that are no messages: state lines, attachments, request logs."
)
@click.option("--polling", is_flag=True, help="Look at the files in turn instead of asking the system for changes.")
def watch(
    face: Face,
    session: str | None,
    project: str | None,
    from_start: bool,
    thinking: bool,
    everything: bool,
    polling: bool,
) -> None:
    """What happens in sessions from now on: prompts, answers, tool calls, subagents. Ends with Ctrl-C."""
    if session is not None and project is not None:
        raise click.UsageError("give SESSION or --project, not both")
    if from_start and session is None:
        raise click.UsageError("--from-start needs SESSION")
    if session is not None:
        events = face.library.watch_session(session, from_start=from_start, polling=polling)
    else:
        face.advise_on_project(project)
        events = face.library.watch(project=project, polling=polling)
    with events:
        _tell_start(face, events, asked=polling)
        text = EventText(face, thinking=thinking, one_session=session is not None)
        while True:
            found = events.poll(TICK)
            if not found and _reader_is_gone():
                raise BrokenPipeError
            for event in found:
                if type(event) is EntryAdded and not everything:
                    continue
                if not face.is_text:
                    click.echo(json.dumps(event_data(event), default=str))
                    continue
                for line in text.lines(event):
                    face.print_styled(line)


def _tell_start(face: Face, events: Watching, *, asked: bool) -> None:
    if face.is_text:
        face.say("watching, Ctrl-C ends it")
    if events.polling_reason is not None and not asked:
        face.say(f"looking at the files in turn: {events.polling_reason}")


def _reader_is_gone() -> bool:
    """Whether nobody reads our output any more (`| head`): a watch may have nothing to write for hours, and must not stay."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # not a file at all
        return False
    return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))


def event_data(event: SessionEvent) -> dict[str, Any]:
    """An event for JSON; the names are part of the interface."""
    row: dict[str, Any] = {
        "event": event.kind,
        "session_id": event.session_id,
        "subagent_id": event.subagent_id,
        "time": to_iso(event.time),
        "path": event.path,
    }
    if isinstance(event, MessageAdded):
        blocks = event.blocks
        row |= {
            "uuid": event.uuid,
            "role": event.role,
            "model": event.model,
            "message_id": event.message_id,
            "text": "\n".join(block.text for block in blocks if isinstance(block, TextBlock)),
            "blocks": [block_data(block) for block in blocks],
            "line": event.line,
            "offset": event.offset,
        }
    elif isinstance(event, EntryAdded):
        row |= {
            "type": event.type,
            "uuid": event.uuid,
            "line": event.line,
            "offset": event.offset,
            "entry": event.entry,
        }
    elif isinstance(event, LineDamaged):
        damage = event.damage
        row |= {
            "kind": damage.kind, "line": damage.line or None, "offset": damage.offset, "length": damage.length,
            "detail": damage.detail,
        }  # fmt: skip
    else:
        shared = SessionEvent.__dataclass_fields__
        row |= {name: getattr(event, name) for name in type(event).__dataclass_fields__ if name not in shared}
    return row


_NAMES = {
    "user": ("You", "cyan"),
    "assistant": ("Claude", "magenta"),
    "summary": ("Summary of what was before", "yellow"),
    "error": ("API error", "red"),
}
_SHORT_RESULT = 100


class EventText:
    """Events as lines for a terminal. What comes from a transcript is made safe before it is styled."""

    def __init__(self, face: Face, *, thinking: bool, one_session: bool) -> None:
        self.face = face
        self.thinking = thinking
        self.one_session = one_session
        self._results: dict[str, ToolResultBlock] = {}
        self._speaker: tuple[object, ...] | None = None

    def lines(self, event: SessionEvent) -> list[str]:
        told = self._told(event)
        if not told:
            return []
        start = self._start(event)
        return [f"{start}{line}" for line in told]

    def _start(self, event: SessionEvent) -> str:
        """The time, and whose it is where that is not clear."""
        clock = self.face.style(_time_of_day(event.time), dim=True)
        names = [] if self.one_session else [event.session_id[:8]]
        if event.subagent_id is not None:
            names.append(f"subagent {event.subagent_id[:8]}")
        who = f" {self.face.style(safe_line(' '.join(names)), fg='blue')}" if names else ""
        return f"{clock}{who}  "

    def _told(self, event: SessionEvent) -> list[str]:
        style = self.face.style
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
            told = f"budget {event.name}: {event.spent:g} of {event.limit:g} {event.unit}"
            return [style(told, fg="red", bold=True)]
        return [style(event.kind, dim=True)]

    def _message(self, event: MessageAdded) -> list[str]:
        parts: list[str] = []
        self._results = {}  # the events that tell of their end come next
        for block in event.blocks:
            if isinstance(block, ToolResultBlock):
                self._results[block.tool_use_id] = block
            elif isinstance(block, TextBlock) and event.role in _NAMES:
                parts.extend(safe(block.text).strip("\n").splitlines())
            elif isinstance(block, ThinkingBlock) and self.thinking:
                words = "(redacted)" if block.redacted else safe(block.thinking).strip("\n")
                parts.extend(self.face.style(f"✻ {line}", dim=True) for line in words.splitlines())
        if not any(part.strip() for part in parts):
            return []
        name, color = _NAMES.get(event.role, (event.role, None))
        if event.subagent_id is not None and event.role == "user":
            name = "Task"  # in a subagent nobody typed: the caller did
        if event.model and event.role == "assistant":
            name = f"{name} ({event.model.removeprefix('claude-')})"
        speaker = (event.session_id, event.subagent_id, event.role, event.message_id or event.uuid)
        head = [] if speaker == self._speaker else [self.face.style(f"▌ {safe_line(name)}", fg=color, bold=True)]
        self._speaker = speaker
        return [*head, *(f"  {part}" for part in parts)]

    def _finished(self, event: ToolFinished) -> str:
        result = self._results.pop(event.tool_use_id, None)
        words = result.text() if result is not None else ""
        lines = words.rstrip("\n").count("\n") + 1
        more = f"  (+{lines - 1} lines)" if lines > 1 else ""
        first = one_line(words, _SHORT_RESULT) or "(empty)"
        name = f"{event.name}: " if event.name else ""
        told = f"⎿ {name}{first}{more}  {seconds(event.duration)}".rstrip()
        return self.face.style(told, fg="red" if event.is_error else None, dim=True)


def _time_of_day(moment: float) -> str:
    from datetime import datetime

    try:
        return datetime.fromtimestamp(moment).strftime("%H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "--:--:--"
