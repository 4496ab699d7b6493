"""Find and send the files of the pages: our own scripts and styles, and the JavaScript libraries that are part of the package.

A checkout fetches the libraries with `make web-assets`.
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..export.html_parts import ASSETS

LIBRARIES = ("htmx.min.js", "uPlot.iife.min.js", "uPlot.min.css")
_FOLDER = Path(__file__).parent
VENDOR = _FOLDER / "vendor"
REMEDY = (
    "in a checkout, `make web-assets` fetches them; elsewhere install Recollect again where npm can be reached, "
    "with `pip install --force-reinstall --no-deps --no-cache-dir`"
)


def missing_libraries() -> list[str]:
    """List the libraries that could not be fetched when the package was built. The pages work without them."""
    return [name for name in LIBRARIES if not (VENDOR / name).is_file()]


def missing_sentence() -> str | None:
    """Say which libraries are missing and how to get them; None if none is missing."""
    missing = missing_libraries()
    if not missing:
        return None
    return (
        f"The libraries of the pages were not fetched when Recollect was installed ({', '.join(missing)}): "
        f"charts, live growth and parts that load by themselves are missing. To have them: {REMEDY}."
    )


_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
STATIC = (_FOLDER / "static", ASSETS)
"""The page's own scripts and styles, and those that it shares with exports."""
_OWN = {path.name: path for folder in STATIC for path in folder.iterdir() if path.suffix[1:] in _TYPES}


def static(request: Request) -> Response:
    """Send a file whose name is known beforehand; a request cannot name a path."""
    name = request.path_params["name"]
    path = _OWN.get(name)
    if name.startswith("vendor/"):
        path = {item.name: item for item in VENDOR.glob("*.*")}.get(name.removeprefix("vendor/"))
    if path is None or path.suffix[1:] not in _TYPES:
        return PlainTextResponse("no such file\n", 404)
    known = request.query_params.get("v")
    keep = "private, max-age=31536000, immutable" if known else "no-cache"
    return FileResponse(path, media_type=_TYPES[path.suffix[1:]], headers={"Cache-Control": keep})


routes = [Route("/static/{name:path}", static)]
