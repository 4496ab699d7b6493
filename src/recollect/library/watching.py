"""Watch sessions as they happen: an iterator of typed events, for programs with and without an event loop.

    for event in library.watch():                          # until somebody interrupts it
        print(event.kind, event.session_id)

    async with library.watch_session("last") as events:
        async for event in events:
            ...

A watch begins when it is entered or first iterated: what is complete on disk by then is old (unless `from_start`). No event
is lost while the caller does something else, or when waiting for the next event is cancelled.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..format.blocks import TextBlock
from ..format.times import to_iso
from ..store.home import Home
from ..store.scan import SessionFile
from ..store.summary import SessionSummary, summarise
from ..watch.events import (
    EVENTS,
    Budget,
    BudgetReached,
    Compacted,
    EntryAdded,
    LineDamaged,
    MessageAdded,
    SessionEnded,
    SessionEvent,
    SessionStarted,
    SubagentStarted,
    TitleChanged,
    ToolFinished,
    ToolStarted,
)
from ..watch.lines import Place
from ..watch.watch import TICK, Watcher
from .shapes import block_data

if TYPE_CHECKING:
    from types import TracebackType

__all__ = [
    "EVENTS",
    "TICK",
    "Budget",
    "BudgetReached",
    "Compacted",
    "EntryAdded",
    "LineDamaged",
    "MessageAdded",
    "SessionEnded",
    "SessionEvent",
    "SessionStarted",
    "SubagentStarted",
    "TitleChanged",
    "ToolFinished",
    "ToolStarted",
    "Watching",
    "event_row",
]  # fmt: skip

ProjectTest: TypeAlias = Callable[[SessionSummary], bool]


def event_row(event: SessionEvent) -> dict[str, Any]:
    """Return an event as plain data for JSON; the names are part of the interface."""
    row: dict[str, Any] = {
        "event": event.kind,
        "session_id": event.session_id,
        "subagent_id": event.subagent_id,
        "time": to_iso(event.time),
        "path": event.path,
    }
    if isinstance(event, MessageAdded):
        blocks = event.blocks
        row |= {
            "uuid": event.uuid,
            "role": event.role,
            "model": event.model,
            "message_id": event.message_id,
            "text": "\n".join(block.text for block in blocks if isinstance(block, TextBlock)),
            "blocks": [block_data(block) for block in blocks],
            "line": event.line,
            "offset": event.offset,
        }
    elif isinstance(event, EntryAdded):
        row |= {
            "type": event.type,
            "uuid": event.uuid,
            "line": event.line,
            "offset": event.offset,
            "entry": event.entry,
        }
    elif isinstance(event, LineDamaged):
        damage = event.damage
        row |= {
            "kind": damage.kind, "line": damage.line or None, "offset": damage.offset, "length": damage.length,
            "detail": damage.detail,
        }  # fmt: skip
    else:
        shared = SessionEvent.__dataclass_fields__
        row |= {name: getattr(event, name) for name in type(event).__dataclass_fields__ if name not in shared}
    return row


_HELD = 200
"""How many events of a session are held until its lines name the project; after that, the folder's name decides."""


