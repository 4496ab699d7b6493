"""Read a session in several ways: the whole conversation, as Claude Code would resume it, every row, a branch, a subagent.

reading = session.read("resumed")
print(len(reading.messages))
for message in reading.views(limit=20):
    print(message.role, message.text)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..errors import NotFound
from ..export.conversation import ConversationReader, ShownMessage, media_of, prompt_line
from ..format.blocks import MediaBlock
from ..format.entries import decode_loosely
from ..graph.messages import Message, MessageView, join_responses, split_turns
from ..graph.rows import Row, gc_paused
from ..graph.session import Branch

if TYPE_CHECKING:
    from .session import Session

__all__ = [
    "LONGEST_LINE", "VIEWS", "FileLine", "MessageView", "Reading", "ShownMessage", "TurnLine", "View", "find_view", "line_of",
    "prompt_words",
]  # fmt: skip

VIEWS: Final = ("conversation", "resumed", "all")
"""The conversation with everything before its compactions; what Claude Code would load on resume; every row in file order."""
LONGEST_LINE: Final = 8 << 20
"""A longer line is listed on a page but not decoded, so that a page needs no more memory than it shows."""


@dataclass(frozen=True)
class View:
    """Which rows of a session to read: one of `VIEWS`, or a branch by its number, or a subagent by its id."""

    view: str = "conversation"
    branch: int | None = None
    subagent: str | None = None


@dataclass
class TurnLine:
    """A turn in one line: the prompt, and what was done for it."""

    uuid: str | None
    prompt: str | None
    """The text of the prompt; None if there is none."""
    seconds: float | None
    """When the turn began, in seconds since 1970."""
    messages: int
    calls: int
    duration: float | None
    compacted: bool
    """Whether the turn is before a compaction, so that the model no longer sees it."""


class Reading:
    """A session read in one way. Its messages are joined once."""

    def __init__(self, session: Session, view: View) -> None:
        self.session = session
        self.view = view
        self.rows = _rows(session, view)
        with gc_paused():
            self.messages: list[Message] = join_responses(self.rows)

    @cached_property
    def position(self) -> dict[str, int]:
        """Return the number of the message (from 0) that holds or shows a row, by the row's uuid."""
        found: dict[str, int] = {}
        for number, message in enumerate(self.messages):
            for row in message.rows:
                if row.uuid is not None:
                    found.setdefault(row.uuid, number)
        for call in self.session.conversation.tools.calls:  # results are shown at their calls
            if call.result is not None and call.result.uuid is not None and call.call.uuid in found:
                found[call.result.uuid] = found[call.call.uuid]
        return found

    def number_at_line(self, line: int) -> int | None:
        """Return the number (from 0) of the message with a row on that line; None if there is none."""
        found = (at for at, message in enumerate(self.messages) if any(row.line == line for row in message.rows))
        return next(found, None)

    def number_from_line(self, line: int) -> int:
        """Return the number (from 0) of the first message that ends at or after that line, else of the last one."""
        later = (at for at, message in enumerate(self.messages) if message.rows[-1].line >= line)
        return next(later, max(len(self.messages) - 1, 0))

    def _page(self, offset: int, limit: int | None) -> list[Message]:
        return self.messages[offset:] if limit is None else self.messages[offset : offset + limit]

    def views(self, offset: int = 0, limit: int | None = None, *, longest: int | None = None) -> Iterator[MessageView]:
        """Yield a page of messages with their text. The text of rows longer than `longest` is left out."""
        from .session import views_of

        return views_of(self.session, self._page(offset, limit), longest=longest)

    def reader(self, *, longest: int | None = None) -> ConversationReader:
        """Return the reader that renders this session's messages; rows longer than `longest` are listed but not read."""
        return ConversationReader(self.session.conversation, self.session.value, longest=longest)

    def shown(self, reader: ConversationReader, offset: int = 0, limit: int | None = None) -> Iterator[ShownMessage]:
        """Yield a page of messages as a reader sees them: with results and edits at their calls, subagents, branches."""
        branches = {} if self.view.view == "all" else self._branches_by_row()
        with self.session:
            yield from reader.show(self._page(offset, limit), offset, branches)

    def _branches_by_row(self) -> dict[str, list[Branch]]:
        found: dict[str, list[Branch]] = {}
        for branch in self.session.conversation.branches:
            if branch.left_at is not None:
                found.setdefault(branch.left_at, []).append(branch)
        return found

    @cached_property
    def turns(self) -> list[TurnLine]:
        """Return the turns of the rows that are read, in order."""
        live = {row.index for row in self.session.thread.chain}
        found: list[TurnLine] = []
        with self.session:
            for turn in split_turns(self.rows):
                first = turn.rows[0]
                found.append(
                    TurnLine(
                        next((row.uuid for row in turn.rows if row.uuid in self.position), None),
                        prompt_words(self.session, turn.prompt, 120), first.time, sum(row.is_message for row in turn.rows),
                        turn.tool_calls, turn.duration, compacted=first.file == 0 and first.index not in live,
                    )
                )  # fmt: skip
        return found


