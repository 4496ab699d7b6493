"""Prepare everything before the pages are served: the socket, the application, the first link."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..library.library import Library
from ..library.service import Service
from .access import Access, allowed_hosts
from .app import create_app
from .assets import missing_sentence
from .server import Server, open_socket, server_for

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
