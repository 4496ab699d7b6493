"""`recollect todos`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.main import main
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.toolcalls import todo, todo_write

ONE, TWO, GONE = uuid_from("one"), uuid_from("two"), uuid_from("gone")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    builder.session("/w/app", session_id=ONE, version="2.0.77").user("go")
    written = builder.session("/w/app", session_id=TWO)
    written.user("go")
    written.call(todo_write([todo("from the transcript", "pending")]))
    builder.todos(
        ONE, [{"content": "first", "status": "completed"}, {"content": "second", "status": "pending"}], subagent=ONE
    )
    builder.todos(
        ONE, [{"content": "of a subagent", "status": "in_progress", "activeForm": "being"}], subagent="a753668"
    )
    builder.todos(GONE, [{"content": "left behind", "status": "pending"}], subagent=GONE)
    builder.task(ONE, 1, "a task", "pending", owner="me", blockedBy=["2"])
    builder.file(f"todos/{uuid_from('bad')}.json", b"[{")
    return builder.write()


def answer(home: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert main(["--home", str(home), "--json", "todos", *arguments]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_all(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(home, capsys)
    assert {(row["session_id"], row["subagent_id"], row["source"], row["content"]) for row in found["rows"]} == {
        (ONE, None, "todos", "first"),
        (ONE, None, "todos", "second"),
        (ONE, "a753668", "todos", "of a subagent"),
        (ONE, None, "tasks", "a task"),
        (GONE, None, "todos", "left behind"),
        (uuid_from("bad"), None, "todos", None),
    }
    assert (found["total"], found["pending"], found["in_progress"], found["completed"]) == (6, 3, 1, 1)
    assert [row["problem"] for row in found["rows"] if row["problem"]] == ["not JSON at character 2"]


def test_one_session(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answer(home, capsys, ONE[:8])["rows"]
    assert [row["content"] for row in rows] == ["first", "second", "of a subagent", "a task"]
    assert (rows[3]["owner"], rows[3]["blocked_by"]) == ("me", ["2"])


def test_only_open(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["content"] for row in answer(home, capsys, ONE, "--open")["rows"]] == [
        "second",
        "of a subagent",
        "a task",
    ]


def test_a_session_without_files_shows_its_transcript(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = answer(home, capsys, TWO)["rows"]
    assert (row["source"], row["content"], row["status"]) == ("transcript", "from the transcript", "pending")


def test_a_session_whose_transcript_is_gone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["content"] for row in answer(home, capsys, GONE)["rows"]] == ["left behind"]


def test_no_such_session(home: Path) -> None:
    assert main(["--home", str(home), "todos", "no-such-thing"]) == 3


def test_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--no-color", "todos", ONE]) == 0
    out = capsys.readouterr().out
    assert "[x]" in out
    assert "of a subagent" in out


def test_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.settings()
    assert answer(builder.write(), capsys, code=1)["rows"] == []
