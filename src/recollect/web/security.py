"""Check every request before a page sees it: Host, sign-in, origin, size and time of the body; and add safe headers.

No page runs for a request that is refused. Refusals are plain and say what to do.
"""

from __future__ import annotations

import asyncio
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .access import Access, signed_out_page

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
METHODS: Final = frozenset({"GET", "HEAD", "POST"})
OPEN_PATHS: Final = frozenset({"/login", "/login/style.css", "/login/icon.svg"})
BODY_LIMIT: Final = 1 << 20
BODY_SECONDS: Final = 20.0
KNOWN: Final = "recollect.known"
"""Set in the scope's state of a request that came with a key or a cookie."""

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: For content of transcripts that is sent unchanged: not even our own scripts may run there.
SEALED_POLICY: Final = "default-src 'none'; sandbox; frame-ancestors 'none'"
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers would send our own forms with "Origin: null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
    "Cache-Control": "no-store",
}


class BodyTooLarge(Exception):
    """The body has more bytes than any of our forms."""


class BodyTooSlow(Exception):
    """The rest of the body did not arrive in time."""


class Gate:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, access: Access, hosts: frozenset[str]) -> None:
        self.app = app
        self.access = access
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        send = _with_headers(send, close=not scope.get("state", {}).get(KNOWN))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self.app(scope, _limited(receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _say(scope, 421, "wrong-host", "this server does not answer to that host name")
        if scope["method"] not in METHODS:
            return _say(scope, 405, "wrong-method", "only GET, HEAD and POST are known here")
        if _is_too_long(headers.get("content-length")):
            return _say(scope, 413, "too-large", "the request is too large")
        if scope["path"] in OPEN_PATHS and scope["method"] in SAFE_METHODS:
            return None
        by_key = self._has_key(headers)
        if not by_key and not self._has_cookie(headers):
            return signed_out_page(scope)
        scope.setdefault("state", {})[KNOWN] = True
        return self._foreign(scope, headers, by_key=by_key)

    def _foreign(self, scope: Scope, headers: Headers, *, by_key: bool) -> Response | None:
        """Refuse requests that another site makes a browser send. The browser may add our cookie, but never a key."""
        origins = headers.getlist("origin")
        site = headers.get("sec-fetch-site")
        own_origin = len(origins) == 1 and origins[0].lower() in {f"http://{host}" for host in self.hosts}
        if origins and not own_origin:
            return _say(scope, 403, "wrong-origin", "this request comes from another site")
        navigates = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in SAFE_METHODS
        if site is not None and site not in ("same-origin", "none") and not navigates:
            return _say(scope, 403, "wrong-origin", "this request comes from another site")
        if by_key or own_origin:
            return None
        if scope["method"] not in SAFE_METHODS:
            return _say(scope, 403, "no-origin", "a changing request must say which site it comes from")
        if scope["path"].endswith("/events") and site != "same-origin":
            return _say(scope, 403, "no-origin", "a stream must say which site asks for it")
        return None

    def _has_key(self, headers: Headers) -> bool:
        words = headers.get("authorization", "").split(" ", 1)
        return len(words) == 2 and words[0].lower() == "bearer" and self.access.knows_key(words[1].strip())

    def _has_cookie(self, headers: Headers) -> bool:
        value = cookie_value(headers, self.access.cookie_name)
        return value is not None and self.access.knows_cookie(value)


def cookie_value(headers: Headers, name: str) -> str | None:
    for line in headers.getlist("cookie"):
        try:
            found = SimpleCookie(line).get(name)
        except CookieError:
            continue
        if found is not None:
            return found.value
    return None


def body_refused(request: Request, problem: Exception) -> Response:
    """Return the answer to a body that was too large or too slow."""
    if isinstance(problem, BodyTooLarge):
        return _say(request.scope, 413, "too-large", "the request is too large")
    return _say(request.scope, 408, "too-slow", "the request took too long")


def wants_json(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/")


def _say(scope: Scope, status: int, slug: str, message: str) -> Response:
    if wants_json(scope):
        error: dict[str, object] = {"slug": slug, "message": message, "hint": None, "nearest": []}
        return JSONResponse({"error": error}, status)
    return PlainTextResponse(f"{message}\n", status)


def _is_too_long(length: str | None) -> bool:
    if length is None:
        return False
    return not length.isascii() or not length.isdigit() or len(length) > 12 or int(length) > BODY_LIMIT


def _limited(receive: Receive) -> Receive:
    """Pass the body on while it is small and arrives in time; a client that only waits is not interrupted."""
    seen = 0
    complete = False
    deadline: float | None = None

    async def limited() -> Message:
        nonlocal seen, complete, deadline
        if complete:
            return await receive()  # waiting for the client to disconnect, which may take as long as a stream
        now = asyncio.get_running_loop().time()
        deadline = now + BODY_SECONDS if deadline is None else deadline
        try:
            message = await asyncio.wait_for(receive(), max(deadline - now, 0))
        except TimeoutError as problem:
            raise BodyTooSlow from problem
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > BODY_LIMIT:
                raise BodyTooLarge
            complete = not message.get("more_body", False)
        return message

    return limited


def _with_headers(send: Send, *, close: bool) -> Send:
    """Add the headers of every answer, unless the page set stricter ones; unknown clients get one answer per connection."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": list(message["headers"])}  # a cached answer must not collect them
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                if name not in headers:
                    headers[name] = value
            if close:
                headers["Connection"] = "close"
        await send(message)

    return sending
