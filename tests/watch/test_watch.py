"""A watch of a home: what it tells of sessions, subagents and clients, with hints from the system and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.format import line as line_format
from recollect.store.home import Home
from recollect.watch import home as watch_home
from recollect.watch import lines as watch_lines
from recollect.watch import watch as watch_hints
from recollect.watch.events import (
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
from recollect.watch.lines import Place, place_of
from recollect.watch.watch import Watcher

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
OTHER = "1f0e0d0c-0b0a-4908-8706-050403020100"
PATIENCE = 20.0
"""Seconds after which a test gives up; nothing is measured."""


def row(uuid: str, content: Any = "words", kind: str = "user", second: int = 0, **more: Any) -> bytes:
    entry = {
        "type": kind, "uuid": uuid, "parentUuid": None, "sessionId": SESSION, "cwd": "/w/app",
        "timestamp": f"2098-01-01T00:00:{second:02d}.000Z", "message": {"role": kind, "content": content}, **more,
    }  # fmt: skip
    return json.dumps(entry).encode() + b"\n"


def state(**fields: Any) -> bytes:
    return json.dumps({**fields, "sessionId": SESSION}).encode() + b"\n"


class Scene:
    """A home, its first session, and a watch that is asked step by step."""

    def __init__(self, root: Path) -> None:
        self.home = Home(root / "claude")
        self.folder = self.home.projects / "-w-app"
        self.folder.mkdir(parents=True)
        self.path = self.folder / f"{SESSION}.jsonl"
        self.watcher: Watcher | None = None

    def watch(self, **options: Any) -> Watcher:
        self.watcher = Watcher([self.home], **options)
        return self.watcher

    def add(self, data: bytes, path: Path | None = None) -> None:
        target = path or self.path
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "ab") as stream:
            stream.write(data)

    def until(self, done: Callable[[list[SessionEvent]], bool]) -> list[SessionEvent]:
        """Events until there are enough of them."""
        assert self.watcher is not None
        found: list[SessionEvent] = []
        end = time.monotonic() + PATIENCE
        while not done(found):
            assert time.monotonic() < end, f"only {found}"
            found += self.watcher.step()
        return found

    def entries(self, count: int) -> list[SessionEvent]:
        return self.until(lambda found: len(uuids(found)) >= count)

    def one(self, kind: type[SessionEvent]) -> list[SessionEvent]:
        return self.until(lambda found: any(isinstance(event, kind) for event in found))


def uuids(events: list[SessionEvent]) -> list[str | None]:
    return [event.uuid for event in events if isinstance(event, EntryAdded)]


def kinds(events: list[SessionEvent]) -> list[str]:
    return [event.kind for event in events]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    if made.watcher is not None:
        made.watcher.close()


@pytest.fixture(params=["native", "polling"])
def polling(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "polling")


class TestEntries:
    def test_only_what_is_new(self, scene: Scene, polling: bool) -> None:
        scene.add(row("old"))
        scene.watch(polling=polling)
        scene.add(row("a") + row("b"))
        events = scene.entries(2)
        assert uuids(events) == ["a", "b"]
        assert kinds(events) == ["message", "message"]

    def test_an_object_over_several_lines_waits_for_its_end(self, scene: Scene, polling: bool) -> None:
        scene.watch(polling=polling)
        assert scene.watcher is not None
        spread = json.dumps(json.loads(row("b")), indent=1).encode() + b"\n"
        scene.add(row("a") + spread[:5])
        assert uuids(scene.entries(1)) == ["a"]
        for place in range(5, len(spread) - 2, 40):
            scene.add(spread[place : min(place + 40, len(spread) - 2)])
            assert scene.watcher.step() == []
        scene.add(spread[-2:] + row("c"))
        events = scene.entries(2)
        assert uuids(events) == ["b", "c"]
        assert [event.line for event in events if isinstance(event, EntryAdded)] == [2, spread.count(b"\n") + 2]
        assert next(event.raw for event in events if isinstance(event, EntryAdded)) == spread.rstrip()
        assert not [event for event in events if isinstance(event, LineDamaged)]

    def test_an_object_that_was_begun_before_the_watch_is_told_when_it_ends(self, scene: Scene) -> None:
        spread = json.dumps(json.loads(row("b")), indent=1).encode() + b"\n"
        scene.add(row("a") + spread[: spread.index(b"\n", 20) + 1])
        scene.watch(polling=True)
        scene.add(spread[spread.index(b"\n", 20) + 1 :])
        assert uuids(scene.entries(1)) == ["b"]

    def test_half_a_line_waits_for_its_end(self, scene: Scene, polling: bool) -> None:
        scene.watch(polling=polling)
        whole = row("a")
        scene.add(whole[:10])
        for _ in range(3):
            assert scene.watcher is not None
            assert scene.watcher.step() == []
        scene.add(whole[10:])
        assert uuids(scene.entries(1)) == ["a"]

    def test_a_line_half_there_at_the_start_is_new_when_it_is_whole(self, scene: Scene) -> None:
        whole = row("a")
        scene.add(row("old") + whole[:10])
        scene.watch()
        scene.add(whole[10:] + row("b"))
        assert uuids(scene.entries(2)) == ["a", "b"]

    def test_a_file_that_was_replaced(self, scene: Scene, polling: bool) -> None:
        scene.add(row("old1") + row("old2"))
        os.utime(scene.path, (1_600_000_000, 1_600_000_000))  # not in use, so it is not read at the start
        scene.watch(polling=polling)
        other = scene.folder / "tmp"
        other.write_bytes(row("old2", timestamp="2019-01-01T00:00:00Z") + row("a"))
        os.replace(other, scene.path)
        scene.add(row("b"))
        assert uuids(scene.entries(2)) == ["a", "b"]

    def test_a_session_that_moves_to_another_folder(self, scene: Scene, polling: bool) -> None:
        scene.add(row("old"))
        scene.watch(polling=polling)
        scene.add(row("a"))
        first = scene.entries(1)
        (scene.home.projects / "-w-tree").mkdir()
        moved = scene.home.projects / "-w-tree" / scene.path.name
        os.rename(scene.path, moved)
        scene.add(row("b"), moved)
        second = scene.entries(1)
        assert uuids(first + second) == ["a", "b"]
        assert "session_started" not in kinds(second)

    def test_a_copy_under_another_folder_is_nothing_new(self, scene: Scene) -> None:
        scene.add(row("old", timestamp="2020-01-01T00:00:00Z"))
        scene.watch(polling=True)
        copy = scene.home.projects / "-copy" / scene.path.name
        copy.parent.mkdir()
        copy.write_bytes(scene.path.read_bytes())
        scene.add(row("b"), copy)
        assert uuids(scene.entries(1)) == ["b"]

    def test_many_batches_keep_their_order(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch_lines, "BATCH", 1000)
        scene.watch()
        names = [f"u{number}" for number in range(300)]
        scene.add(b"".join(row(name) for name in names))
        assert uuids(scene.entries(300)) == names

    def test_a_line_too_long_to_be_held_is_damage(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch_lines, "HELD_LIMIT", 5000)
        monkeypatch.setattr(watch_lines, "BATCH", 1000)
        assert line_format.HELD_LIMIT > 5000
        scene.watch()
        scene.add(row("a") + row("long", "x" * 9000) + row("b"))
        events = scene.entries(2)
        assert uuids(events) == ["a", "b"]
        damage = [event.damage for event in events if isinstance(event, LineDamaged)]
        assert [(item.kind, item.line) for item in damage] == [("oversize", 2)]

    def test_two_objects_on_a_line_are_two_entries_and_damage(self, scene: Scene) -> None:
        scene.watch()
        scene.add(row("a")[:-1] + row("b"))
        events = scene.until(lambda found: any(isinstance(event, LineDamaged) for event in found))
        assert uuids(events) == ["a", "b"]

    def test_lines_have_their_places(self, scene: Scene) -> None:
        scene.add(row("old"))
        scene.watch()
        scene.add(row("a"))
        event = scene.entries(1)[0]
        assert isinstance(event, MessageAdded)
        assert (event.line, event.offset) == (2, len(row("old")))
        assert event.entry["uuid"] == "a"
        assert event.text == "words"

    def test_files_that_are_no_longer_followed_go_on_where_they_were(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watch_home, "_FOLLOWED", 1)
        scene.watch()
        second = scene.folder / f"{OTHER}.jsonl"
        for number in range(4):
            scene.add(row(f"a{number}"))
            scene.add(row(f"b{number}"), second)
            assert sorted(str(name) for name in uuids(scene.entries(2))) == [f"a{number}", f"b{number}"]


class TestMeaning:
    def test_a_new_session(self, scene: Scene, polling: bool) -> None:
        scene.watch(polling=polling)
        scene.add(row("a"), scene.home.projects / "-new" / f"{OTHER}.jsonl")
        events = scene.entries(1)
        assert kinds(events) == ["session_started", "message"]
        assert isinstance(events[0], SessionStarted)
        assert (events[0].session_id, events[0].cwd) == (OTHER, "/w/app")

    def test_a_tool_call(self, scene: Scene) -> None:
        call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
        scene.watch()
        scene.add(row("a", [call], "assistant", 1))
        scene.add(row("b", [{"type": "tool_result", "tool_use_id": "t1", "content": "x", "is_error": True}], second=4))
        events = scene.one(ToolFinished)
        assert kinds(events) == ["session_started", "message", "tool_started", "message", "tool_finished"]
        started, finished = events[2], events[4]
        assert isinstance(started, ToolStarted)
        assert isinstance(finished, ToolFinished)
        assert (started.name, started.input) == ("Bash", {"command": "ls"})
        assert (finished.name, finished.duration, finished.is_error) == ("Bash", 3.0, True)

    def test_a_call_made_before_the_watch(self, scene: Scene) -> None:
        scene.add(row("a", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}], "assistant", 1))
        scene.watch()
        scene.add(row("b", [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}], second=3))
        finished = scene.one(ToolFinished)[-1]
        assert isinstance(finished, ToolFinished)
        assert (finished.name, finished.duration, finished.is_error) == ("Read", 2.0, False)

    def test_a_subagent(self, scene: Scene, polling: bool) -> None:
        scene.add(row("old"))
        scene.watch(polling=polling)
        path = scene.folder / SESSION / "subagents" / "agent-a1b2.jsonl"
        path.parent.mkdir(parents=True)
        meta = {"agentType": "Explore", "description": "look", "toolUseId": "t1"}
        path.with_suffix(".meta.json").write_text(json.dumps(meta))
        scene.add(row("a", isSidechain=True, agentId="a1b2"), path)
        events = scene.entries(1)
        assert kinds(events) == ["subagent_started", "message"]
        assert isinstance(events[0], SubagentStarted)
        assert (events[0].session_id, events[0].subagent_id, events[0].subagent_type) == (SESSION, "a1b2", "Explore")
        assert events[0].tool_use_id == "t1"
        assert events[1].subagent_id == "a1b2"

    def test_a_subagent_beside_its_session(self, scene: Scene) -> None:
        scene.watch()
        scene.add(row("a", isSidechain=True, agentId="abc1234"), scene.folder / "agent-abc1234.jsonl")
        events = scene.entries(1)
        assert [(event.kind, event.session_id, event.subagent_id) for event in events] == [
            ("subagent_started", SESSION, "abc1234"),
            ("message", SESSION, "abc1234"),
        ]

    def test_a_subagent_inside_its_session(self, scene: Scene) -> None:
        scene.add(row("old"))
        scene.watch()
        scene.add(row("aaaaaaaaaa", isSidechain=True) + row("b", isSidechain=True, parentUuid="aaaaaaaaaa") + row("c"))
        events = scene.entries(3)
        assert [(event.kind, event.subagent_id) for event in events] == [
            ("subagent_started", "sidechain-aaaaaaaa"),
            ("message", "sidechain-aaaaaaaa"),
            ("message", "sidechain-aaaaaaaa"),
            ("message", None),
        ]

    def test_a_compaction(self, scene: Scene) -> None:
        scene.watch()
        boundary: dict[str, Any] = {
            "subtype": "compact_boundary",
            "compactMetadata": {"trigger": "auto", "preTokens": 9},
        }
        scene.add(row("a", kind="system", **boundary))
        event = scene.one(Compacted)[-1]
        assert isinstance(event, Compacted)
        assert (event.trigger, event.tokens_before, event.uuid) == ("auto", 9, "a")

    def test_a_title_is_told_when_it_changes_and_not_when_it_is_written_again(self, scene: Scene) -> None:
        scene.add(row("old") + state(type="ai-title", aiTitle="first"))
        scene.watch()
        for title in ("first", "second", "second"):
            scene.add(state(type="ai-title", aiTitle=title))
        scene.add(state(type="custom-title", customTitle="mine") + state(type="ai-title", aiTitle="third"))
        events = scene.entries(5)
        told = [(event.title, event.source) for event in events if isinstance(event, TitleChanged)]
        assert told == [("second", "ai"), ("mine", "custom")]

    def test_a_title_that_was_taken_back_gives_way_to_the_next(self, scene: Scene) -> None:
        scene.add(row("old") + state(type="ai-title", aiTitle="its") + state(type="custom-title", customTitle="mine"))
        scene.watch()
        scene.add(state(type="custom-title", customTitle=""))
        events = scene.entries(1)
        assert [(event.title, event.source) for event in events if isinstance(event, TitleChanged)] == [("its", "ai")]

    def test_only_one_session_is_followed(self, scene: Scene) -> None:
        scene.watch(wants=lambda place: place.session_id in (None, SESSION))
        scene.add(row("no"), scene.folder / f"{OTHER}.jsonl")
        scene.add(row("yes"))
        assert uuids(scene.entries(1)) == ["yes"]

    def test_from_the_start(self, scene: Scene) -> None:
        scene.add(row("a"))
        scene.watch(from_start=True)
        scene.add(row("b"))
        events = scene.entries(2)
        assert (kinds(events)[0], uuids(events)) == ("session_started", ["a", "b"])


class TestClients:
    def note(self, scene: Scene, pid: int, session: str = SESSION) -> Path:
        path = scene.home.root / "sessions" / f"{pid}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"pid": pid, "sessionId": session, "cwd": "/w/app", "status": "busy"}))
        return path

    def test_a_client_opens_and_closes_a_session(self, scene: Scene, polling: bool) -> None:
        scene.add(row("old"))
        scene.watch(polling=polling)
        note = self.note(scene, os.getpid())
        started = scene.one(SessionStarted)
        assert [(event.kind, event.session_id) for event in started] == [("session_started", SESSION)]
        scene.add(row("last"))
        note.unlink()
        events = scene.one(SessionEnded)
        assert kinds(events) == ["message", "session_ended"]
        assert isinstance(events[-1], SessionEnded)
        assert (events[-1].reason, events[-1].pid) == ("closed", os.getpid())

    def test_its_process_dies(self, scene: Scene) -> None:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        self.note(scene, child.pid)
        scene.watch()
        child.communicate(b"\n")
        ended = scene.one(SessionEnded)[-1]
        assert isinstance(ended, SessionEnded)
        assert ended.reason == "died"

    def test_it_goes_on_with_another_session(self, scene: Scene) -> None:
        self.note(scene, os.getpid())
        scene.watch()
        self.note(scene, os.getpid(), OTHER)
        events = scene.until(lambda found: len(found) >= 2)
        assert sorted((event.kind, event.session_id) for event in events) == [
            ("session_ended", SESSION),
            ("session_started", OTHER),
        ]

    def test_a_start_is_told_once(self, scene: Scene) -> None:
        scene.watch()
        self.note(scene, os.getpid())
        scene.one(SessionStarted)
        scene.add(row("a"))
        assert kinds(scene.entries(1)) == ["message"]


class _Renamed:
    """A class with the known arguments, of which all methods have other names."""

    def __init__(self, *_: object) -> None: ...


class TestHints:
    def test_the_system_tells_here(self, scene: Scene) -> None:
        assert scene.watch().polling_reason is None

    def test_without_watches_the_files_are_looked_at_in_turn(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError("OS file watch limit reached.")

        monkeypatch.setattr(watch_hints.NativeHints, "__init__", refuse)
        assert scene.watch().polling_reason == "OS file watch limit reached."
        scene.add(row("a"))
        assert uuids(scene.entries(1)) == ["a"]

    @pytest.mark.parametrize(
        "private", [None, type("RustNotify", (), {}), _Renamed], ids=["gone", "arguments", "methods"]
    )
    def test_another_release_of_watchfiles_means_polling(
        self, private: type | None, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = types.ModuleType("watchfiles._rust_notify")
        if private is not None:
            module.RustNotify = private  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", module)
        watcher = scene.watch()
        scene.add(row("a"))
        assert uuids(scene.entries(1)) == ["a"]
        assert watcher.polling_reason is not None
        assert watcher.polling_reason.startswith("this release of watchfiles cannot be used")

    def test_watches_that_fail_later_are_given_up(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        watcher = scene.watch()

        def fail(*_: object) -> set[str]:
            raise RuntimeError("error in underlying watcher")

        monkeypatch.setattr(watch_hints.NativeHints, "wait", fail)
        scene.add(row("a"))
        assert uuids(scene.entries(1)) == ["a"]
        assert watcher.polling_reason == "error in underlying watcher"

    def test_lost_hints_are_made_up_for(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        scene.add(row("old"))
        scene.watch()

        def nothing(*_: object) -> set[str]:
            time.sleep(0.01)
            return set()

        monkeypatch.setattr(watch_hints.NativeHints, "wait", nothing)
        scene.add(row("a"))
        assert uuids(scene.entries(1)) == ["a"]

    def test_a_home_without_projects_yet(self, tmp_path: Path) -> None:
        scene = Scene(tmp_path)
        scene.folder.rmdir()
        scene.home.projects.rmdir()
        watcher = scene.watch()
        try:
            scene.add(row("a"))
            assert uuids(scene.entries(1)) == ["a"]
        finally:
            watcher.close()

    @pytest.mark.parametrize(
        ("path", "kind"),
        [("/home/me/.claude", None), ("/mnt/net/.claude", "nfs4"), ("/mnt/net disk/x", "cifs"), ("/mnt/network", None)],
    )
    def test_network_drives_are_known(self, path: str, kind: str | None) -> None:
        mounts = (
            "22 1 259:1 / / rw,relatime - ext4 /dev/root rw\n"
            "30 22 0:40 / /mnt/net rw shared:1 - nfs4 server:/x rw\n"
            "31 22 0:41 / /mnt/net\\040disk rw - cifs //server/x rw\n"
        )
        assert watch_hints._remote_kind(path, mounts) == kind

    def test_a_watch_that_is_stopped_tells_nothing(self, scene: Scene) -> None:
        stop = threading.Event()
        watcher = scene.watch(stop=stop)
        scene.add(row("a"))
        stop.set()
        assert watcher.step() == []


class TestPlaces:
    @pytest.mark.parametrize(
        ("path", "place"),
        [
            (f"-w/{SESSION}.jsonl", Place(SESSION)),
            (f"-w/{SESSION.upper()}.jsonl", None),
            (f"-w/.{SESSION}.jsonl.recollect-tmp", None),
            ("-w/notes.jsonl", None),
            ("-w/agent-abc.jsonl", Place(None, "abc")),
            (f"-w/{SESSION}/subagents/agent-abc.jsonl", Place(SESSION, "abc")),
            (f"-w/{SESSION}/subagents/workflows/r1/agent-abc.jsonl", Place(SESSION, "abc", "r1")),
            (f"-w/{SESSION}/tool-results/agent-abc.jsonl", None),
            (f"{SESSION}.jsonl", None),
        ],
    )
    def test_what_a_file_is(self, path: str, place: Place | None) -> None:
        assert place_of(path.split("/")) == place

    @pytest.mark.parametrize("polling", [True, False], ids=["polling", "told"])
    def test_what_is_behind_a_link_of_the_store_is_watched(self, scene: Scene, tmp_path: Path, polling: bool) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (scene.home.projects / "-link").symlink_to(outside)
        scene.watch(polling=polling)
        scene.add(row("out"), outside / f"{OTHER}.jsonl")
        assert uuids(scene.entries(1)) == ["out"]

    def test_other_links_out_of_the_home_are_not_followed(self, scene: Scene, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (scene.home.projects / "-w" / SESSION).mkdir(parents=True)
        (scene.home.projects / "-w" / SESSION / "subagents").symlink_to(outside)
        scene.watch(polling=True)
        scene.add(row("out"), outside / "agent-a1.jsonl")
        scene.add(row("in"))
        assert uuids(scene.entries(1)) == ["in"]
