"""Compute how full the context window was at each answer of a session."""

from __future__ import annotations

from dataclasses import dataclass

from ..library.reading import LONGEST_LINE
from ..library.service import Service
from ..library.session import Session
from ..library.usage import Usage, message_cost


@dataclass(slots=True)
class Answer:
    """One response of the model in the conversation."""

    number: int
    uuid: str | None
    time: float | None
    model: str | None
    usage: Usage
    cost: int | None = None

    @property
    def context(self) -> int:
        """Return the number of tokens that were sent: fresh, from the cache and into it."""
        usage = self.usage
        return usage.input_tokens + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h


def context_of(service: Service, session: Session) -> list[Answer]:
    """Return the answers of a session with what each sent and cost, from memory if the session is unchanged."""
    return service.cached(
        session, "context", lambda: _context_of(service, session), lambda made: 1000 + 200 * len(made)
    )


def _context_of(service: Service, session: Session) -> list[Answer]:
    found: list[Answer] = []
    with service.reading(session):
        rows = [
            row
            for row in session.conversation.full_history()
            if row.type == "assistant" and not row.is_api_error and row.length <= LONGEST_LINE
        ]
        for number, view in enumerate(session.stream_messages(rows), 1):
            if view.usage is not None and view.usage.total and view.model != "<synthetic>":
                cost = message_cost(view.model, view.seconds, view.usage)
                found.append(Answer(number, view.uuid, view.seconds, view.model, view.usage, cost))
    return found
