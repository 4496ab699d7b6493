"""`recollect watch`: safe lines for people, JSON lines for programs, and a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.running import run

from recollect.export.event_text import EventText
from recollect.library.watching import EVENTS, SessionEvent, SubagentStarted, ToolFinished, event_row
from recollect.testing import HomeBuilder

Start = Callable[..., "subprocess.Popen[str]"]


class Scene:
    def __init__(self, root: Path) -> None:
        builder = HomeBuilder(root)
        session = builder.session("/w/app")
        session.user("about the app")
        self.home = Path(builder.write())
        self.session_id = session.session_id
        self.path = next(self.home.rglob(f"{session.session_id}.jsonl"))

    def add(self, uuid: str, content: Any, kind: str = "user", **more: Any) -> None:
        entry = {"type": kind, "uuid": uuid, "cwd": "/w/app", "timestamp": "2098-01-01T00:00:00Z", **more}
        with open(self.path, "ab") as stream:
            message = {"role": kind, "content": content, "model": "claude-opus-5", "id": f"m{uuid}"}
            stream.write(json.dumps({**entry, "message": message}).encode() + b"\n")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "claude")


@pytest.fixture
def start(scene: Scene) -> Iterator[Start]:
    """The command in a process of its own, watching already."""
    children: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "recollect", "watch", "--home", str(scene.home), "--from-start", scene.session_id,
             *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
        )  # fmt: skip
        children.append(child)
        return child

    yield begin
    for child in children:
        child.kill()
        child.communicate()


def rows(child: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    assert child.stdout is not None
    return [json.loads(child.stdout.readline()) for _ in range(count)]


class TestLines:
    def test_json(self, scene: Scene, start: Start) -> None:
        child = start("--jsonl")
        first = rows(child, 2)
        assert [row["event"] for row in first] == ["session_started", "message"]
        assert first[1]["text"] == "about the app"
        scene.add("a", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}], "assistant")
        message, tool = rows(child, 2)
        assert (message["role"], message["model"], message["uuid"]) == ("assistant", "claude-opus-5", "a")
        assert {key: tool[key] for key in ("event", "session_id", "name", "input", "time")} == {
            "event": "tool_started",
            "session_id": scene.session_id,
            "name": "Bash",
            "input": {"command": "ls"},
            "time": "2098-01-01T00:00:00.000Z",
        }

    def test_text_is_safe(self, scene: Scene, start: Start) -> None:
        child = start()
        assert child.stdout is not None
        scene.add("a", "hello \x1b]52;c;x\x07 there\x1b[31m", "assistant")
        scene.add("b", "the end")
        lines: list[str] = []
        while not any("the end" in line for line in lines):
            lines.append(child.stdout.readline())
        text = "".join(lines)
        assert "▌ Claude (opus-5)" in text
        assert "hello  there" in text
        assert "\x1b" not in text

    def test_entries_that_are_no_messages_come_when_they_are_asked_for(self, scene: Scene, start: Start) -> None:
        child = start("--jsonl", "--everything")
        rows(child, 2)
        with open(scene.path, "ab") as stream:
            stream.write(b'{"type":"mode","mode":"default"}\n')
        (row,) = rows(child, 1)
        assert (row["event"], row["type"], row["entry"]) == ("entry", "mode", {"type": "mode", "mode": "default"})


@pytest.mark.skipif(os.name == "nt", reason="signals and pipes of a POSIX system")
class TestEnd:
    def test_an_interrupt(self, start: Start) -> None:
        child = start("--jsonl")
        rows(child, 2)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=30)
        assert child.returncode == 130
        assert "Traceback" not in err

    def test_nobody_reads_any_more(self, start: Start) -> None:
        child = start("--jsonl")
        rows(child, 2)
        assert child.stdout is not None
        child.stdout.close()  # nothing happens any more, and it must end nonetheless
        assert child.wait(timeout=30) == 0
        assert child.stderr is not None
        assert "Traceback" not in child.stderr.read()


class TestUsage:
    def test_a_session_and_a_project(self, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, scene.home, "watch", "last", "--project", "app").code == 2
        assert run(capsys, scene.home, "watch", "--from-start").code == 2

    def test_an_unknown_session(self, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, scene.home, "watch", "no such session").code == 3


class TestEvents:
    def test_every_kind_has_a_line_and_data(self) -> None:
        text = EventText(thinking=False, one_session=False)
        samples: dict[str, dict[str, Any]] = {
            "session_started": {"cwd": "/w"}, "session_ended": {"reason": "closed"},
            "tool_started": {"tool_use_id": "t", "name": "Bash\x1b[2J"},
            "tool_finished": {"tool_use_id": "t", "name": "Bash", "duration": 1.5}, "subagent_started": {"subagent_type": "E"},
            "compaction": {"trigger": "auto", "tokens_before": 5}, "title_changed": {"title": "T", "source": "ai"},
            "budget": {"name": "day", "spent": 1.0, "limit": 1.0, "unit": "USD"},
        }  # fmt: skip
        assert set(EVENTS) - set(samples) == {"entry", "message", "damage"}
        for kind, fields in samples.items():
            event = EVENTS[kind](session_id="0f0e0d0c", time=0.0, **fields)
            (line,) = text.lines(event)
            assert "0f0e0d0c" in line
            assert "\x1b" not in line
            data = event_row(event)
            assert data["event"] == kind
            assert fields.items() <= data.items()
            json.dumps(data)

    def test_whose_it_is(self) -> None:
        text = EventText(thinking=False, one_session=True)
        events: list[SessionEvent] = [
            SubagentStarted(
                session_id="s", time=0.0, subagent_id="a1", subagent_type="Explore", description="look around"
            ),
            ToolFinished(session_id="s", time=0.0, subagent_id="a1", tool_use_id="t", name=None, duration=None),
        ]
        lines = [line for event in events for line in text.lines(event)]
        assert lines[0].endswith("subagent a1  ┌ subagent a1 started  Explore look around")
        assert lines[1].endswith("subagent a1  ⎿ (empty)")
