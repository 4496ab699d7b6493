"""The command line, the JSON interface and the provider give the same names and values for the same question."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.running import run
from tests.web.scene import Scene, scene

from recollect.library.provider import ClaudeStorageProvider
from recollect.testing import build_demo_home


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A demo home, served."""
    folder = tmp_path_factory.mktemp("faces")
    root = folder / "claude"
    build_demo_home(root)
    return scene(root, folder / "own")


def api(faces: Scene, path: str, **parameters: Any) -> list[dict[str, Any]]:
    answer = faces.script.get(f"/api/v1{path}", params={"limit": 1000, **parameters})
    assert answer.status_code == 200, answer.text[:300]
    rows: list[dict[str, Any]] = answer.json()["rows"]
    return rows


def session_ids(faces: Scene) -> list[str]:
    return [row["session_id"] for row in api(faces, "/sessions")]


def test_sessions(faces: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    listed = run(capsys, faces.root, "list", "--json").data["rows"]
    assert len(listed) > 10
    assert api(faces, "/sessions") == listed
    provider = ClaudeStorageProvider(faces.root, data_dir=faces.root.parent / "own" / "data")
    assert asyncio.run(provider.get_sessions()) == listed


PARTS = [
    ("subagents", "subagents"), ("tree", "branches"), ("tools", "tools"), ("files", "files"), ("todos", "tasks"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "path"), PARTS)
def test_parts_of_every_session(command: str, path: str, faces: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    seen = 0
    for ident in session_ids(faces):
        rows = run(capsys, faces.root, command, ident, "--json").data["rows"]
        assert api(faces, f"/sessions/{ident}/{path}") == rows
        seen += len(rows)
    assert seen > 0


def test_messages_of_every_session(faces: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    provider = ClaudeStorageProvider(faces.root, data_dir=faces.root.parent / "own" / "data")
    seen = 0
    for ident in session_ids(faces):
        shown = run(capsys, faces.root, "show", ident, "--json").data["rows"]
        assert api(faces, f"/sessions/{ident}/messages", view="resumed") == shown
        rows = asyncio.run(provider.get_session_messages(ident))
        by_uuid = {row["uuid"]: {**row, "number": 0} for row in shown}
        assert all(by_uuid[row["uuid"]] == {**row, "number": 0} for row in rows)
        seen += len(rows)
    assert seen > 50


def test_bookmarks(faces: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(faces.root.parent / "own" / "data"))
    ident = session_ids(faces)[0]
    assert run(capsys, faces.root, "bookmark", "add", ident, "#1", "--note", "here").code == 0
    rows = run(capsys, faces.root, "bookmark", "--json").data["rows"]
    assert [row["note"] for row in rows] == ["here"]
    assert api(faces, "/bookmarks") == rows
    assert run(capsys, faces.root, "bookmark", "remove", ident, "#1").code == 0
    assert api(faces, "/bookmarks") == []


def test_a_change_and_its_undo(
    faces: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(faces.root.parent / "own" / "data"))
    ident = session_ids(faces)[0]
    planned = run(capsys, faces.root, "rename", ident, "Another name", "--dry-run", "--json").data
    answer = faces.script.post(
        f"/api/v1/sessions/{ident}/rename", json={"title": "Another name", "dry_run": True}
    ).json()
    assert answer["result"] == {name: planned[name] for name in answer["result"]}
    assert (answer["steps"], answer["change"]) == (planned["steps"], planned["change"])
    run(capsys, faces.root, "rename", ident, "Another name", "--force")
    listed = run(capsys, faces.root, "changes", "--json").data["rows"]
    assert len(listed) == 1 and api(faces, "/changes") == listed
    answer = faces.script.post(f"/api/v1/changes/{listed[0]['number']}/undo", json={}).json()
    assert run(capsys, faces.root, "changes", "--json").data["rows"][0]["state"] == "undone"
    assert answer["undone"] is True