class Watching(Iterator[SessionEvent], AsyncIterator[SessionEvent]):
    """Events as they happen. Use it as an iterator or, in an event loop, as an asynchronous one; close it by leaving `with`."""

    def __init__(
        self,
        homes: Sequence[Home],
        *,
        session_id: str | None = None,
        is_of_project: ProjectTest | None = None,
        from_start: bool = False,
        polling: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self._homes = list(homes)
        self._session_id = session_id
        self._projects = _Projects(self._homes, is_of_project) if is_of_project is not None else None
        self._from_start = from_start
        self._polling = polling
        self._budget = budget
        self._stop = threading.Event()
        self._watcher: Watcher | None = None
        self._waiting: deque[SessionEvent] = deque()
        self._work: asyncio.Future[None] | None = None

    @property
    def polling_reason(self) -> str | None:
        """Return why the files are polled; None if the system reports changes (and before the start)."""
        return self._watcher.polling_reason if self._watcher is not None else None

    def start(self) -> None:
        """Begin now: what is written from here on is new."""
        if self._watcher is None and not self._stop.is_set():
            self._watcher = Watcher(
                self._homes, wants=self._wants, from_start=self._from_start, polling=self._polling, stop=self._stop
            )

    def close(self) -> None:
        """End the watch; a caller that waits for an event gets none."""
        self._stop.set()
        if self._watcher is not None and (self._work is None or self._work.done()):
            self._watcher.close()

    def _wants(self, place: Place) -> bool:
        return self._session_id is None or place.session_id in (None, self._session_id)

    def _step(self, seconds: float = TICK) -> None:
        self.start()
        if self._watcher is None:
            return
        for event in self._watcher.step(seconds):
            for passed in self._passed(event):
                self._waiting.append(passed)
                if self._budget is not None:
                    self._waiting.extend(self._budget(passed))

    def _passed(self, event: SessionEvent) -> list[SessionEvent]:
        if self._session_id is not None and event.session_id != self._session_id:
            return []
        return [event] if self._projects is None else self._projects.passed(event)

    # --- without an event loop ---------------------------------------------------------------------------------------

    def __enter__(self) -> Watching:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Watching:
        return self

    def __next__(self) -> SessionEvent:
        while not self._waiting:
            if self._stop.is_set():
                raise StopIteration
            self._step()
        return self._waiting.popleft()

    def poll(self, seconds: float = 0.0) -> list[SessionEvent]:
        """Return the events so far, after waiting at most `seconds`; for programs with a loop of their own."""
        if not self._waiting and not self._stop.is_set():
            self._step(seconds)
        found = list(self._waiting)
        self._waiting.clear()
        return found

    # --- in an event loop --------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Watching:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._stop.set()
        if self._work is not None:
            await asyncio.wait([self._work])
        self.close()

    def __aiter__(self) -> Watching:
        return self

    async def __anext__(self) -> SessionEvent:
        while not self._waiting:
            if self._stop.is_set():
                raise StopAsyncIteration
            if self._work is None:
                self._work = asyncio.ensure_future(asyncio.to_thread(self._step))
            # The caller may be cancelled while it waits; the step goes on, and the next call returns what it found.
            work = self._work
            try:
                await asyncio.shield(work)
            finally:
                if work.done():
                    self._work = None
        return self._waiting.popleft()


class _Projects:
    """Selects the events of a project. A session's lines name its project, but the first lines may not."""

    def __init__(self, homes: Sequence[Home], test: ProjectTest) -> None:
        self._homes = homes
        self._test = test
        self._known: dict[str, bool] = {}
        self._held: dict[str, list[SessionEvent]] = {}

    def passed(self, event: SessionEvent) -> list[SessionEvent]:
        """Return the event with the held ones of its session; none if it is of another project, or must be held."""
        session = event.session_id
        if session not in self._known:
            held = self._held.setdefault(session, [])
            held.append(event)
            answer = self._ask(event, final=len(held) >= _HELD)
            if answer is None:
                return []
            self._known[session] = answer
            del self._held[session]
            return held if answer else []
        return [event] if self._known[session] else []

    def _ask(self, event: SessionEvent, *, final: bool) -> bool | None:
        cwd = event.cwd if isinstance(event, SessionStarted) else None
        summary = self._summary(event, cwd)
        if summary is None or (summary.project is None and not final):
            return None if not final else False
        return self._test(summary)

    def _summary(self, event: SessionEvent, cwd: str | None) -> SessionSummary | None:
        for home in self._homes:
            file = _session_file(home, event)
            if file is not None:
                summary = summarise(file)
                summary.project = summary.project or cwd
                return summary
        if cwd is None:
            return None
        # Claude Code has opened the session and has not written anything yet.
        return SessionSummary(SessionFile(event.session_id, Path(), self._homes[0], "", 0, 0.0), project=cwd)


def _session_file(home: Home, event: SessionEvent) -> SessionFile | None:
    """Return the main transcript of the session that an event belongs to."""
    if event.path is None:
        return None
    path = Path(event.path)
    try:
        folder = path.relative_to(home.projects).parts[0]
    except (ValueError, IndexError):
        return None
    main = home.projects / folder / f"{event.session_id}.jsonl"
    try:
        info = main.stat()
    except OSError:
        return None
    return SessionFile(event.session_id, main, home, folder, info.st_size, info.st_mtime)
