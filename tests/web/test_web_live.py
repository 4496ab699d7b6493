"""Streams of events: what is written is told, to those who asked, and a listener that goes away is forgotten."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.scene import CACHE_SESSION, Scene, served

from recollect.library import live_events
from recollect.testing import build_demo_home


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Scene]:
    build_demo_home(tmp_path / "claude")
    with served(tmp_path / "claude", tmp_path / "own") as scene:
        yield scene


class Listening:
    def __init__(self, scene: Scene, path: str, **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", scene.access.port, timeout=20)
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {scene.access.api_key}", **headers})
        self.answer = self.connection.getresponse()
        if self.answer.status == 200:
            assert self.answer.readline().startswith(b"retry:")

    def wait_for_watch(self) -> None:
        """What is written from here on is told."""
        while not self.answer.readline().startswith(b": watching"):
            pass

    def event(self) -> dict[str, Any]:
        while True:
            line = self.answer.readline()
            assert line, "the stream ended"
            if line.startswith(b"data: "):
                found = json.loads(line[6:])
                assert isinstance(found, dict)
                return found

    def close(self) -> None:
        self.connection.close()


def append(scene: Scene, session: str, words: str) -> None:
    file = next(scene.root.glob(f"projects/*/{session}.jsonl"))
    entry: dict[str, Any] = {
        "type": "user",
        "uuid": f"88888888-8888-4888-8888-{len(words):012d}",
        "parentUuid": None,
        "sessionId": session,
    }
    entry |= {"timestamp": "2027-01-01T00:00:00.000Z", "message": {"role": "user", "content": words}}
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def test_a_page_is_told_what_came_before_the_watch(running: Scene) -> None:
    size = running.service.session(CACHE_SESSION).file.size
    address = f"/api/v1/sessions/{CACHE_SESSION}/events?seen="
    append(running, CACHE_SESSION, "While the page was under way")
    behind = Listening(running, f"{address}{size}")
    assert behind.event() == {"kind": "lost", "session_id": CACHE_SESSION}
    behind.close()
    upright = Listening(running, f"{address}{running.service.session(CACHE_SESSION).file.size}")
    senseless = Listening(running, f"{address}-1")
    for listening in (upright, senseless):
        listening.wait_for_watch()
    append(running, CACHE_SESSION, "And after it")
    for listening in (upright, senseless):
        assert listening.event()["kind"] == "message"
        listening.close()


def test_a_new_message_is_told_without_its_words(running: Scene) -> None:
    everything = Listening(running, "/api/v1/events")
    second = next(item.session_id for item in running.service.sessions() if item.title == "Crop rotation")
    other = Listening(running, f"/api/v1/sessions/{second}/events")
    assert everything.answer.headers["content-type"].startswith("text/event-stream")
    everything.wait_for_watch()
    other.wait_for_watch()
    append(running, CACHE_SESSION, "Something secret")
    append(running, second, "For the other")
    events = [everything.event() for _ in range(2)]
    assert {(event["session_id"], event["kind"]) for event in events} == {
        (CACHE_SESSION, "message"),
        (second, "message"),
    }
    assert "secret" not in json.dumps(events)
    assert other.event()["session_id"] == second
    everything.close()
    other.close()


def test_a_stream_ends_with_its_listener(running: Scene) -> None:
    listening = Listening(running, "/api/v1/events")
    found: live_events.LiveEvents = running.app.state.live
    assert len(found.listeners) == 1
    listening.close()
    for _ in range(200):
        if not found.listeners:
            break
        time.sleep(0.05)
    assert not found.listeners


def test_streams_are_bounded(running: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_events, "MAX_LISTENERS", 1)
    first = Listening(running, "/api/v1/events")
    assert Listening(running, "/api/v1/events").answer.status == 503
    first.close()


def test_a_stream_of_nobody(running: Scene) -> None:
    assert Listening(running, "/api/v1/sessions/zzzz/events").answer.status == 404
