"""Check who may use the pages: a one-time link, which a browser trades for a cookie, and a key for scripts.

Secrets are compared by their hashes and in constant time; only hashes are stored. Links and keys have 256 bits.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

SIGN_IN_SECONDS = 7 * 86400.0
"""How long a browser stays signed in without a request."""
MAX_BROWSERS = 64
"""If there are more browsers, the one whose last request is oldest is signed out."""


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


@dataclass
class Access:
    """The secrets of one server. They live as long as its process."""

    port: int
    clock: Callable[[], float] = time.monotonic
    new_link: Callable[[str], None] = lambda _: None
    """Called with a new link whenever one was used, so that another browser can sign in."""
    api_key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _link: bytes | None = field(default=None, repr=False)
    _browsers: OrderedDict[bytes, float] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def cookie_name(self) -> str:
        """Return the cookie's name, which contains the port: all ports of a host share their cookies."""
        return f"recollect-{self.port}"

    def issue_link(self) -> str:
        """Return a new one-time token; the previous one becomes invalid."""
        token = secrets.token_urlsafe(32)
        self._link = _hash(token)
        return token

    def trade_link(self, token: str) -> str | None:
        """Return a cookie's value for a valid link, which becomes invalid; None for any other."""
        with self._lock:
            if self._link is None or not hmac.compare_digest(self._link, _hash(token)):
                return None
            self._link = None
            cookie = secrets.token_urlsafe(32)
            self._browsers[_hash(cookie)] = self.clock()
            while len(self._browsers) > MAX_BROWSERS:
                self._browsers.popitem(last=False)
        self.new_link(self.issue_link())
        return cookie

    def knows_cookie(self, value: str) -> bool:
        key = _hash(value)
        with self._lock:
            seen = self._browsers.get(key)
            if seen is None:
                return False
            now = self.clock()
            if now - seen > SIGN_IN_SECONDS:
                del self._browsers[key]
                return False
            self._browsers[key] = now
            self._browsers.move_to_end(key)
            return True

    def forget_cookie(self, value: str) -> None:
        with self._lock:
            self._browsers.pop(_hash(value), None)

    def knows_key(self, value: str) -> bool:
        return hmac.compare_digest(_hash(self.api_key), _hash(value))


def allowed_hosts(port: int, more: Iterable[str] = ()) -> frozenset[str]:
    """Return the allowed values of the Host header: the loopback names of this machine, and those the user adds."""
    names = ["127.0.0.1", "localhost", "[::1]", *more]
    found = {f"{name.lower()}:{port}" for name in names}
    if port == 80:
        found |= {name.lower() for name in names}  # browsers omit the default port
    return frozenset(found)


# Show people who are not signed in what happened and what to do. These pages reveal nothing about the history.

_HINT = "open the link that `recollect serve` printed, or start it again"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1.0625rem/1.6 system-ui, sans-serif; margin: 18vh auto 0; max-width: 34rem; padding: 0 1.5rem; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; }
code { font-family: ui-monospace, monospace; font-size: .95em; }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} · Recollect</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{more}
<link rel="icon" href="/login/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/login/style.css"></head>
<body><main><h1>{title}</h1>{text}</main></body></html>
"""


def signed_out_page(scope: Scope) -> Response:
    """Ask for the link that signs in: as a page, or as an error of the JSON interface."""
    if str(scope["path"]).startswith("/api/"):
        error = {"slug": "not-signed-in", "message": "not signed in", "hint": _HINT, "nearest": []}
        return JSONResponse({"error": error}, 401, {"WWW-Authenticate": "Bearer"})
    return _page(
        "You are not signed in",
        "<p>Recollect opens for the browser that got its link. Go to the terminal where <code>recollect serve</code> "
        "runs and open the newest link it printed there; each one works once.</p>"
        "<p>If it has ended, start <code>recollect serve --open</code> again.</p>",
        401,
    )


def used_link_page() -> Response:
    return _page(
        "This link was used already",
        "<p>A link signs one browser in, once. The terminal where <code>recollect serve</code> runs shows a new one.</p>"
        '<p>If it was this browser, simply <a href="/">go on</a>.</p>',
        401,
    )


def welcome_page(cookie_name: str, cookie: str) -> Response:
    """Set the cookie and continue from a page of our own: a redirect would lose a strict cookie if another site led here."""
    response = _page("Signed in", '<p><a href="/">Go on to your history</a></p>', 200, refresh=True)
    response.set_cookie(cookie_name, cookie, httponly=True, samesite="strict", path="/", max_age=7 * 86400)
    return response


def _page(title: str, text: str, status: int, *, refresh: bool = False) -> Response:
    more = '<meta http-equiv="refresh" content="0;url=/">' if refresh else ""
    return HTMLResponse(_PAGE.format(title=title, text=text, more=more), status, {"Referrer-Policy": "no-referrer"})
