"""Serving the application on this machine: the socket, slow clients, and a clean end."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import Unavailable
from .live import Live

FIRST_REQUEST_SECONDS: Final = 15.0
MAX_CONNECTIONS: Final = 400


class PatientProtocol(H11Protocol):
    """Closes a connection that does not send a whole request in time; slow clients cannot pile up."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(FIRST_REQUEST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        super().connection_lost(exc)


def open_socket(address: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
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
    """Ends its streams first when it is told to end: they would be waited for otherwise."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._live.end()
        await super().shutdown(sockets)


def server_for(app: Starlette, **options: Any) -> Server:
    """No access log: addresses hold what people look for, and the link's token."""
    config = uvicorn.Config(
        app, http=PatientProtocol, ws="none", access_log=False, log_level="warning", server_header=False,
        limit_concurrency=MAX_CONNECTIONS, timeout_keep_alive=10, timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=32 << 10, proxy_headers=False, **options,
    )  # fmt: skip
    return Server(config, app.state.live)
