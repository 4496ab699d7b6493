"""Assemble the application: the gate, the pages behind it, and the answers to errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ..errors import NotFound, QueryError, RecollectError
from ..library.live_events import LiveEvents
from ..library.service import Service
from . import assets, live
from .access import Access
from .pages import error_answer
from .routes import (
    actions,
    api,
    bookmarks,
    export,
    health,
    home,
    lines,
    login,
    search,
    secrets,
    session,
    session_tabs,
    sessions,
    sql,
    usage,
)
from .security import BodyTooLarge, BodyTooSlow, Gate, body_refused

log = logging.getLogger("recollect.web")
NAVIGATION = (
    ("/", "Home"), ("/sessions", "Sessions"), ("/search", "Search"), ("/usage", "Usage"), ("/sql", "SQL"),
    ("/health", "Health"), ("/bookmarks", "Bookmarks"), ("/changes", "Changes"),
)  # fmt: skip


class Guarded(Starlette):
    """An application whose gate comes before everything, including the error handlers."""

    access: Access
    hosts: frozenset[str]

    def build_middleware_stack(self) -> ASGIApp:
        return Gate(super().build_middleware_stack(), access=self.access, hosts=self.hosts)


def create_app(service: Service, access: Access, hosts: frozenset[str]) -> Starlette:
    """Make the application that shows a service's library."""
    pages = [
        login, assets, home, sessions, session, session_tabs, export, secrets, lines, actions, bookmarks, search, usage, sql,
        health, live, api,
    ]  # fmt: skip
    found = [route for module in pages for route in module.routes]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        app.state.live.close()
        service.close()

    app = Guarded(
        routes=[*found, *api.last_routes],
        exception_handlers={
            RecollectError: _known, BodyTooLarge: body_refused, BodyTooSlow: body_refused, HTTPException: _http,
            Exception: _unknown,
        },
        lifespan=lifespan,
    )  # fmt: skip
    app.access, app.hosts = access, hosts
    app.router.redirect_slashes = False  # an address is taken literally
    app.state.service = service
    app.state.access = access
    app.state.live = LiveEvents(service.library)
    app.state.navigation = NAVIGATION
    return app


def _known(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, RecollectError)
    return error_answer(request, problem)


def _http(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    if problem.status_code == 404:
        return error_answer(request, NotFound("there is no such page", slug="no-such-page"))
    response = error_answer(request, QueryError(str(problem.detail), slug="bad-request"))
    response.status_code = problem.status_code
    return response


def _unknown(request: Request, problem: Exception) -> Response:
    """Answer after a bug, or for a file that is gone. The log names the error, never the address: it may hold a token."""
    if isinstance(problem, OSError):
        return error_answer(
            request, NotFound(f"a file could not be read: {problem.strerror or problem}", slug="unreadable-file")
        )
    log.error("a page failed: %s", type(problem).__name__, exc_info=problem)
    return error_answer(
        request,
        RecollectError(
            f"a bug: {type(problem).__name__}", hint="the terminal of `recollect serve` shows more", slug="bug"
        ),
    )
