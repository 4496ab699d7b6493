"""What happens in the homes, as a stream for browsers. One watch serves everybody; it runs while somebody listens.

A listener that is slower than the subagent loses events, and is told so: it then asks for the page again. The same is told
to a page whose session has grown between its being made and the begin of the watch.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ..errors import NotFound, Unavailable
from ..library.watching import SessionEvent, Watching
from .desk import Desk
from .pages import desk_of, error_answer

MAX_LISTENERS: Final = 64
WAITING: Final = 200
"""So many events wait for a slow listener."""
HEARTBEAT_SECONDS: Final = 15.0
_TOLD: Final = (
    "uuid", "role", "name", "tool_use_id", "duration", "is_error", "reason", "description", "title", "trigger", "line",
)  # fmt: skip


@dataclass(eq=False)
class Listener:
    session_id: str | None
    queue: asyncio.Queue[dict[str, Any]] = field(default_factory=lambda: asyncio.Queue(WAITING))
    lost: bool = False
    over: bool = False


class Live:
    """The watch and those who listen to it. Everything but the watch itself happens in the event loop."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.listeners: set[Listener] = set()
        self._stop: threading.Event | None = None
        self._begun = asyncio.Event()

    async def begun(self) -> None:
        """Wait until whatever is written is noticed."""
        await self._begun.wait()

    def join(self, session_id: str | None) -> Listener | None:
        """Begin to listen; None where too many do."""
        if len(self.listeners) >= MAX_LISTENERS:
            return None
        listener = Listener(session_id)
        self.listeners.add(listener)
        if self._stop is None:
            self._stop = threading.Event()
            self._begun = asyncio.Event()
            parts = (asyncio.get_running_loop(), self._stop, self._begun)
            threading.Thread(target=self._watch, args=parts, name="watch", daemon=True).start()
        return listener

    def leave(self, listener: Listener) -> None:
        self.listeners.discard(listener)
        if not self.listeners:
            self.close()

    def end(self) -> None:
        """Let every stream come to its end."""
        for listener in self.listeners:
            listener.over = True
            if not listener.queue.full():
                listener.queue.put_nowait({"kind": "end", "session_id": None})
        self.close()

    def close(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    def _watch(self, loop: asyncio.AbstractEventLoop, stop: threading.Event, begun: asyncio.Event) -> None:
        try:
            with Watching(self.desk.library.homes) as watching:
                loop.call_soon_threadsafe(begun.set)
                while not stop.is_set():
                    events = [event_data(event) for event in watching.poll(0.5)]
                    if events and not stop.is_set():
                        loop.call_soon_threadsafe(self._publish, events)
        except RuntimeError:  # the event loop has ended
            return
        except OSError as problem:
            if not stop.is_set():
                told = {"kind": "unavailable", "session_id": None, "reason": str(problem)}
                loop.call_soon_threadsafe(self._publish, [told])
                loop.call_soon_threadsafe(begun.set)

    def _publish(self, events: list[dict[str, Any]]) -> None:
        for listener in self.listeners:
            for event in events:
                if listener.session_id not in (None, event["session_id"]) and event["session_id"] is not None:
                    continue
                try:
                    listener.queue.put_nowait(event)
                except asyncio.QueueFull:
                    listener.lost = True
                    break


def event_data(event: SessionEvent) -> dict[str, Any]:
    """An event without the words of the transcript: whoever wants those asks for the page."""
    told: dict[str, Any] = {
        "kind": event.kind,
        "session_id": event.session_id,
        "subagent_id": event.subagent_id,
        "time": event.time,
    }
    for name in _TOLD:
        value = getattr(event, name, None)
        if value is not None:
            told[name] = value[:300] if isinstance(value, str) else value
    return told


async def stream(live: Live, listener: Listener, seen: int | None = None) -> AsyncIterator[bytes]:
    try:
        yield b"retry: 3000\n\n"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(live.begun(), HEARTBEAT_SECONDS)
        behind = await is_behind(live, listener, seen)
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


async def is_behind(live: Live, listener: Listener, seen: int | None) -> bool:
    """Whether a listener knows another size of its session's file than it has now."""
    if seen is None or listener.session_id is None:
        return False
    try:
        return (await asyncio.to_thread(live.desk.session, listener.session_id)).file.size != seen
    except NotFound:
        return True


def _encoded(event: dict[str, Any]) -> bytes:
    return f"event: {event['kind']}\ndata: {json.dumps(event, default=str)}\n\n".encode()


async def events(request: Request) -> Response:
    """Server-sent events of all sessions, or of one; `seen` is the size that the listener knows of its file."""
    live: Live = request.app.state.live
    session_id = request.path_params.get("id")
    if session_id is not None:
        session_id = (await asyncio.to_thread(desk_of(request).session, session_id)).id
    listener = live.join(session_id)
    if listener is None:
        return error_answer(request, Unavailable("too many streams are open", slug="too-many-streams"))
    seen = request.query_params.get("seen", "")
    known = int(seen) if seen.isascii() and seen.isdecimal() and len(seen) < 16 else None
    return StreamingResponse(
        stream(live, listener, known), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


routes = [
    Route("/api/v1/events", events),
    Route("/api/v1/sessions/{id}/events", events),
]
