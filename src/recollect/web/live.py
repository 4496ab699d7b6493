"""Send browsers what happens in the homes, as a stream of server-sent events.

A page gets a special event if its session has grown since the page was made, or if its browser was too slow for the
events; it then requests its content again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ..errors import NotFound, Unavailable
from ..library.live_events import Listener, LiveEvents
from ..library.service import Service
from .pages import error_answer, service_of

HEARTBEAT_SECONDS: Final = 15.0


async def stream(
    service: Service, live: LiveEvents, listener: Listener, seen: int | None = None
) -> AsyncIterator[bytes]:
    """Yield the events of a listener as they come; `seen` is the file size of the session when the page was made."""
    try:
        yield b"retry: 3000\n\n"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(live.begun(), HEARTBEAT_SECONDS)
        behind = await is_behind(service, listener, seen)
        yield b": watching\n\n"  # from here on everything comes as an event
        if behind:
            yield _encoded({"kind": "lost", "session_id": listener.session_id})
        while not listener.over:
            try:
                event = await asyncio.wait_for(listener.queue.get(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            if listener.lost and listener.queue.empty():
                listener.lost = False
                yield _encoded({"kind": "lost", "session_id": listener.session_id})
            yield _encoded(event)
    finally:
        live.leave(listener)


async def is_behind(service: Service, listener: Listener, seen: int | None) -> bool:
    """Return whether the session's file now has another size than when the page was made."""
    if seen is None or listener.session_id is None:
        return False
    try:
        return (await asyncio.to_thread(service.session, listener.session_id)).file.size != seen
    except NotFound:
        return True


def _encoded(event: dict[str, Any]) -> bytes:
    return f"event: {event['kind']}\ndata: {json.dumps(event, default=str)}\n\n".encode()


async def events(request: Request) -> Response:
    """Answer with the events of all sessions, or of one; `seen` is the file size of the session when the page was made."""
    service, live = service_of(request), request.app.state.live
    session_id = request.path_params.get("id")
    if session_id is not None:
        session_id = (await asyncio.to_thread(service.session, session_id)).id
    listener = live.join(session_id)
    if listener is None:
        return error_answer(request, Unavailable("too many streams are open", slug="too-many-streams"))
    seen = request.query_params.get("seen", "")
    known = int(seen) if seen.isascii() and seen.isdecimal() and len(seen) < 16 else None
    return StreamingResponse(
        stream(service, live, listener, known), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


routes = [
    Route("/api/v1/events", events),
    Route("/api/v1/sessions/{id}/events", events),
]
