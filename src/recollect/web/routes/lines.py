"""Show a line as it is in the file, and the pictures and documents in it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ...errors import NotFound
from ...export.conversation import PICTURES
from ...export.rendering import code, plain, pretty_json
from ...library.reading import line_of
from ...library.session import Session
from ..hiding import shown_session
from ..pages import is_fragment, page, service_of
from ..security import SEALED_POLICY
from ..session_view import around

SHOWN_BYTES = 200_000
_ALL_LINES = 10_000_000_000


def raw(request: Request) -> Response:
    """Show a line, formatted if it is JSON and not too long. `?download=1` sends its bytes."""
    service = service_of(request)
    found = shown_session(request)
    subagent, number = _place(found, request)
    if request.query_params.get("download"):
        name = f"{found.id}-line-{number}.json"
        data_of_line = (line.data for line in found.lines(subagent) if line.number <= number <= line.last_number)
        return StreamingResponse(
            data_of_line, media_type="text/plain; charset=utf-8",
            headers={"Content-Security-Policy": SEALED_POLICY, "Content-Disposition": f'attachment; filename="{name}"'},
        )  # fmt: skip
    line = line_of(found, request.path_params["file"], number)
    value = line.value if line.length <= SHOWN_BYTES else None
    shown = pretty_json(value) if value is not None else code(line.data[:SHOWN_BYTES].decode("utf-8", "replace"))
    values: dict[str, Any] = {
        "number": number, "subagent": plain(subagent or ""), "length": line.length, "shown": shown,
        "cut": line.length > SHOWN_BYTES, "address": f"{request.url.path}?download=1",
    }  # fmt: skip
    if is_fragment(request):
        return page(request, "raw_part.html", **values)
    return page(request, "raw.html", **values, **around(service, found, ""))


def _place(session: Session, request: Request) -> tuple[str | None, int]:
    file, line = request.path_params["file"], request.path_params["line"]
    if file > len(session.file.subagents) or not 1 <= line < _ALL_LINES:
        raise NotFound("there is no such line", slug="no-such-line")
    return (None if file == 0 else session.file.subagents[file - 1].subagent_id), line


def media(request: Request) -> Response:
    """Send a picture of a line. Only kinds that browsers show without running anything are displayed; others are saved."""
    found = shown_session(request)
    _, number = _place(found, request)
    blocks = line_of(found, request.path_params["file"], number).media
    wanted = request.path_params["number"]
    if wanted >= len(blocks):
        raise NotFound("there is no such picture", slug="no-such-media")
    block = blocks[wanted]
    text = block.source.get("data") if isinstance(block.source, dict) else None
    try:
        content = base64.b64decode(text, validate=False) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        content = b""
    if not content:
        raise NotFound("the picture is not in the transcript", slug="no-such-media")
    headers = {"Content-Security-Policy": SEALED_POLICY, "Cache-Control": "private, max-age=3600"}
    if block.media_type in PICTURES:
        return Response(content, media_type=block.media_type, headers=headers)
    headers["Content-Disposition"] = f'attachment; filename="{found.id}-{number}-{wanted}"'
    return Response(content, media_type="application/octet-stream", headers=headers)


routes = [
    Route("/sessions/{id}/raw/{file:int}/{line:int}", raw),
    Route("/sessions/{id}/media/{file:int}/{line:int}/{number:int}", media),
]
