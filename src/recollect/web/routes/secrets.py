"""Hide the secrets of sessions on the pages, or show them again; tell how many a session holds."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...library.redaction import secrets_in
from ..changing import read_form
from ..hiding import COOKIE, is_hiding
from ..pages import page, service_of

_A_YEAR = 365 * 86_400


def badge(request: Request) -> Response:
    """Show how many secrets a session holds, beside its title. The page asks for it once it is there."""
    service = service_of(request)
    found = service.session(request.path_params["id"])
    kinds = service.cached(found, "secrets", lambda: secrets_in(found), lambda told: 100 * len(told) + 100)
    return page(request, "secrets_badge.html", kinds=kinds, hiding=is_hiding(request))


async def switch(request: Request) -> Response:
    """Note in a cookie whether secrets are hidden, and go back to the session."""
    form = await read_form(request)
    response = RedirectResponse(f"/sessions/{quote(request.path_params['id'], safe='')}", 303)
    if form.get("hide") == "yes":
        response.set_cookie(COOKIE, "yes", httponly=True, samesite="strict", path="/", max_age=_A_YEAR)
    else:
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


routes = [
    Route("/sessions/{id}/secrets", badge),
    Route("/sessions/{id}/secrets", switch, methods=["POST"]),
]