def prompt_words(session: Session, row: Row | None, width: int = 80) -> str | None:
    """Return a prompt in one line, a slash command by its name; None if there is no text."""
    if row is None:
        return None
    if row.length > LONGEST_LINE:
        return "(a very long prompt)"
    return prompt_line(session.value(row), width)


def find_view(session: Session, uuid: str) -> View:
    """Return the view that shows a row: the conversation, a branch, a subagent, or every row.

    Raises NotFound if the session has no such row.
    """
    graph = session.conversation
    if any(row.uuid == uuid for row in _rows(session, View())):
        return View()
    for branch in graph.branches:
        if any(row.uuid == uuid for row in branch.rows):
            return View(branch=branch.number)
    for subagent in graph.subagents:
        if any(row.uuid == uuid for row in subagent.rows):
            return View(subagent=subagent.subagent_id)
    if any(row.uuid == uuid for row in session.transcript.rows):
        return View("all")
    raise NotFound(
        f"session {session.id} has no message {uuid[:80]!r}", slug="no-such-message", hint="it may have been rewritten"
    )


def _rows(session: Session, view: View) -> list[Row]:
    if view.subagent is not None:
        return _subagent_rows(session, view.subagent)
    if view.branch:
        return _branch_rows(session, view.branch)
    if session.file.is_gone:
        return [row for item in session.conversation.subagents for row in item.rows]
    if view.view == "all":
        return session.transcript.rows
    return session.thread.chain if view.view == "resumed" else session.conversation.full_history()


def _branch_rows(session: Session, number: int) -> list[Row]:
    for item in session.conversation.branches:
        if item.number == number:
            return session.conversation.branch_rows(item)
    raise NotFound(
        f"session {session.id} has no branch {number}", slug="no-such-branch",
        hint="`recollect tree SESSION` shows the branches",
    )  # fmt: skip


def _subagent_rows(session: Session, subagent: str) -> list[Row]:
    subagents = session.conversation.subagents
    for item in subagents:
        if item.subagent_id == subagent:
            return item.rows
    raise NotFound(
        f"session {session.id} has no subagent {subagent}", slug="no-such-subagent",
        nearest=tuple(item.subagent_id for item in subagents),
    )  # fmt: skip


@dataclass
class FileLine:
    """A line of a file: its first bytes, and its length."""

    number: int
    offset: int
    data: bytes
    """At most `LONGEST_LINE` bytes and one more."""
    length: int

    @property
    def value(self) -> Any:
        """Return the parsed JSON of the line, read leniently; None if it is not JSON or too long."""
        return decode_loosely(self.data) if self.length == len(self.data) else None

    @property
    def media(self) -> list[MediaBlock]:
        """Return the pictures and documents in the line, in order."""
        value = self.value
        return media_of(value) if isinstance(value, dict) else []


def line_of(session: Session, file: int, number: int) -> FileLine:
    """Return a line of a session; `file` is 0 for the main transcript, else the number of a subagent's file.

    Raises NotFound.
    """
    if not 0 <= file <= len(session.file.subagents):
        raise NotFound("there is no such line", slug="no-such-line")
    subagent = None if file == 0 else session.file.subagents[file - 1].subagent_id
    found = FileLine(number, 0, b"", 0)
    for line in session.lines(subagent):
        if line.number <= number <= line.last_number:
            found.offset = found.offset if found.length else line.offset
            found.length += len(line.data)
            if len(found.data) <= LONGEST_LINE:
                found.data += line.data[: LONGEST_LINE + 1]
            if not line.more:
                return found
        elif line.number > number:
            break
    raise NotFound(f"there is no line {number}", slug="no-such-line")
