"""Sign in by the one-time link, and sign out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from ..access import STYLE, Access, signed_out_page, used_link_page, welcome_page
from ..pages import FOLDER
from ..security import cookie_value


def _access(request: Request) -> Access:
    found = request.app.state.access
    assert isinstance(found, Access)
    return found


def login(request: Request) -> Response:
    access = _access(request)
    token = request.query_params.get("token")
    if token is None:
        return signed_out_page(request.scope)
    if request.method == "HEAD":
        return Response(status_code=200)  # a HEAD request must not use up the link
    cookie = access.trade_link(token[:200])
    return used_link_page() if cookie is None else welcome_page(access.cookie_name, cookie)


def style(_: Request) -> Response:
    return Response(STYLE, media_type="text/css", headers={"Cache-Control": "max-age=3600"})


def icon(_: Request) -> Response:
    return FileResponse(FOLDER / "static" / "icon.svg", media_type="image/svg+xml")


def logout(request: Request) -> Response:
    access = _access(request)
    access.forget_cookie(cookie_value(request.headers, access.cookie_name) or "")
    response = RedirectResponse("/login", 303)
    response.delete_cookie(access.cookie_name, path="/", httponly=True, samesite="strict")
    return response


routes = [
    Route("/login", login),
    Route("/login/style.css", style),
    Route("/login/icon.svg", icon),
    Route("/logout", logout, methods=["POST"]),
]
