"""Serve the application on this machine: the socket, slow clients, and a clean end."""

from __future__ import annotations

import asyncio
import functools
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import Unavailable
from ..library.library import Library
from ..library.live_events import LiveEvents
from ..library.service import Service
from .access import Access, allowed_hosts
from .app import create_app
from .assets import missing_sentence
from .security import KNOWN

HEAD_SECONDS: Final = 15.0
BODY_SECONDS: Final = 25.0
"""A little longer than the gate waits, so that the gate can still answer why."""
MAX_CONNECTIONS: Final = 400
MAX_STRANGERS: Final = 100


class PatientProtocol(H11Protocol):
    """Closes connections that do not send a whole request in time, the first and every later one.

    A connection that has not signed in yet is a stranger's. There are at most MAX_STRANGERS of them: a new one replaces the
    oldest, so that strangers who keep connections open cannot lock anybody out.
    """

    def __init__(self, *arguments: Any, strangers: dict[PatientProtocol, None], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._strangers = strangers
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._strangers[self] = None
        self._make_room()
        self._expect_request()

    def on_response_complete(self) -> None:
        self._expect_request()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._strangers.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    @property
    def is_known(self) -> bool:
        """Return whether the gate let the last request through."""
        return self.scope is not None and bool(self.scope["state"].get(KNOWN))

    def _make_room(self) -> None:
        for other in list(self._strangers):
            if len(self._strangers) <= MAX_STRANGERS:
                return
            del self._strangers[other]
            if not other.is_known:
                other.transport.abort()

    def _expect_request(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._head_is_due)

    def _head_is_due(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self.transport.close()
        elif self.conn.their_state is h11.SEND_BODY:
            self._deadline = self.loop.call_later(BODY_SECONDS, self._body_is_due)

    def _body_is_due(self) -> None:
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self.transport.close()


def open_socket(address: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 chooses a free port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((address, port))
        found.listen(128)
    except OSError as problem:
        raise Unavailable(
            f"cannot listen on {address} port {port}: {problem.strerror or problem}", slug="port-taken",
            hint="choose another one with --port, or let the system choose with --port 0",
        ) from problem  # fmt: skip
    found.set_inheritable(False)
    return found


class Server(uvicorn.Server):
    """A server that ends its streams first on shutdown, since it would wait for them otherwise."""

    def __init__(self, config: uvicorn.Config, live: LiveEvents) -> None:
        super().__init__(config)
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._live.end()
        await super().shutdown(sockets)


def server_for(app: Starlette, **options: Any) -> Server:
    """Make the server. It has no access log: addresses contain what people search for, and the link's token."""
    protocol: Any = functools.partial(PatientProtocol, strangers={})
    config = uvicorn.Config(
        app, http=protocol, ws="none", access_log=False, log_level="warning", server_header=False,
        limit_concurrency=MAX_CONNECTIONS, timeout_keep_alive=10, timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=32 << 10, proxy_headers=False, **options,
    )  # fmt: skip
    return Server(config, app.state.live)


# Prepare everything before the pages are served: the socket, the application, the first link.

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass
class Launch:
    """A server that listens but does not answer yet."""

    url: str
    link: str
    """Signs one browser in, once."""
    key: str
    server: Server
    listening: socket.socket
    is_local: bool
    missing: str | None = None
    """Says what the pages lack, if JavaScript libraries are missing."""

    def run(self) -> None:
        """Answer requests until interrupted."""
        try:
            self.server.run(sockets=[self.listening])
        finally:
            self.listening.close()


def launch(
    library: Library,
    *,
    bind: str = "127.0.0.1",
    port: int = 0,
    read_only: bool = False,
    more_hosts: Sequence[str] = (),
    next_link: Callable[[str], None] = lambda _: None,
) -> Launch:
    """Listen on a socket, and make the server for it. `next_link` is called with a new link whenever one was used."""
    service = Service(library, read_only=read_only)
    listening = open_socket(bind, port)
    chosen: int = listening.getsockname()[1]
    name = f"[{bind}]" if ":" in bind else bind
    url = f"http://{'127.0.0.1' if bind in ('0.0.0.0', '::') else name}:{chosen}"
    access = Access(chosen)
    link = f"{url}/login?token={access.issue_link()}"
    access.new_link = lambda token: next_link(f"{url}/login?token={token}")
    app = create_app(service, access, allowed_hosts(chosen, [name, *more_hosts]))
    return Launch(url, link, access.api_key, server_for(app), listening, bind in LOOPBACK, missing_sentence())
