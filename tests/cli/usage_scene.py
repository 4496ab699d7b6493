"""A home in which a little was spent, for the tests of `usage`, its pictures and the status line."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens
from tests.running import Ran, run

FULL = tokens(10, 200, 30, 40, 500)
COST = 10 * 3 + 200 * 15 + 30 * 3.75 + 40 * 6 + 500 * 0.3
OPUS = "claude-opus-4-5-20251101"
SESSION = "11111111-1111-4111-8111-111111111111"


def now(minutes_ago: float = 0) -> str:
    moment = datetime.fromtimestamp(time.time() - minutes_ago * 60, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "000Z"


def prompt(text: str, line: str, when: str) -> dict[str, Any]:
    return {
        "type": "user", "uuid": line, "parentUuid": None, "sessionId": SESSION, "timestamp": when, "cwd": "/work/a",
        "message": {"role": "user", "content": text},
    }  # fmt: skip


def bash(scene: Scene, number: int, command: str, when: str, done: str) -> list[dict[str, Any]]:
    call = scene.answer(
        f"msg_{number}", FULL, request=f"req_{number}", time=when, session=SESSION, stop="tool_use", parentUuid="u0"
    )
    call["message"]["content"] = [
        {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    ]
    result = {
        "type": "user", "uuid": f"r{number}", "parentUuid": call["uuid"], "sessionId": SESSION, "timestamp": done,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok " * 50}]},
    }  # fmt: skip
    return [call, result]


def spent_scene(folder: Path) -> Scene:
    """A session with a subagent, a commit and two prompts, on two days."""
    made = Scene(folder)
    made.write(
        SESSION,
        prompt("Do the dear thing", "u0", "2026-03-01T10:00:00.000Z"),
        made.answer("msg_1", FULL, time="2026-03-01T10:00:05.000Z", session=SESSION, parentUuid="u0"),
        *bash(made, 2, "git commit -m x", "2026-03-01T10:00:10.000Z", "2026-03-01T10:00:12.000Z"),
        prompt("And a cheap one", "u1", "2026-03-02T10:00:00.000Z"),
        made.answer(
            "msg_3", tokens(1, 2), request="req_3", time="2026-03-02T10:00:01.000Z", session=SESSION, parentUuid="u1"
        ),
    )
    made.write(
        f"{SESSION}/subagents/agent-a1",
        made.answer(
            "msg_4", FULL, request="req_4", time="2026-03-01T10:00:11.000Z", session=SESSION, model=OPUS, agentId="a1"
        ),
    )
    return made


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return spent_scene(tmp_path)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], scene: Scene) -> Any:
    def asked(*arguments: str) -> Ran:
        return run(capsys, scene.root, *arguments)

    return asked
