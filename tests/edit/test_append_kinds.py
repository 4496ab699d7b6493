"""Every kind of line that a writer appends, and what it refuses because of what the file already holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.append import SessionWriter, plan_new_session
from recollect.errors import NotFound, Refused, StoreBusy
from recollect.format.encode import RowContext
from recollect.journal.changes import Journal
from recollect.store.home import Home

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"


class Scene:
    def __init__(self, root: Path) -> None:
        (root / "claude" / "projects").mkdir(parents=True)
        self.home = Home(root / "claude")
        self.journal = Journal(root / "data")
        self.path = self.home.projects / "-w" / f"{SESSION}.jsonl"

    def writer(self, **options: Any) -> SessionWriter:
        context = options.pop("context", RowContext(SESSION, "/w"))
        return SessionWriter(self.journal, self.home, options.pop("path", self.path), context, sync=False, **options)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_whole_turn(scene: Scene) -> None:
    with scene.writer() as writer:
        prompt = writer.append_image("AAAA", "image/png", text="What is this?")
        writer.append_thinking("Hm.", signature="s", message_id="msg_1", model="m")
        call = writer.append_tool_call("Bash", {"command": "ls"}, text="Let me look.", message_id="msg_1")
        writer.append_tool_result(call, "a\n", is_error=True, structured={"stdout": "a\n"})
        writer.append_entry({"type": "tag", "tag": "x", "sessionId": SESSION})
        writer.append_message("assistant", "A file.", parent=prompt)
    rows = scene.lines()
    assert [row["type"] for row in rows] == ["user", "assistant", "assistant", "user", "tag", "assistant"]
    assert [block["type"] for block in rows[0]["message"]["content"]] == ["text", "image"]
    assert rows[2]["message"]["stop_reason"] == "tool_use"
    assert rows[3]["message"]["content"][0] | {"content": ""} == {
        "type": "tool_result", "tool_use_id": call, "content": "", "is_error": True,
    }  # fmt: skip
    assert rows[3]["toolUseResult"] == {"stdout": "a\n"}
    assert [row.get("parentUuid") for row in rows[1:4]] == [row["uuid"] for row in rows[:3]]
    assert rows[5]["parentUuid"] == prompt
    assert rows[5]["message"]["model"] == "m"


def test_what_the_file_holds_decides(scene: Scene) -> None:
    with scene.writer() as writer:
        uuid = writer.append_message("user", "one")
        call = writer.append_tool_call("Bash", {})
        for refused, slug in (
            (lambda: writer.append_message("user", "again", uuid=uuid), "exists"),
            (lambda: writer.append_entry({"type": "user", "uuid": uuid}), "exists"),
            (lambda: writer.append_tool_call("Bash", {}, call_id=call), "exists"),
            (lambda: writer.append_tool_result("toolu_none", "x"), "unknown-call"),
            (lambda: writer.append_message("system", "x"), "bad-role"),
            (lambda: writer.append_entry({"tag": "x"}), "bad-entry"),
        ):
            with pytest.raises(Refused) as problem:
                refused()
            assert problem.value.slug == slug
        with pytest.raises(NotFound):
            writer.append_message("user", "x", parent="ffffffff-0000-4000-8000-000000000000")
        assert writer.append_tool_result("toolu_none", "x", allow_unknown_call=True)
    assert len(scene.lines()) == 3


def test_a_planned_line_is_the_one_that_is_written(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "one")
        planned = json.loads(writer.planned_line("assistant", "two", model="m"))
        assert len(scene.lines()) == 1
        writer.append_message("assistant", "two", model="m")
    written = scene.lines()[1]
    assert planned["parentUuid"] == written["parentUuid"]
    assert planned["message"]["content"] == written["message"]["content"]


def test_a_new_session_is_not_begun_twice(scene: Scene) -> None:
    with scene.writer(new=True) as writer, scene.writer(new=True, force=True) as other:
        writer.append_message("user", "one")
        with pytest.raises(Refused) as refused:
            other.append_message("user", "two")
    assert refused.value.slug == "exists"
    assert len(scene.lines()) == 1


def test_a_file_that_is_moved_away_meanwhile_is_not_begun_anew(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "one")
        scene.path.rename(scene.path.with_suffix(".moved"))
        with pytest.raises(StoreBusy) as busy:
            writer.append_message("user", "two")
    assert busy.value.slug == "changed-meanwhile"
    assert not scene.path.exists()


@pytest.mark.parametrize(
    ("options", "slug"),
    [
        ({"context": RowContext("no id", "/w")}, "bad-session-id"),
        ({"path": Path("/elsewhere/x.jsonl")}, "outside-home"),
    ],
)
def test_a_writer_that_cannot_be(options: dict[str, Any], slug: str, scene: Scene) -> None:
    with pytest.raises(Refused) as refused:
        scene.writer(**options)
    assert refused.value.slug == slug


def test_a_writer_that_could_not_write_leaves_no_change(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.journal import disk

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "append_bytes", full)
    with scene.writer() as writer, pytest.raises(Refused) as refused:
        writer.append_message("user", "one")
    assert refused.value.slug == "disk-full"
    assert [record.state for record in scene.journal.records()] == ["failed"]
    assert not scene.path.exists()


def test_a_session_without_messages_names_its_project_and_title(scene: Scene) -> None:
    change, path = plan_new_session(scene.journal, scene.home, "/w", SESSION, title="T")
    with change:
        change.commit()
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == [
        {"type": "relocated", "sessionId": SESSION, "relocatedCwd": "/w"},
        {"type": "custom-title", "customTitle": "T", "sessionId": SESSION},
    ]


def test_a_subagent_goes_on_below_its_own_last_row(scene: Scene) -> None:
    path = scene.path.with_suffix("") / "subagents" / "agent-abc.jsonl"
    context = RowContext(SESSION, "/w", subagent_id="abc")
    companion = (path.with_suffix(".meta.json"), b"{}")
    with scene.writer(path=path, context=context, companion=companion) as writer:
        first = writer.append_message("user", "go")
    with scene.writer(path=path, context=context, force=True) as writer:
        writer.append_message("assistant", "done")
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [row["parentUuid"] for row in rows] == [None, first]
    assert companion[0].read_bytes() == b"{}"
