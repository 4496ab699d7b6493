"""Make pages from templates, and answers to errors."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from .. import __version__
from ..errors import DamagedData, NotFound, QueryError, RecollectError, Refused, StoreBusy, Unavailable
from ..export.html_parts import html_templates
from ..export.message_html import message_html
from ..library.service import Service
from .assets import STATIC, missing_sentence
from .security import wants_json

FOLDER = Path(__file__).parent
STATUS: dict[type[RecollectError], int] = {
    NotFound: 404, Refused: 403, StoreBusy: 409, QueryError: 400, DamagedData: 422, Unavailable: 503,
}  # fmt: skip


def service_of(request: Request) -> Service:
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


@cache
def templates() -> Environment:
    environment = html_templates(FOLDER / "templates")
    environment.globals["asset"] = asset
    environment.globals["message_html"] = message_html
    environment.globals["version"] = __version__
    environment.globals["missing_sentence"] = missing_sentence
    return environment


@cache
def asset(name: str) -> str:
    """Return the address of a script or style, which changes with the file, so that browsers may cache it for ever."""
    folders = (FOLDER,) if name.startswith("vendor/") else STATIC
    path = next((found for folder in folders if (found := folder / name).is_file()), FOLDER / name)
    try:
        mark = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError:
        mark = "missing"
    return f"/static/{name}?v={mark}"


def is_fragment(request: Request) -> bool:
    """Return whether the page's script requests a part of a page."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-history-restore-request") != "true"


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    service = service_of(request)
    text = templates().get_template(template).render(
        request_path=request.url.path, read_only=service.read_only, fragment=is_fragment(request),
        navigation=request.app.state.navigation, **values,
    )  # fmt: skip
    return HTMLResponse(text.encode("utf-8", "replace"), status, {"Vary": "HX-Request"})


def error_data(problem: RecollectError) -> dict[str, Any]:
    return {
        "slug": problem.slug,
        "message": problem.message,
        "hint": problem.hint,
        "nearest": list(getattr(problem, "nearest", ())),
    }


def status_of(problem: RecollectError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(problem, kind)), 500)


def error_answer(request: Request, problem: RecollectError) -> Response:
    """Answer with an error: as JSON for the interface, as a page or a part of one for a browser."""
    status = status_of(problem)
    if wants_json(request.scope):
        return JSONResponse({"error": error_data(problem)}, status)
    template = "error_part.html" if is_fragment(request) else "error.html"
    return page(request, template, status, error=error_data(problem), code=status)
