"""`SessionRepository`: a read-only protocol for repositories of sessions, and an implementation over a library.

    repository = LibrarySessionRepository(recollect.open())
    session = await repository.get_session("3f2a...")

Files are read in a thread, so that an event loop is never blocked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from ..errors import NotFound, Unavailable
from ..watch.events import SessionEvent
from .library import Library
from .session import Session


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions to find. A field that is None does not restrict."""

    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    branch: str | None = None
    running: bool | None = None
    title_contains: str | None = None
    limit: int | None = None


@runtime_checkable
class SessionRepository(Protocol):
    """A read-only repository of sessions."""

    async def get_session(self, session_id: str) -> Session | None: ...

    async def find_sessions(self, filter: SessionFilter | None = None) -> list[Session]: ...

    async def find_by_project(self, project_path: str) -> list[Session]: ...

    async def find_by_group(self, group_id: str) -> list[Session]: ...

    async def query(self, sql: str) -> list[dict[str, Any]]: ...

    def watch_session(self, session_id: str) -> AsyncIterator[SessionEvent]: ...


class LibrarySessionRepository:
    """A repository over Claude homes."""

    def __init__(self, library: Library) -> None:
        self.library = library

    async def get_session(self, session_id: str) -> Session | None:
        """Return the session of this id (or prefix, title, `last`); None if there is none."""

        def find() -> Session | None:
            try:
                return self.library.session(session_id)
            except NotFound as problem:
                if problem.slug == "ambiguous":
                    raise
                return None

        return await asyncio.to_thread(find)

    async def find_sessions(self, filter: SessionFilter | None = None) -> list[Session]:
        """Return the sessions that match, newest first."""
        wanted = filter or SessionFilter()

        def find() -> list[Session]:
            found = self.library.sessions(
                project=wanted.project,
                since=wanted.since,
                until=wanted.until,
                branch=wanted.branch,
                running=wanted.running,
                count=False,
            )
            if wanted.title_contains is not None:
                needle = wanted.title_contains.lower()
                found = [item for item in found if needle in (item.title or "").lower()]
            return [Session(item.file, item, library=self.library) for item in found[: wanted.limit]]

        return await asyncio.to_thread(find)

    async def find_by_project(self, project_path: str) -> list[Session]:
        return await self.find_sessions(SessionFilter(project=project_path))

    async def find_by_group(self, group_id: str) -> list[Session]:
        raise Unavailable(f"groups are not there yet (asked for {group_id})", slug="no-groups")

    async def query(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of one SELECT over the tables of docs/reference/sql.md. Cancelling the task stops the query."""
        from .questions import ask_in_thread

        return (await ask_in_thread(self.library, sql)).dicts()

    def watch_session(self, session_id: str) -> AsyncIterator[SessionEvent]:
        """Watch a session from now on, until the iterator is closed."""
        return self.library.watch_session(session_id)
