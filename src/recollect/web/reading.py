"""Ways to read a session: the whole conversation, as the client would resume it, every line, a branch, a subagent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import NotFound
from ..graph.branches import Branch
from ..graph.messages import Message, join_responses
from ..graph.rows import Row
from ..graph.turns import Turn, split_turns
from ..library.service import Service
from ..library.session import Session
from ..store.summary import command_text, one_line, typed_text
from .conversation import HELD_LINE, PAGE_MESSAGES, Reader, Shown
from .rendering import plain

VIEWS: Final = ("conversation", "resumed", "all")


@dataclass(frozen=True)
class View:
    """Which rows of a session: a view, or a branch by its number, or a subagent."""

    view: str = "conversation"
    branch: int | None = None
    subagent: str | None = None

    @property
    def query(self) -> str:
        """As part of an address."""
        from urllib.parse import quote

        if self.subagent is not None:
            return f"subagent={quote(self.subagent, safe='')}"
        if self.branch is not None:
            return f"branch={self.branch}"
        return "" if self.view == "conversation" else f"view={self.view}"


@dataclass
class TurnLine:
    """A turn in the list beside the conversation."""

    uuid: str | None
    words: str
    time: float | None
    page: int
    messages: int
    calls: int
    seconds: float | None
    compacted: bool
    """It stands before a compaction: the model no longer sees it."""


@dataclass
class Reading:
    """A session read in one way."""

    session: Session
    wanted: View
    messages: list[Message]
    turns: list[TurnLine] = field(default_factory=list)
    position: dict[str, int] = field(default_factory=dict)
    """Number of the message (from 0) that holds a row, by the row's uuid."""

    @property
    def pages(self) -> int:
        return max((len(self.messages) + PAGE_MESSAGES - 1) // PAGE_MESSAGES, 1)

    def page_of(self, uuid: str) -> int | None:
        found = self.position.get(uuid)
        return None if found is None else found // PAGE_MESSAGES + 1


def read(service: Service, session: Session, wanted: View) -> Reading:
    """The reading, made once while the session stays as it is."""
    return service.cached(
        session, ("reading", wanted), lambda: _read(session, wanted), lambda made: 2048 + len(made.position) * 160
    )


def _read(session: Session, wanted: View) -> Reading:
    rows = _rows(session, wanted)
    messages = join_responses(rows)
    reading = Reading(session, wanted, messages)
    for number, message in enumerate(messages):
        for row in message.rows:
            if row.uuid is not None:
                reading.position.setdefault(row.uuid, number)
    for call in session.conversation.tools.calls:  # results are shown at their calls
        if call.result is not None and call.result.uuid is not None and call.call.uuid in reading.position:
            reading.position[call.result.uuid] = reading.position[call.call.uuid]
    live = {row.index for row in session.thread.chain}
    with Reader(session) as reader:
        for turn in split_turns(rows):
            reading.turns.append(_turn_line(reading, turn, live, reader.value))
    return reading


def _rows(session: Session, wanted: View) -> list[Row]:
    if wanted.subagent is not None:
        return session.rows_for(subagent=wanted.subagent)
    if wanted.branch is not None:
        return session.rows_for(branch=wanted.branch)
    if session.file.is_gone:
        return session.rows_for()
    if wanted.view == "all":
        return session.transcript.rows
    return session.thread.chain if wanted.view == "resumed" else session.conversation.full_history()


def _turn_line(reading: Reading, turn: Turn, live: set[int], value: Callable[[Row], dict[str, Any]]) -> TurnLine:
    first = turn.rows[0]
    uuid = next((row.uuid for row in turn.rows if row.uuid in reading.position), None)
    return TurnLine(
        uuid, prompt_words(turn.prompt, value), first.time, (reading.page_of(uuid) if uuid else None) or 1,
        sum(row.is_message for row in turn.rows), turn.tool_calls, turn.duration,
        compacted=first.file == 0 and first.index not in live,
    )  # fmt: skip


def prompt_words(row: Row | None, value: Callable[[Row], dict[str, Any]], width: int = 120) -> str:
    """A prompt in a line; a slash command by its name."""
    if row is None:
        return "(before the first prompt)"
    if row.length > HELD_LINE:
        return "(a very long prompt)"
    message = value(row).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if content is None:
        return "(no words)"
    return plain(one_line((typed_text(content) or command_text(content) or "")[:4000], width) or "") or "(no words)"


def show_page(service: Service, reading: Reading, page: int) -> list[Shown]:
    """The messages of a page, from 1."""
    if not 1 <= page <= reading.pages:
        raise NotFound(f"there is no page {page}; the last one is {reading.pages}", slug="no-such-page")
    first = (page - 1) * PAGE_MESSAGES
    left = {} if reading.wanted.view == "all" else branches_by_row(reading.session)
    with service.reading(reading.session), Reader(reading.session) as reader:
        return list(reader.show(reading.messages[first : first + PAGE_MESSAGES], first, left))


def branches_by_row(session: Session) -> dict[str, list[Branch]]:
    """Branches by the row after which they left."""
    found: dict[str, list[Branch]] = {}
    for branch in session.conversation.branches:
        if branch.left_at is not None:
            found.setdefault(branch.left_at, []).append(branch)
    return found


def find_place(service: Service, session: Session, uuid: str) -> tuple[View, int, str]:
    """Where a row is shown: the way of reading, the page, and the uuid of the message that it is part of."""
    ways = [View(), *(View(branch=item.number) for item in session.conversation.branches)]
    ways.extend(View(subagent=item.subagent_id) for item in session.conversation.subagents if item.rows)
    for wanted in (*ways, View("all")):
        if not _holds(session, wanted, uuid):
            continue
        reading = read(service, session, wanted)
        number = reading.position.get(uuid)
        if number is not None:
            return wanted, number // PAGE_MESSAGES + 1, uuid
    raise NotFound(
        f"session {session.id} has no message {uuid[:80]!r}", slug="no-such-message", hint="it may have been rewritten"
    )


def _holds(session: Session, wanted: View, uuid: str) -> bool:
    """Quick: whether it is worth reading the session in this way."""
    if wanted.branch is not None:
        branch = session.conversation.branches[wanted.branch - 1]
        return any(row.uuid == uuid for row in branch.rows)
    if wanted.subagent is not None:
        return any(row.uuid == uuid for row in session.rows_for(subagent=wanted.subagent))
    return True
