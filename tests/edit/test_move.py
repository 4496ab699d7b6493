"""A project moves: everything that must name the new path does, and no other byte changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.edit.moving_scene import NEIGHBOUR, NEW, OLD, Bare, Scene, carry_out, everything, lines, tree

from recollect.edit.delete import plan_delete_project
from recollect.edit.move import plan_move
from recollect.format.file_history import hash_of_path
from recollect.format.path_text import project_key
from recollect.library.library import Library
from recollect.testing import SECRET, HomeBuilder


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return everything(tmp_path / "claude", tmp_path / "data")


def test_sessions_lie_in_the_folder_of_the_new_path(scene: Scene) -> None:
    result = carry_out(scene)
    assert not scene.folder(OLD).exists()
    for session, below in (
        (scene.main, ""), (scene.plain, ""), (scene.early, ""), (scene.below, "/sub dir"),
        (scene.worktree, "/.claude/worktrees/wt"),
    ):  # fmt: skip
        assert scene.path(session, NEW + below).is_file()
        assert session.session_id in result.sessions
    assert scene.neighbour.session_id not in result.sessions
    names = {path.name for path in scene.folder(NEW).iterdir()}
    assert {"memory", "sessions-index.json", scene.main.session_id} <= names
    assert any(name.startswith("agent-") for name in names), "a subagent of 2.0.77 stands beside"


def test_nothing_else_changes(scene: Scene) -> None:
    """All files are there, with their bytes but for the strings that name places, and with their times."""
    before = tree(scene.home.root)
    carry_out(scene)
    after = tree(scene.home.root)
    renamed = {
        str(scene.folder(OLD)): str(scene.folder(NEW)),
        hash_of_path(f"{OLD}/a.py"): hash_of_path(f"{NEW}/a.py"),
        hash_of_path(OLD): hash_of_path(NEW),
    }

    def new_name(name: str) -> str:
        for old, new in renamed.items():
            name = re.sub(re.escape(old) + "(?![a-z])", new, name)
        return name

    assert {new_name(name) for name in before} == set(after)
    for name, content in before.items():
        moved = after[new_name(name)]
        if isinstance(content, str) or isinstance(moved, str):
            assert content == moved
            continue
        if not name.endswith((".claude.json", "history.jsonl", "installed_plugins.json")):
            assert content[1] == moved[1], f"the time of {name}"
        naming = (".jsonl", ".claude.json", "installed_plugins.json", "sessions-index.json")
        if name.endswith(naming):
            assert back(moved[0]) == content[0], name
        else:
            assert moved[0] == content[0], name


def back(data: bytes) -> bytes:
    """The old bytes out of the new: the appended lines taken away, the strings changed back."""
    data = re.sub(rb'\{"type":"relocated"[^\n]*\n', b"", data)
    data = re.sub(rb'(\{"type":"worktree-state"[^\n]*\n)\{"type":"worktree-state"[^\n]*\n', rb"\1", data)
    data = data.replace(project_key(NEW).encode(), project_key(OLD).encode())
    data = data.replace(hash_of_path(f"{NEW}/a.py").encode(), hash_of_path(f"{OLD}/a.py").encode())
    return data.replace(NEW.encode(), OLD.encode())


def test_undo_gives_the_same_tree(scene: Scene) -> None:
    before = tree(scene.home.root)
    carry_out(scene)
    assert tree(scene.home.root) != before
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(scene.home.root) == before


def test_a_plan_alone_changes_nothing(scene: Scene) -> None:
    before = tree(scene.home.root)
    change, _ = plan_move(scene.journal, scene.home, OLD, NEW)
    with change:
        assert any(str(scene.folder(NEW)) in step for step in change.describe())
    assert tree(scene.home.root) == before


def test_the_project_of_every_session_is_the_new_path(scene: Scene) -> None:
    carry_out(scene)
    projects = {item.session_id: item.project for item in Library([scene.home]).sessions(separate_worktrees=True)}
    assert projects[scene.main.session_id] == NEW
    assert projects[scene.early.session_id] == NEW
    assert projects[scene.below.session_id] == f"{NEW}/sub dir"
    assert projects[scene.worktree.session_id] == f"{NEW}/.claude/worktrees/wt"
    assert projects[scene.neighbour.session_id] == NEIGHBOUR


def test_the_conversation_stays(scene: Scene) -> None:
    carry_out(scene)
    for session in (scene.main, scene.plain, scene.below, scene.worktree, scene.early):
        found = Library([scene.home]).session(session.session_id)
        assert [row.uuid for row in found.thread.chain if row.uuid in set(session.thread)] == session.thread


def test_words_of_people_and_tools_stay(scene: Scene) -> None:
    old_output = f"{scene.folder(OLD)}/{scene.main.session_id}/tool-results/b1k9s8acx.txt"
    carry_out(scene)
    rows = lines(scene.path(scene.main, NEW))
    assert rows[0]["message"]["content"] == f'look at {OLD}/a.py and say "{old_output}"'
    assert {row["cwd"] for row in rows if "cwd" in row} == {OLD}
    blob = next(row for row in rows if row["type"] == "api-request-blob")
    assert old_output in blob["message"]["content"], "the request log is named by its hash"
    listing = [row for row in rows if "toolUseResult" in row and row["toolUseResult"].get("stdout") == f"{OLD}/a.py\n"]
    assert len(listing) == 1


def test_long_outputs_are_found_where_the_transcript_says(scene: Scene) -> None:
    carry_out(scene)
    folder = scene.folder(NEW) / scene.main.session_id
    subagent = next(folder.glob("subagents/*.jsonl"))
    said = []
    for path in (scene.path(scene.main, NEW), subagent):
        for row in lines(path):
            content = row["message"]["content"] if "message" in row and row["type"] == "user" else ""
            if isinstance(content, list) and "saved to: " in str(content[0].get("content")):
                said.append(content[0]["content"].partition("saved to: ")[2].partition("\n")[0])
                assert row.get("toolUseResult", {}).get("persistedOutputPath", said[-1]) == said[-1]
    assert said == [str(folder / "tool-results" / "b1k9s8acx.txt"), str(folder / "tool-results" / "b2.txt")]
    assert all(Path(name).is_file() for name in said)
    replaced = next(row for row in lines(scene.path(scene.main, NEW)) if row["type"] == "content-replacement")
    assert str(folder / "tool-results" / "b1k9s8acx.txt") in replaced["replacements"][0]["replacement"]


def test_backups_of_files_follow_their_path(scene: Scene) -> None:
    result = carry_out(scene)
    new_hash, other = hash_of_path(f"{NEW}/a.py"), hash_of_path(f"{NEIGHBOUR}/c.py")
    folder = scene.home.root / "file-history" / scene.main.session_id
    assert {path.name for path in folder.iterdir()} == {f"{new_hash}@v1", f"{new_hash}@v2", f"{other}@v1"}
    assert result.backups_renamed == 2
    rows = lines(scene.path(scene.main, NEW))
    delta = next(row for row in rows if row["type"] == "file-history-delta")
    assert delta["trackingPath"] == "a.py"
    assert delta["backup"]["realParentDir"] == NEW
    assert delta["backup"]["backupFileName"] == f"{new_hash}@v1"
    tracked = [row for row in rows if row["type"] == "file-history-snapshot"][-1]["snapshot"]["trackedFileBackups"]
    assert tracked["a.py"]["backupFileName"] == f"{new_hash}@v2"
    assert tracked[f"{NEIGHBOUR}/c.py"]["backupFileName"] == f"{other}@v1"
    versions = Library([scene.home]).session(scene.main.session_id)
    assert versions.file.path == scene.path(scene.main, NEW)


def test_a_worktree_session_knows_its_new_worktree(scene: Scene) -> None:
    carry_out(scene)
    rows = lines(scene.path(scene.worktree, f"{NEW}/.claude/worktrees/wt"))
    states = [row["worktreeSession"] for row in rows if row["type"] == "worktree-state"]
    assert [state["originalCwd"] for state in states] == [OLD, NEW]
    assert states[-1] == {**states[0], "originalCwd": NEW, "worktreePath": f"{NEW}/.claude/worktrees/wt"}


def test_prompts_settings_and_plugins_follow(scene: Scene) -> None:
    before = json.loads((scene.home.root / ".claude.json").read_bytes())
    result = carry_out(scene)
    after = json.loads((scene.home.root / ".claude.json").read_bytes())
    assert list(after["projects"]) == [NEW, f"{NEW}/sub dir", NEIGHBOUR]
    assert list(after["projects"].values()) == list(before["projects"].values())
    assert after["githubRepoPaths"] == {"w/app": [NEW, "/elsewhere"]}
    assert {**after, "projects": 0, "githubRepoPaths": 0} == {**before, "projects": 0, "githubRepoPaths": 0}
    history = (scene.home.root / "history.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["project"] for line in history[:-1]] == [
        NEW, NEW, NEW, NEIGHBOUR, f"{NEW}/sub dir", NEIGHBOUR,
    ]  # fmt: skip
    assert history[-1] == b'{"project": "/w/old/app", broken', "a damaged line stays as it is"
    assert json.loads(history[0])["display"] == f"look at {OLD}"
    assert result.history_lines == 4
    plugins = json.loads((scene.home.root / "plugins" / "installed_plugins.json").read_bytes())
    assert plugins["plugins"]["x@m"][0]["projectPath"] == NEW
    index = json.loads((scene.folder(NEW) / "sessions-index.json").read_bytes())
    assert {entry["projectPath"] for entry in index["entries"]} == {NEW}
    assert all(Path(entry["fullPath"]).is_file() for entry in index["entries"])
    assert any("settings.json" in note for note in result.notes)


def test_secrets_are_neither_touched_nor_kept(scene: Scene, tmp_path: Path) -> None:
    carry_out(scene)
    secrets = [name for name in tree(tmp_path / "data") if name.endswith((".key", ".credentials.json"))]
    assert secrets == []
    assert SECRET in (scene.home.root / ".credentials.json").read_text()
    assert SECRET in (scene.home.root / ".claude.json").read_text()
    kept = [
        Path(name)
        for name, item in tree(tmp_path / "data").items()
        if item != "empty folder" and SECRET in Path(name).read_text("latin-1")
    ]
    assert len(kept) == 1, "the old config, for undo"
    assert kept[0].stat().st_mode & 0o077 == 0, "nobody else may read it"


@pytest.mark.parametrize("damage", [b"{broken", b"[]", b"", b'{"projects": {"/w/old/app": {}, "/w/\xff": {}}}'])
def test_a_damaged_config_is_left_as_it_is_and_named(scene: Scene, damage: bytes) -> None:
    scene.home.config_file.write_bytes(damage)
    moved = carry_out(scene)
    change, deleted = plan_delete_project(scene.journal, scene.home, NEW)
    with change:
        change.commit()
    for notes in (moved.notes, deleted.notes):
        assert [note for note in notes if note.startswith(f"{scene.home.config_file} is left as it is: ")]
    assert scene.home.config_file.read_bytes() == damage


def test_prompts_with_bytes_that_are_no_text_follow(scene: Scene) -> None:
    """All but those whose path itself is damaged, or that share a line: these are counted."""
    path = scene.home.root / "history.jsonl"
    told = b'{"display": "caf\xe9 \xe2", "pastedContents": {}, "project": "/w/old/app", "\xff": "\xf0"}\n'
    lost = b'{"display": "x", "project": "/w/old/app/\xe9"}\n'
    glued = b'{"display": "x", "project": "/w/old/app"}{"display": "y", "project": "/w/old/app"}\n'
    path.write_bytes(told + lost + glued)
    result = carry_out(scene)
    assert path.read_bytes() == told.replace(OLD.encode(), NEW.encode()) + lost + glued
    assert result.history_lines == 1
    assert "history.jsonl: 2 damaged lines keep the old path" in result.notes


def test_new_config_entries_are_merged(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    home.session("/w/old").user("x")
    home.global_config(
        {
            "/w/new": {
                "allowedTools": ["A"],
                "hasTrustDialogAccepted": False,
                "own": 1,
                "lastSessionId": "n",
                "lastCost": 1,
            },
            "/w/x": {},
            "/w/old": {
                "allowedTools": ["B", "A"],
                "hasTrustDialogAccepted": True,
                "mcpServers": {"s": {}},
                "lastCost": 9,
            },
        }
    )
    scene = Bare(home)
    root = scene.home.root
    text = (root / ".claude.json").read_bytes()
    result = carry_out(scene, "/w/old", "/w/new")
    config = json.loads((root / ".claude.json").read_bytes())
    assert config["projects"] == {
        "/w/new": {
            "allowedTools": ["A", "B"], "hasTrustDialogAccepted": True, "own": 1, "lastSessionId": "n", "lastCost": 1,
            "mcpServers": {"s": {}},
        },
        "/w/x": {},
    }  # fmt: skip
    assert any("two entries of /w/new become one" in note for note in result.notes)
    assert (root / ".claude.json").read_bytes() == json.dumps(
        {**json.loads(text), "projects": config["projects"]}, indent=2, ensure_ascii=False
    ).encode(), "the layout is the client's"


def test_moving_there_and_back(scene: Scene) -> None:
    carry_out(scene)
    carry_out(scene, NEW, OLD)
    assert lines(scene.path(scene.main, OLD))[-1] == {
        "type": "relocated", "sessionId": scene.main.session_id, "relocatedCwd": OLD,
    }  # fmt: skip
    names = {path.name for path in (scene.home.root / "file-history" / scene.main.session_id).iterdir()}
    assert f"{hash_of_path(f'{OLD}/a.py')}@v1" in names
    assert not scene.folder(NEW).exists()


def test_damaged_transcripts_move_as_they_are(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    torn, empty = (
        home.session("/w/old", modified="2026-03-01T00:00Z"),
        home.session("/w/old", modified="2026-03-01T00:00Z"),
    )
    torn.user("x")
    empty.user("y")
    data = torn.to_bytes() + b"\x00\x00 not json\n" + b'{"type":"user","persistedOutputPath":"/x'
    home.damage(torn, data)
    home.damage(empty, b"")
    scene = Bare(home)
    root = scene.home.root
    carry_out(scene, "/w/old", "/w/new")
    folder = root / "projects" / "-w-new"
    moved = (folder / f"{torn.session_id}.jsonl").read_bytes()
    assert moved.startswith(data + b"\n") and moved.endswith(b'"relocatedCwd":"/w/new"}\n')
    assert (folder / f"{empty.session_id}.jsonl").read_bytes() == b""
