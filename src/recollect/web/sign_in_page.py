"""Show people who are not signed in what happened and what to do. These pages reveal nothing about the history."""

from __future__ import annotations

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

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
