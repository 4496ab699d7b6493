"""A library that stays open: found sessions, the shared cache, locks, background work, jobs and listeners."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import NotFound, QueryError
from recollect.library import background, live_events
from recollect.library.background import IndexWorker, Jobs, StillIndexing, UsageWorker
from recollect.library.library import Library
from recollect.library.live_events import LiveEvents
from recollect.library.service import Service
from recollect.library.session_lists import MessageCounts
from recollect.library.usage import Ledger
from recollect.store.home import Home, check_home
from recollect.testing import HomeBuilder

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "12222222-2222-4222-8222-222222222222"


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    builder.session("/w/app", session_id=FIRST).user("count the tides")
    builder.session("/w/app", session_id=SECOND).user("draw a harbour")
    builder.write()
    return builder


@pytest.fixture
def service(builder: HomeBuilder, tmp_path: Path) -> Iterator[Service]:
    service = Service(Library([check_home(builder.root)], own_folder=lambda kind: tmp_path / "own" / kind))
    yield service
    service.close()


def until(holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to be")


class TestSessions:
    def test_a_session_is_found_as_the_library_finds_it(self, service: Service) -> None:
        assert service.session(FIRST).id == FIRST
        assert service.session("12").id == SECOND
        assert service.session("Draw a Harbour").id == SECOND
        assert service.session("last").id in (FIRST, SECOND)
        with pytest.raises(NotFound) as problem:
            service.session("1")
        assert problem.value.slug == "ambiguous"
        assert {name.split()[0] for name in problem.value.nearest} == {FIRST, SECOND}

    def test_a_path_is_not_taken(self, service: Service) -> None:
        path = service.session(FIRST).file.path
        for reference in (str(path), path.name.replace(".", "/"), "a\0b", "x" * 201, ""):
            with pytest.raises(NotFound):
                service.session(reference)

    def test_what_was_written_since_is_seen_at_once(self, service: Service) -> None:
        before = service.session(FIRST)
        path = before.file.path
        path.write_bytes(path.read_bytes() * 2)
        assert service.session(FIRST).file.size == 2 * before.file.size

    def test_a_new_session_is_found_by_its_id(
        self, service: Service, builder: HomeBuilder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("recollect.library.service.LOOK_AGAIN_SECONDS", -1.0)
        assert len(service.sessions()) == 2
        new = builder.session("/w/app")
        new.user("a third")
        builder.write()
        assert service.session(new.session_id).id == new.session_id
        assert len(service.sessions()) == 3

    def test_a_list_reads_only_the_files_that_changed(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        service.sessions()
        read: list[str] = []
        summarise = MessageCounts.summarise

        def noted(self: Any, file: Any) -> Any:
            read.append(file.session_id)
            return summarise(self, file)

        monkeypatch.setattr(MessageCounts, "summarise", noted)
        path = service.session(FIRST).file.path
        path.write_bytes(path.read_bytes() * 2)
        service.look_again(at_once=True)
        assert len(service.sessions()) == 2
        assert read == [FIRST]


class TestCache:
    def test_a_value_is_made_once_and_again_after_a_change(self, service: Service) -> None:
        made: list[int] = []

        def make() -> list[int]:
            made.append(len(made))
            return [made[-1]]

        session = service.session(FIRST)
        assert service.cached(session, "view", make, len) == [0]
        assert service.cached(session, "view", make, len) == [0]
        session.file.path.write_bytes(session.file.path.read_bytes() * 2)
        assert service.cached(service.session(FIRST), "view", make, len) == [1]

    def test_values_share_the_bound_of_the_opened_sessions(self, builder: HomeBuilder) -> None:
        service = Service(Library([Home(builder.root)], cache_bytes=10_000))
        session = service.session(FIRST)
        assert service.session(FIRST) is session
        service.cached(session, "large", lambda: "x", lambda _: 9_000)
        assert service.library.cache.weight <= 10_000
        assert service.session(FIRST) is not session

    def test_two_threads_make_a_value_once(self, service: Service) -> None:
        session, made, both = service.session(FIRST), [], threading.Barrier(2)

        def make() -> str:
            made.append(1)
            time.sleep(0.05)
            return "made"

        def ask() -> None:
            both.wait(20)
            service.cached(session, "view", make, len)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert made == [1]

    def test_a_lock_that_is_held_is_the_same_for_everybody(self, service: Service) -> None:
        first, second = service.session(FIRST), service.session(SECOND)
        with service.reading(first) as _:
            held = service.reading(first)
            assert service.reading(second) is not held
            assert service.reading(first) is held
        assert len(service._session_locks) <= 2


class TestIndex:
    def test_the_first_index_is_built_in_the_background(
        self, service: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go_on = threading.Event()

        def slow(self: IndexWorker) -> None:
            self.done, self.total = 10, 40
            assert go_on.wait(20)

        monkeypatch.setattr(IndexWorker, "_build", slow)
        with pytest.raises(StillIndexing) as problem:
            service.index.ask(lambda _: 1, patience=0.05)
        assert (problem.value.done, problem.value.total) == (10, 40)
        assert service.index.is_building
        go_on.set()
        assert service.index.ask(lambda library: isinstance(library, Library), patience=20) is True
        assert service.index.is_ready

    def test_a_failed_index_is_tried_again(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        tries = iter([OSError("no room"), None])

        def build(self: IndexWorker) -> None:
            problem = next(tries)
            if problem is not None:
                raise problem

        monkeypatch.setattr(IndexWorker, "_build", build)
        with pytest.raises(OSError, match="no room"):
            service.index.ask(lambda _: 1, patience=20)
        assert service.index.ask(lambda _: 2, patience=20) == 2

    def test_a_question_is_answered_by_a_library_of_its_own(self, service: Service) -> None:
        found = service.index.ask(lambda library: library.search("harbour"), patience=60)
        assert [item.session_id for item in found.sessions] == [SECOND]
        assert service.index.library is not service.library


class TestUsage:
    def test_an_answer_is_kept_for_a_while(self, service: Service) -> None:
        asked: list[int] = []

        def count(ledger: Ledger) -> int:
            asked.append(1)
            return ledger.usage("day").totals.cost

        assert service.usage.ask("cost", count, patience=60) == service.usage.ask("cost", count, patience=60)
        assert asked == [1]
        assert service.usage.last("cost") == 0
        assert service.usage.last("nothing") is None

    def test_an_older_answer_is_better_than_waiting(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(background, "FRESH_SECONDS", 0.0)
        go_on = threading.Event()

        def slow(_: Ledger) -> str:
            assert go_on.wait(20)
            return "new"

        assert service.usage.ask("x", lambda _: "old", patience=60) == "old"
        assert service.usage.ask("x", slow, patience=0.05) == "old"
        with pytest.raises(StillIndexing):
            service.usage.ask("y", lambda _: "behind it", patience=0.05)
        go_on.set()
        until(lambda: service.usage.last("x") == "new")

    def test_a_question_that_fails_is_no_answer(self, service: Service) -> None:
        def fail(_: Ledger) -> None:
            raise QueryError("no such day", slug="x")

        usage: UsageWorker = service.usage
        with pytest.raises(QueryError):
            usage.ask("x", fail, patience=60)
        assert usage.ask("x", lambda _: 2, patience=60) == 2


def test_a_job_runs_once_at_a_time_and_tells_what_went_wrong() -> None:
    jobs, go_on = Jobs(), threading.Event()
    first = jobs.start("x", lambda _: go_on.wait(20))
    assert jobs.start("x", lambda _: 1) is first
    go_on.set()
    until(lambda: not first.running)
    assert first.result is True
    assert first.problem is None

    def fail(job: background.Job) -> None:
        job.done = 3
        raise QueryError("that is no question", slug="x")

    second = jobs.start("x", fail)
    assert second is not first
    until(lambda: not second.running)
    assert (second.done, second.problem, jobs.get("x")) == (3, "that is no question", second)
    third = jobs.start("y", lambda _: 1 / 0)
    until(lambda: not third.running)
    assert third.problem == "ZeroDivisionError: division by zero"
    assert third.ended is not None


class TestListeners:
    def test_listeners_get_the_events_of_their_session(self, service: Service) -> None:
        async def listen() -> tuple[dict[str, Any], dict[str, Any], bool]:
            live = LiveEvents(service.library)
            everything, one = live.join(None), live.join(FIRST)
            other = live.join(SECOND)
            assert everything is not None
            assert one is not None
            assert other is not None
            await asyncio.wait_for(live.begun(), 20)
            path = service.session(FIRST).file.path
            line = path.read_bytes().splitlines(keepends=True)[-1]
            with path.open("ab") as stream:
                stream.write(line.replace(b"count the tides", b"a secret word").replace(b'"uuid":"', b'"uuid":"f'))
            found = await asyncio.wait_for(everything.queue.get(), 20), await asyncio.wait_for(one.queue.get(), 20)
            nothing = other.queue.empty()
            live.end()
            assert one.over
            for listener in (everything, one, other):
                live.leave(listener)
            return *found, nothing

        first, second, nothing = asyncio.run(listen())
        assert first == second
        assert first["session_id"] == FIRST
        assert "secret" not in str(first)
        assert nothing

    def test_a_slow_listener_is_told_that_it_lost_something(
        self, service: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live_events, "MAX_LISTENERS", 1)

        async def listen() -> None:
            live = LiveEvents(service.library)
            listener = live.join(None)
            assert listener is not None
            assert live.join(None) is None
            event = {"kind": "message", "session_id": FIRST}
            live._publish([event] * live_events.MAX_WAITING)
            assert not listener.lost
            live._publish([event])
            assert listener.lost
            live.leave(listener)
            assert live.listeners == set()

        asyncio.run(listen())
