"""Requests that no browser sends: every route with odd methods, headers, addresses, queries and bodies. Nothing is ever a 500.

The choices are derandomized: a number is a request. `make soak` asks forty times as many.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest
from starlette.routing import Route
from tests.faults.places import SOAK
from tests.web.scene import CACHE_SESSION, DAMAGED_SESSION, Scene

from recollect.web.api_description import PREFIX
from recollect.web.api_endpoints import ENDPOINTS

REQUESTS = 6000 if SOAK else 150
BATCHES = range(4)

NAMES = (
    "q", "sort", "start", "at", "offset", "limit", "span", "sql", "branch", "before", "as", "subagent", "view", "v", "token",
    "tag", "step", "session", "seen", "saved", "save", "rows", "path", "page", "note", "name", "message", "key", "force",
    "download", "by", "status", "project", "number", "model", "line", "id", "day", "date", "title", "dry_run", "plan", "text",
    "since", "until", "set", "uuid", "file", "days", "home", "hits", "everything",
)  # fmt: skip
SENSIBLE = (
    CACHE_SESSION, CACHE_SESSION[:8], DAMAGED_SESSION, "last", "1", "2", "all", "resumed", "messages", "cost", "day", "model",
    "week", "project", "session", "tool", "json", "csv", "redis", "role:user", "SELECT 1", "SELECT * FROM sessions",
    "2026-03-26", "true", "on", "rename", "delete", "keep", "check", "verify", "main", "106c18e1",
)  # fmt: skip
ODD = (
    "", " ", "0", "-1", "-0", "+1", "1e9", "NaN", "0x10", "٣", "１", "²", "9" * 30, "1.5", "None", "null", "[]", "{}", "%", "%zz",
    "..", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "C:\\x", "~", "\x00", "a\x00b", "\r\nX: y", "\ud800",
    "\U0010ffff", "a" * 5000, "'", '"', "';--", "<script>alert(1)</script>", "{{7*7}}", "${x}", "a:b:c", "role:", "(((",
    '"unclosed',
    "*", "-", "OR", "9999-99-99", "0000-00-00", "2026-02-30", "2026-03-26T99:99", "10000d", "SELECT", "SELECT $x", "a=b", "a\nb",
    "\u202e", "🙂" * 50, "\ufeff", "last ", "LAST", "0" * 200, "00000000-0000-0000-0000-000000000000",
)  # fmt: skip
METHODS = ("GET",) * 6 + ("POST",) * 5 + ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "X" * 300)
BODIES = (
    b"", b"null", b"[]", b"{}", b"{", b'"x"', b"1e999", b"[" * 5000, b'{"a":' * 3000, b"\xff\xfe", b"\x00" * 100, b"a=%zz&b=%00",
    b"&" * 500, b"=&=&=", b"{\"title\": \"\\ud800\"}", b'{"title": 1}', b'{"title": null, "dry_run": "yes"}',
)  # fmt: skip
HEADERS: tuple[tuple[bytes, tuple[bytes, ...]], ...] = (
    (b"hx-request", (b"true", b"false", b"\xff")),
    (b"hx-history-restore-request", (b"true",)),
    (b"range", (b"bytes=0-", b"bytes=-1", b"bytes=9-1", b"bytes=0-0,2-3", b"x", b"bytes=" + b"1-2," * 500)),
    (b"accept", (b"*/*", b"application/json", b"\xff", b"text/html;q=x")),
    (b"accept-encoding", (b"gzip", b"\xff")),
    (b"if-none-match", (b"*", b'"x"', b"\xff")),
    (b"if-modified-since", (b"yesterday", b"Thu, 01 Jan 1970 00:00:00 GMT")),
    (b"if-range", (b"x",)),
    (b"content-length", (b"0", b"5", b"-1", b"x", b"99999999999")),
    (b"cookie", (b"=;=;", b"a" * 4000, b"\xff\xfe", b"recollect=\x00", b'a="\\')),
    (b"origin", (b"null", b"http://127.0.0.1:7373", b"http://evil", b"\xff", b"")),
    (b"sec-fetch-site", (b"same-origin", b"cross-site", b"\xff")),
    (b"sec-fetch-mode", (b"navigate", b"\xff")),
    (b"last-event-id", (b"x", b"\xff")),
    (b"x-forwarded-for", (b"1.2.3.4",)),
    (b"referer", (b"\xff",)),
    (b"upgrade", (b"websocket",)),
)
CONTENT_TYPES = (
    b"application/x-www-form-urlencoded", b"application/json", b"application/json; charset=utf-16", b"multipart/form-data",
    b"multipart/form-data; boundary=x", b"text/plain", b"", b"\xff",
)  # fmt: skip


class Asker:
    """Makes requests by number."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.routes = [
            (route.path, method)
            for route in scene.app.routes
            if isinstance(route, Route)
            for method in sorted((route.methods or set()) - {"HEAD"})
        ]
        self.known = {
            (PREFIX + endpoint.path, endpoint.method): {
                item.name: tuple(str(value) for value in item.schema.get("enum", ()))
                for item in endpoint.parameters
                if item.place == "query"
            }
            for endpoint in ENDPOINTS
        }
        """Names and choices of the parameters that the interface knows; it refuses all others."""
        self.failed: list[str] = []
        self.answered: set[tuple[str, str]] = set()

    def request(self, number: int) -> tuple[dict[str, Any], bytes]:
        """The scope and body of a request."""
        chance = random.Random(number)
        oddness = chance.choice((0.0, 0.05, 0.2, 0.6))
        route = self.routes[number % len(self.routes)]
        method = chance.choice(METHODS) if chance.random() < oddness / 2 else route[1]
        path = re.sub(r"{(\w+)(:\w+)?}", lambda match: self._segment(chance, oddness, match), route[0])
        if chance.random() < oddness / 4:
            path += chance.choice(("/", "//", "/..", "/.", "%00", "/x", ";x", "%2f"))
        count = chance.choice((0, 0, 1, 1, 2, 3, 8))
        query = "&".join(self._pair(chance, oddness, self.known.get(route, {})) for _ in range(count))
        headers = [(b"host", self.scene.origin[7:].encode())]
        if chance.random() < oddness / 10:
            headers = chance.choice(([], [(b"host", b"\xff")], headers * 2, [(b"host", b"evil")]))
        if chance.random() >= oddness / 10:
            headers.append((b"authorization", f"Bearer {self.scene.access.api_key}".encode()))
        else:
            headers.append((b"authorization", chance.choice((b"", b"Bearer", b"Bearer \xff", b"Basic eDp5", b"\x00"))))
        for name, values in chance.sample(HEADERS, chance.choice((0, 1, 2, 5)) if chance.random() < oddness else 0):
            headers.append((name, chance.choice(values)))
        body = b""
        if method not in ("GET", "HEAD") or chance.random() < oddness / 10:
            body = self._body(chance, oddness, route[0].startswith("/api/"), headers)
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": unquote_to_bytes(path).decode("utf-8", "replace"), "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "headers": headers, "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", self.scene.access.port), "state": {}, "app": self.scene.app,
        }  # fmt: skip
        return scope, body

    def _segment(self, chance: random.Random, oddness: float, match: re.Match[str]) -> str:
        if chance.random() < oddness / 2:
            return _quoted(chance.choice(SENSIBLE + ODD))
        if match[1] == "id":
            return chance.choice((CACHE_SESSION, CACHE_SESSION, DAMAGED_SESSION, "last"))
        if match[1] in ("number", "line", "file"):
            return chance.choice(("0", "1", "2", "3", "7", "999999999"))
        if match[1] in ("action", "job"):
            return chance.choice(
                ("rename", "tag", "fork", "rewind", "delete", "repair", "restore", "keep", "check", "verify")
            )
        return chance.choice(("page.css", "106c18e1", "openapi.json"))

    def _pair(self, chance: random.Random, oddness: float, known: dict[str, tuple[str, ...]]) -> str:
        odd = chance.random() < oddness
        name = chance.choice(tuple(known) or NAMES) if chance.random() >= oddness / 5 else _quoted(chance.choice(ODD))
        value = chance.choice(ODD if odd else known.get(name) or SENSIBLE)
        return f"{name}={value if value.isalnum() and value.isascii() else _quoted(value)}"

    def _body(self, chance: random.Random, oddness: float, is_api: bool, headers: list[tuple[bytes, bytes]]) -> bytes:
        kind = chance.choice(CONTENT_TYPES) if chance.random() < oddness / 2 else CONTENT_TYPES[1 if is_api else 0]
        headers.append((b"content-type", kind))
        if chance.random() < oddness / 2:
            return chance.choice(BODIES)
        names = chance.sample(("title", "tag", "at", "branch", "dry_run", "sql", "note", "name", "force", *NAMES), 3)
        if kind.startswith(b"application/json"):
            values: tuple[Any, ...] = (*SENSIBLE, None, True, False, 0, -1, 10**30, 1.5, [], {}, ["x"], {"x": []})
            chosen = {name: chance.choice(ODD if chance.random() < oddness else values) for name in names}
            return json.dumps(chosen).encode("utf-8", "replace")
        return "&".join(self._pair(chance, oddness, {}) for _ in names).encode()

    async def ask(self, number: int) -> None:
        scope, body = self.request(number)
        told = f"request {number}: {scope['method']} {scope['raw_path']!r}?{scope['query_string']!r} {body[:200]!r}"
        incoming: Iterator[dict[str, Any]] = iter([{"type": "http.request", "body": body, "more_body": False}])
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return next(incoming, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            sent.append(message)

        try:
            await asyncio.wait_for(self.scene.app(scope, receive, send), 60)
        except Exception as problem:
            self.failed.append(f"{told}: {type(problem).__name__}: {problem}")
            return
        starts = [message for message in sent if message["type"] == "http.response.start"]
        text = b"".join(message.get("body", b"") for message in sent)
        if len(starts) != 1 or starts[0]["status"] == 500 or b"Traceback (most recent" in text:
            self.failed.append(f"{told}: {[start['status'] for start in starts]} {text[:300]!r}")
        elif starts[0]["status"] < 400:
            self.answered.add(self.routes[number % len(self.routes)])
        if starts and any(b"\n" in value or b"\r" in value for _, value in starts[0]["headers"]):
            self.failed.append(f"{told}: a header with a line break")


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("batch", BATCHES)
def test_no_request_is_answered_by_a_bug(demo: Scene, caplog: pytest.LogCaptureFixture, batch: int) -> None:
    asker = Asker(demo)

    async def ask_all() -> None:
        for number in range(batch * REQUESTS, (batch + 1) * REQUESTS):
            await asker.ask(number)

    with caplog.at_level(logging.WARNING):
        asyncio.run(ask_all())
    assert asker.failed == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert demo.script.get("/sessions").status_code == 200


def test_the_requests_reach_the_pages(demo: Scene) -> None:
    """Most routes give an answer to some of them, so that a bug behind the checks would be seen."""
    asker = Asker(demo)

    async def ask_all() -> None:
        for number in range(400):
            await asker.ask(number)

    asyncio.run(ask_all())
    assert len(asker.answered) > len(asker.routes) * 0.6
    assert {method for _, method in asker.answered} == {"GET", "POST"}
