"""`Library.watch()` and `watch_session()`: iterators with and without an event loop, for one session, one project or all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

import recollect
from recollect.errors import NotFound
from recollect.library.library import Library
from recollect.library.repository import LibrarySessionRepository
from recollect.library.watching import BudgetReached, MessageAdded, SessionEvent
from recollect.testing import HomeBuilder, TranscriptBuilder


def add(home: Path, session: TranscriptBuilder, *uuids: str, cwd: str = "/w/app") -> None:
    path = next(home.rglob(f"{session.session_id}.jsonl"))
    with open(path, "ab") as stream:
        for uuid in uuids:
            entry = {"type": "user", "uuid": uuid, "cwd": cwd, "timestamp": "2098-01-01T00:00:00Z"}
            stream.write(json.dumps({**entry, "message": {"role": "user", "content": uuid}}).encode() + b"\n")


def take(events: Iterable[SessionEvent], count: int) -> list[str | None]:
    found: list[str | None] = []
    for event in events:
        if isinstance(event, MessageAdded):
            found.append(event.uuid)
        if len(found) == count:
            return found
    return found


class Scene:
    def __init__(self, root: Path) -> None:
        builder = HomeBuilder(root)
        self.app = builder.session("/w/app")
        self.app.user("about the app")
        self.lib = builder.session("/w/lib")
        self.lib.user("about the library")
        self.home = Path(builder.write())
        self.library: Library = recollect.open(self.home)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "claude")


class TestIterator:
    def test_all_sessions(self, scene: Scene) -> None:
        with scene.library.watch() as events:
            add(scene.home, scene.app, "a")
            add(scene.home, scene.lib, "b")
            assert sorted(str(name) for name in take(events, 2)) == ["a", "b"]

    def test_one_session_by_any_name(self, scene: Scene) -> None:
        with scene.library.watch_session("about the app") as events:
            add(scene.home, scene.lib, "b")
            add(scene.home, scene.app, "a")
            assert take(events, 1) == ["a"]

    def test_one_session_with_what_is_there(self, scene: Scene) -> None:
        with scene.library.watch_session(scene.app.session_id, from_start=True) as events:
            first = next(event for event in events if isinstance(event, MessageAdded))
            assert first.text == "about the app"

    def test_one_project(self, scene: Scene) -> None:
        with scene.library.watch(project="lib") as events:
            add(scene.home, scene.app, "a")
            add(scene.home, scene.lib, "b")
            assert take(events, 1) == ["b"]

    def test_a_new_session_of_a_project_that_does_not_tell_at_once(self, scene: Scene) -> None:
        new = "0f0e0d0c-0b0a-4908-8706-050403020100"
        path = scene.home / "projects" / "-w-lib" / f"{new}.jsonl"
        with scene.library.watch(project="/w/lib") as events:
            path.write_bytes(b'{"type":"mode","mode":"default"}\n')
            assert events.poll(0.3) == []
            entry = {"type": "user", "uuid": "n", "cwd": "/w/lib", "timestamp": "2098-01-01T00:00:00Z"}
            with open(path, "ab") as stream:
                stream.write(json.dumps({**entry, "message": {"role": "user", "content": "hi"}}).encode() + b"\n")
            kinds = []
            for event in events:
                kinds.append(event.kind)
                if event.kind == "message":
                    break
            assert kinds == ["session_started", "entry", "message"]

    def test_a_slow_reader_loses_nothing(self, scene: Scene) -> None:
        names = [f"u{number}" for number in range(2000)]
        with scene.library.watch() as events:
            add(scene.home, scene.app, *names[:1000])
            assert take(events, 1) == names[:1]
            add(scene.home, scene.app, *names[1000:])
            assert take(events, 1999) == names[1:]

    def test_nothing_after_the_end(self, scene: Scene) -> None:
        events = scene.library.watch()
        events.start()
        events.close()
        assert list(events) == []

    def test_a_session_that_is_not_there(self, scene: Scene) -> None:
        with pytest.raises(NotFound):
            scene.library.watch_session("no such title at all")
        with scene.library.watch_session("0f0e0d0c-0b0a-4908-8706-050403020100") as events:
            assert events.poll() == []

    def test_a_budget_sees_every_event_and_answers_in_order(self, scene: Scene) -> None:
        seen: list[str] = []

        def budget(event: SessionEvent) -> list[BudgetReached]:
            seen.append(event.kind)
            if len(seen) < 2:
                return []
            return [
                BudgetReached(
                    session_id=event.session_id, time=event.time, name="messages", spent=2, limit=2, unit="messages"
                )
            ]

        with scene.library.watch(budget=budget) as events:
            add(scene.home, scene.app, "a", "b")
            kinds = [next(events).kind for _ in range(3)]
        assert kinds == ["message", "message", "budget"]
        assert seen == ["message", "message"]

    def test_nothing_is_written_into_the_home(self, scene: Scene) -> None:
        before = {path: path.stat().st_mtime_ns for path in scene.home.rglob("*")}
        with scene.library.watch() as events:
            events.poll(0.05)
        assert {path: path.stat().st_mtime_ns for path in scene.home.rglob("*")} == before


class TestInAnEventLoop:
    def test_events(self, scene: Scene) -> None:
        async def watch() -> list[str | None]:
            found: list[str | None] = []
            async with scene.library.watch_session(scene.app.session_id) as events:
                add(scene.home, scene.app, "a", "b")
                async for event in events:
                    assert isinstance(event, MessageAdded)
                    found.append(event.uuid)
                    if len(found) == 2:
                        break
            return found

        assert asyncio.run(watch()) == ["a", "b"]

    def test_waiting_in_vain_loses_nothing(self, scene: Scene) -> None:
        async def watch() -> list[str | None]:
            async with scene.library.watch() as events:
                found: list[str | None] = []
                for name in ("a", "b", "c"):
                    with pytest.raises(asyncio.TimeoutError):
                        await asyncio.wait_for(anext(events), 0.01)
                    add(scene.home, scene.app, name)
                    event = await anext(events)
                    assert isinstance(event, MessageAdded)
                    found.append(event.uuid)
                return found

        assert asyncio.run(watch()) == ["a", "b", "c"]

    def test_it_ends_when_it_is_closed(self, scene: Scene) -> None:
        async def watch() -> list[SessionEvent]:
            events = scene.library.watch()
            reader = asyncio.ensure_future(_all(events))
            await asyncio.sleep(0.05)
            await events.aclose()
            return await reader

        async def _all(events: object) -> list[SessionEvent]:
            return [event async for event in events]  # type: ignore[attr-defined]

        assert asyncio.run(watch()) == []

    def test_the_repository(self, scene: Scene) -> None:
        async def watch() -> str | None:
            events = LibrarySessionRepository(scene.library).watch_session(scene.app.session_id)
            waiting = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0.5)
            add(scene.home, scene.app, "a")
            event = await waiting
            await events.aclose()  # type: ignore[attr-defined]
            assert isinstance(event, MessageAdded)
            return event.uuid

        assert asyncio.run(watch()) == "a"
