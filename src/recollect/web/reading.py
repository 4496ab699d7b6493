"""Split a session into pages: which view an address means, and which messages are on which page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import quote

from ..errors import NotFound
from ..export.rendering import plain
from ..library.reading import LONGEST_LINE, VIEWS, Reading, ShownMessage, View, find_view
from ..library.service import Service
from ..library.session import Session

__all__ = ["PAGE_MESSAGES", "VIEWS", "PageReading", "PageView", "find_place", "read", "show_page"]

PAGE_MESSAGES: Final = 100


@dataclass(frozen=True)
class PageView(View):
    """A view of a session, as part of an address."""

    @property
    def query(self) -> str:
        """Write the view as part of an address; empty for the usual one."""
        if self.subagent is not None:
            return f"subagent={quote(self.subagent, safe='')}"
        if self.branch is not None:
            return f"branch={self.branch}"
        return "" if self.view == "conversation" else f"view={self.view}"


@dataclass
class PageTurn:
    """A turn in the list beside the conversation."""

    uuid: str | None
    words: str
    page: int
    messages: int
    calls: int
    seconds: float | None
    compacted: bool
    """Whether the turn is before a compaction, so that the model no longer sees it."""


class PageReading(Reading):
    """A session read in one way, split into pages of messages."""

    def __init__(self, session: Session, view: PageView) -> None:
        super().__init__(session, view)
        self.wanted = view

    @property
    def pages(self) -> int:
        """Return the number of pages, at least one."""
        return max((len(self.messages) + PAGE_MESSAGES - 1) // PAGE_MESSAGES, 1)

    def page_of(self, uuid: str) -> int | None:
        """Return the page that shows a row; None if none does."""
        found = self.position.get(uuid)
        return None if found is None else found // PAGE_MESSAGES + 1

    @cached_property
    def page_turns(self) -> list[PageTurn]:
        """Return the turns with the pages on which they begin."""
        return [
            PageTurn(
                turn.uuid, plain(turn.prompt or "(no prompt)"), (self.page_of(turn.uuid) if turn.uuid else None) or 1,
                turn.messages, turn.calls, turn.duration, turn.compacted,
            )
            for turn in self.turns
        ]  # fmt: skip


def read(service: Service, session: Session, wanted: PageView) -> PageReading:
    """Read a session in one way, once while the session is unchanged."""
    return service.cached(
        session, ("reading", wanted), lambda: PageReading(session, wanted), lambda made: 2048 + len(made.rows) * 160
    )


def show_page(service: Service, reading: PageReading, page: int) -> list[ShownMessage]:
    """Return the messages of a page, counted from 1."""
    if not 1 <= page <= reading.pages:
        raise NotFound(f"there is no page {page}; the last one is {reading.pages}", slug="no-such-page")
    with service.reading(reading.session):
        reader = reading.reader(longest=LONGEST_LINE)
        return list(reading.shown(reader, (page - 1) * PAGE_MESSAGES, PAGE_MESSAGES))


def find_place(service: Service, session: Session, uuid: str) -> tuple[PageView, int]:
    """Return the view and the page that show a row. Raises NotFound."""
    found = find_view(session, uuid)
    wanted = PageView(found.view, found.branch, found.subagent)
    return wanted, read(service, session, wanted).page_of(uuid) or 1
