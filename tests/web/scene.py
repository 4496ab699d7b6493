"""An application over a home of its own, and a real server where a test needs one."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.running import tree_state

from recollect.library.library import Library
from recollect.library.service import Service
from recollect.store.home import check_home
from recollect.web.access import Access, allowed_hosts
from recollect.web.app import create_app
from recollect.web.server import open_socket, server_for

PORT = 7373
ORIGIN = f"http://127.0.0.1:{PORT}"
CACHE_SESSION = "30504200-26bf-401d-be46-07c55fd5a0f2"
"""The demo's session with a branch, edits, tasks and file history."""
DAMAGED_SESSION = "7a870939-c918-4c0a-ad47-ec5d5da818e9"


@dataclass
class Scene:
    """A home that is served to a signed-in browser or a script."""

    root: Path
    service: Service
    access: Access
    app: Starlette
    origin: str = ORIGIN

    @property
    def library(self) -> Library:
        return self.service.library

    @property
    def script(self) -> TestClient:
        """A client with the key for scripts."""
        return self.client(Authorization=f"Bearer {self.access.api_key}")

    @property
    def browser(self) -> TestClient:
        """A client that signed in by the link and says where its requests come from, as browsers do."""
        client = self.client(Origin=self.origin)
        client.get("/login", params={"token": self.access.issue_link()}).raise_for_status()
        return client

    def raw(self, path: str) -> tuple[int, str]:
        """Status and text for an address that is sent exactly as it is: clients tidy dots away before they ask."""
        return asyncio.run(self._raw(path))

    async def _raw(self, path: str) -> tuple[int, str]:
        place, _, query = path.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": unquote(place),
            "raw_path": place.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (b"host", self.origin[7:].encode()),
                (b"authorization", f"Bearer {self.access.api_key}".encode()),
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", self.access.port),
            "state": {},
            "app": self.app,
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        body = b"".join(item.get("body", b"") for item in sent)
        return sent[0]["status"], body.decode("utf-8", "replace")

    def client(self, **headers: str) -> TestClient:
        return TestClient(
            self.app, base_url=self.origin, headers=headers, raise_server_exceptions=False, follow_redirects=False
        )


def files_below(root: Path) -> dict[str, tuple[str, int, int]]:
    """Bytes, mode and time of every file; those of folders change when something comes and goes in them."""
    return {name: state for name, state in tree_state(root).items() if not name.endswith(".") and state[0]}


def scene(root: Path, data: Path, *, read_only: bool = False, port: int = PORT) -> Scene:
    """An application over the home at `root`; our own folders lie below `data`."""
    library = Library([check_home(root)], own_folder=lambda kind: data / kind)
    library.changes.journal.lock_seconds = 2
    service = Service(library, read_only=read_only)
    access = Access(port)
    origin = f"http://127.0.0.1:{port}"
    return Scene(root, service, access, create_app(service, access, allowed_hosts(port)), origin)


@contextlib.contextmanager
def served(root: Path, data: Path, *, read_only: bool = False) -> Iterator[Scene]:
    """The same behind a real server on a free port."""
    listening = open_socket("127.0.0.1", 0)
    found = scene(root, data, read_only=read_only, port=listening.getsockname()[1])
    server = server_for(found.app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield found
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def until(ask: Callable[[], str], words: str) -> str:
    """A page, asked for again while it is still being worked out."""
    for _ in range(200):
        text = ask()
        if words in text:
            return text
        time.sleep(0.1)
    raise AssertionError(f"{words!r} never came: {text[:3000]}")
