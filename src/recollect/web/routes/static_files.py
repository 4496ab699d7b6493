"""Send our own scripts and styles, and the libraries that were fetched when the package was built."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..pages import FOLDER, STATIC

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_OWN = {path.name: path for folder in STATIC for path in folder.iterdir() if path.suffix[1:] in _TYPES}


def static(request: Request) -> Response:
    """Send a file whose name is known beforehand; a request cannot name a path."""
    name = request.path_params["name"]
    path = _OWN.get(name)
    if name.startswith("vendor/"):
        path = {item.name: item for item in (FOLDER / "vendor").glob("*.*")}.get(name.removeprefix("vendor/"))
    if path is None or path.suffix[1:] not in _TYPES:
        return PlainTextResponse("no such file\n", 404)
    known = request.query_params.get("v")
    keep = "private, max-age=31536000, immutable" if known else "no-cache"
    return FileResponse(path, media_type=_TYPES[path.suffix[1:]], headers={"Cache-Control": keep})


routes = [Route("/static/{name:path}", static)]
