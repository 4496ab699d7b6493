"""Define the events of a watch.

Every complete new entry comes in exactly one `EntryAdded` (a `MessageAdded` where it is a row of the conversation). The other
events say what entries and files mean; they follow the entry they were read from, and carry the same `session_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from ..format.blocks import Block, ToolResultBlock, parse_blocks
from ..format.entries import decode_loosely
from ..format.line import Damage


@dataclass(frozen=True, kw_only=True)
class SessionEvent:
    """Something that happened in a session. `time` is that of the entry, else that of the notice (seconds since 1970)."""

    kind: ClassVar[str] = "event"

    session_id: str
    time: float
    subagent_id: str | None = None
    """The subagent in whose transcript it happened; None for the session itself."""
    path: str | None = None
    """The transcript; None where none is written yet."""


@dataclass(frozen=True, kw_only=True)
class SessionStarted(SessionEvent):
    """A transcript was begun, or Claude Code opened the session (2.1.100 and later say so)."""

    kind: ClassVar[str] = "session_started"

    cwd: str | None = None
    pid: int | None = None


@dataclass(frozen=True, kw_only=True)
class SessionEnded(SessionEvent):
    """Claude Code that had the session open is gone, or has opened another one. Only 2.1.100 and later tell."""

    kind: ClassVar[str] = "session_ended"

    reason: str
    """"closed", "died" (its process is gone, its note is still there) or "left" (for another session)."""
    pid: int | None = None


@dataclass(frozen=True, kw_only=True)
class EntryAdded(SessionEvent):
    """A complete new entry. It is decoded when `entry` is read."""

    kind: ClassVar[str] = "entry"

    type: str | None
    uuid: str | None
    raw: bytes
    offset: int
    line: int | None = None
    """Counted from 1; None in files too long to be counted."""

    @property
    def entry(self) -> dict[str, Any]:
        """The entry as plain data, with the names it has on disk; empty if it cannot be decoded."""
        value = decode_loosely(self.raw)
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, kw_only=True)
class MessageAdded(EntryAdded):
    """A row of the conversation. A response of the model comes as several, which share `message_id`."""

    kind: ClassVar[str] = "message"

    role: str
    """As in `Message.role`: user, assistant, tool, meta, summary, system, error."""
    model: str | None = None
    message_id: str | None = None

    @property
    def blocks(self) -> list[Block]:
        entry = self.entry
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else entry.get("content")
        return parse_blocks(content)

    @property
    def text(self) -> str:
        """The text of the message, without the results of tools."""
        blocks = [block for block in self.blocks if not isinstance(block, ToolResultBlock)]
        return "\n".join(block.text for block in blocks if hasattr(block, "text") and isinstance(block.text, str))


@dataclass(frozen=True, kw_only=True)
class ToolStarted(SessionEvent):
    """The model called a tool."""

    kind: ClassVar[str] = "tool_started"

    tool_use_id: str
    name: str
    input: Any = None
    uuid: str | None = None


@dataclass(frozen=True, kw_only=True)
class ToolFinished(SessionEvent):
    """A tool's result was written.

    `duration` is in seconds, by the timestamps; it and `name` are None if the call is no longer known.
    """

    kind: ClassVar[str] = "tool_finished"

    tool_use_id: str
    name: str | None
    duration: float | None
    is_error: bool = False
    uuid: str | None = None


@dataclass(frozen=True, kw_only=True)
class SubagentStarted(SessionEvent):
    """A subagent began; `subagent_id` is its own. What its meta file does not say (yet) is None."""

    kind: ClassVar[str] = "subagent_started"

    subagent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None
    parent_subagent_id: str | None = None
    workflow: str | None = None


@dataclass(frozen=True, kw_only=True)
class Compacted(SessionEvent):
    """The conversation was compacted."""

    kind: ClassVar[str] = "compaction"

    trigger: str | None
    tokens_before: int | None
    uuid: str | None = None


@dataclass(frozen=True, kw_only=True)
class TitleChanged(SessionEvent):
    """The session has another title."""

    kind: ClassVar[str] = "title_changed"

    title: str
    source: str
    """"custom" (given by a person), "ai" or "summary"."""


@dataclass(frozen=True, kw_only=True)
class LineDamaged(SessionEvent):
    """A complete line that is not as it should be. What could be salvaged of it comes as entries."""

    kind: ClassVar[str] = "damage"

    damage: Damage


@dataclass(frozen=True, kw_only=True)
class BudgetReached(SessionEvent):
    """A budget's limit was reached. Only the `budget` that is given to a watch makes these events."""

    kind: ClassVar[str] = "budget"

    name: str
    spent: float
    limit: float
    unit: str


Budget: TypeAlias = Callable[[SessionEvent], Iterable[BudgetReached]]
"""Is called with every event and returns the limits that it reached."""

#: All kinds of events by their names in JSON.
EVENTS: dict[str, type[SessionEvent]] = {
    event.kind: event
    for event in (
        SessionStarted, EntryAdded, MessageAdded, ToolStarted, ToolFinished, SubagentStarted, Compacted, TitleChanged,
        SessionEnded, LineDamaged, BudgetReached,
    )
}  # fmt: skip
