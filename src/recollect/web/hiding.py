"""Open the session of a page as the browser wants it: as it is, or without its secrets."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from ..library.session import Session
from .pages import service_of

COOKIE: Final = "recollect-hide-secrets"


def is_hiding(request: Request) -> bool:
    """Return whether this browser hides secrets."""
    return request.cookies.get(COOKIE) == "yes"


def shown_session(request: Request) -> Session:
    """Open the session that the address names; where secrets are hidden, its redacted copy."""
    service = service_of(request)
    found = service.session(request.path_params["id"])
    return service.redacted(found) if is_hiding(request) else found
