"""Who may come in: a one-time link, which a browser trades for a cookie, and a key for scripts.

Secrets are compared by their hashes and in constant time; only hashes are kept. Links and keys have 256 bits.
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

SIGN_IN_SECONDS = 7 * 86400.0
"""How long a browser stays signed in without coming back."""
MAX_BROWSERS = 64
"""The browser that was away longest is signed out when there are more."""


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


@dataclass
class Access:
    """The keys of one server. They live as long as its process."""

    port: int
    clock: Callable[[], float] = time.monotonic
    new_link: Callable[[str], None] = lambda _: None
    """Told the next link whenever one was used, so that another browser can come in."""
    api_key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _link: bytes | None = field(default=None, repr=False)
    _browsers: OrderedDict[bytes, float] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def cookie_name(self) -> str:
        """Cookies are shared by all ports of a host: the name keeps two servers apart."""
        return f"recollect-{self.port}"

    def issue_link(self) -> str:
        """A new one-time token; the one before is void."""
        token = secrets.token_urlsafe(32)
        self._link = _hash(token)
        return token

    def trade_link(self, token: str) -> str | None:
        """The cookie's value for a valid link, which is void from then on; None for any other."""
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
    """What a Host header may say: this machine by its loopback names, and what the user adds."""
    names = ["127.0.0.1", "localhost", "[::1]", *more]
    found = {f"{name.lower()}:{port}" for name in names}
    if port == 80:
        found |= {name.lower() for name in names}  # browsers leave the usual port out
    return frozenset(found)
