"""Let many listeners follow what happens in the homes through one watch, which runs while there is a listener.

A listener that is slower than the events loses some of them, and sees that in `lost`: it then reads the session again.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .watching import SessionEvent

if TYPE_CHECKING:
    from .library import Library

MAX_LISTENERS: Final = 64
MAX_WAITING: Final = 200
"""How many events wait for a slow listener; it loses further ones."""
_FIELDS: Final = (
    "uuid", "role", "name", "tool_use_id", "duration", "is_error", "reason", "description", "title", "trigger", "line",
)  # fmt: skip


@dataclass(eq=False)
class Listener:
    """A listener of one session, or of all of them (`session_id` None)."""

    session_id: str | None
    queue: asyncio.Queue[dict[str, Any]] = field(default_factory=lambda: asyncio.Queue(MAX_WAITING))
    lost: bool = False
    """Whether events were lost because too many waited."""
    over: bool = False


class LiveEvents:
    """Runs the watch and its listeners. Everything but the watch itself happens in the event loop of the listeners."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.listeners: set[Listener] = set()
        self._stop: threading.Event | None = None
        self._begun = asyncio.Event()

    async def begun(self) -> None:
        """Wait until the watch runs: what is written from then on arrives as an event."""
        await self._begun.wait()

    def join(self, session_id: str | None) -> Listener | None:
        """Start listening to a session, or to all; returns None if there are too many listeners."""
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
        """Stop listening. The watch ends with its last listener."""
        self.listeners.discard(listener)
        if not self.listeners:
            self.close()

    def end(self) -> None:
        """Tell every listener that it is over, and end the watch."""
        for listener in self.listeners:
            listener.over = True
            if not listener.queue.full():
                listener.queue.put_nowait({"kind": "end", "session_id": None})
        self.close()

    def close(self) -> None:
        """End the watch."""
        if self._stop is not None:
            self._stop.set()
            self._stop = None

    def _watch(self, loop: asyncio.AbstractEventLoop, stop: threading.Event, begun: asyncio.Event) -> None:
        try:
            with self.library.watch() as watching:
                loop.call_soon_threadsafe(begun.set)
                while not stop.is_set():
                    events = [event_data(event) for event in watching.poll(0.5)]
                    if events and not stop.is_set():
                        loop.call_soon_threadsafe(self._publish, events)
        except RuntimeError:  # the event loop has ended
            return
        except OSError as problem:
            if not stop.is_set():
                unavailable = {"kind": "unavailable", "session_id": None, "reason": str(problem)}
                loop.call_soon_threadsafe(self._publish, [unavailable])
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
    """Return an event as plain data without the text of the transcript; a listener reads that from the session."""
    data: dict[str, Any] = {
        "kind": event.kind,
        "session_id": event.session_id,
        "subagent_id": event.subagent_id,
        "time": event.time,
    }
    for name in _FIELDS:
        value = getattr(event, name, None)
        if value is not None:
            data[name] = value[:300] if isinstance(value, str) else value
    return data
