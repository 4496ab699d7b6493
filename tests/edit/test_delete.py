"""Deleting takes everything that belongs to a session or a project, and nothing else; undo brings it back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.edit.moving_scene import NEIGHBOUR, OLD, Scene, everything, tree

from recollect.edit.delete import DeleteResult, footprint, plan_delete, plan_delete_project
from recollect.errors import NotFound, Refused, StoreBusy
from recollect.journal.changes import Change, Journal
from recollect.library.library import Library
from recollect.store.home import Home
from recollect.store.scan import SessionFile
from recollect.testing import SECRET, HomeBuilder, TranscriptBuilder, uuid_from


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return everything(tmp_path / "claude", tmp_path / "data")


def file_of(scene: Scene, session: TranscriptBuilder) -> SessionFile:
    return Library([scene.home]).session(session.session_id).file


def commit(planned: tuple[Change, DeleteResult]) -> DeleteResult:
    change, result = planned
    with change:
        change.commit()
    return result


def names(scene: Scene, paths: list[Path]) -> set[str]:
    return {str(path.relative_to(scene.home.root)) for path in paths}


def test_the_footprint_of_a_session(scene: Scene) -> None:
    sid = scene.main.session_id
    folder = f"projects/{scene.folder(OLD).name}"
    assert names(scene, footprint(scene.home, file_of(scene, scene.main))) == {
        f"{folder}/{sid}.jsonl", f"{folder}/{sid}", f"file-history/{sid}", f"tasks/{sid}",
        f"todos/{sid}-agent-{sid}.json", f"todos/{sid}-agent-a1b2c3d.json", f"debug/{sid}.txt", f"session-env/{sid}",
        f"image-cache/{sid}", f"usage-data/session-meta/{sid}.json", "paste-cache/aaaa1111.txt",
    }  # fmt: skip


def test_the_footprint_of_an_early_session(scene: Scene) -> None:
    """Its subagents stand beside it, its todos have its plain name."""
    sid = scene.early.session_id
    found = names(scene, footprint(scene.home, file_of(scene, scene.early)))
    beside = {name for name in found if "/agent-" in name}
    assert len(beside) == 1
    assert found - beside == {f"projects/{scene.folder(OLD).name}/{sid}.jsonl", f"todos/{sid}.json"}


def test_a_name_that_is_no_id_claims_nothing_else(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.session("/w/a", file_name="latest.jsonl").user("x")
    builder.file("debug/latest.txt", b"a log")
    builder.file("tasks/latest/1.json", b"{}")
    home = Home(builder.write())
    file = Library([home]).files()[0]
    assert footprint(home, file) == [home.projects / "-w-a" / "latest.jsonl"]


def test_deleting_takes_the_footprint_and_no_more(scene: Scene) -> None:
    before = tree(scene.home.root)
    own = footprint(scene.home, file_of(scene, scene.main))
    result = commit(plan_delete(scene.journal, scene.home, [file_of(scene, scene.main)]))
    after = {name: item for name, item in tree(scene.home.root).items() if item != "empty folder"}
    gone = {name for name in before if not os.path.lexists(name)}
    assert gone == {name for name in before if any(Path(name).is_relative_to(path) for path in own)}
    index = str(scene.folder(OLD) / "sessions-index.json")
    assert {name: after[name] for name in after if name != index} == {
        name: before[name] for name in before if name not in gone and name != index
    }
    entries = json.loads((scene.folder(OLD) / "sessions-index.json").read_bytes())["entries"]
    assert [entry["sessionId"] for entry in entries] == [scene.early.session_id]
    assert result.sessions == [scene.main.session_id] and set(result.paths) == {str(path) for path in own}
    assert result.bytes == sum(len(before[name][0]) for name in gone)
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(scene.home.root) == before


def test_prompts_of_a_deleted_session_stay(scene: Scene) -> None:
    history = (scene.home.root / "history.jsonl").read_bytes()
    commit(plan_delete(scene.journal, scene.home, [file_of(scene, scene.main)]))
    assert (scene.home.root / "history.jsonl").read_bytes() == history


def test_a_paste_that_two_deleted_sessions_share_goes_with_them(scene: Scene) -> None:
    shared = scene.home.root / "paste-cache" / "bbbb2222.txt"
    commit(plan_delete(scene.journal, scene.home, [file_of(scene, scene.main)]))
    assert shared.exists()
    scene.journal.undo(scene.journal.record(), scene.home)
    both = [file_of(scene, scene.main), file_of(scene, scene.neighbour)]
    commit(plan_delete(scene.journal, scene.home, both))
    assert not shared.exists()


class TestTwoTranscriptsOfOneId:
    @pytest.fixture
    def copies(self, scene: Scene) -> list[SessionFile]:
        """The session as it is, and a copy of it in the folder of a project below."""
        source = scene.path(scene.main, OLD)
        copy = scene.path(scene.main, f"{OLD}/sub dir")
        copy.write_bytes(source.read_bytes())
        os.utime(copy, (1_700_000_000, 1_700_000_000))
        found = Library([scene.home]).files()
        return sorted((file for file in found if file.session_id == scene.main.session_id), key=lambda file: file.path)

    def test_what_goes_by_the_id_stays_with_the_other(self, scene: Scene, copies: list[SessionFile]) -> None:
        going, staying = copies
        before = tree(scene.home.root)
        result = commit(plan_delete(scene.journal, scene.home, [going]))
        below = (str(going.path), str(going.session_folder))
        assert {name for name in before if name not in tree(scene.home.root)} == {
            name for name in before if name.startswith(below)
        }
        assert len(result.notes) == 1
        assert str(going.path) in result.notes[0] and str(staying.path) in result.notes[0]

    def test_both_take_it_along(self, scene: Scene, copies: list[SessionFile]) -> None:
        before = tree(scene.home.root)
        result = commit(plan_delete(scene.journal, scene.home, copies))
        assert not any(scene.main.session_id in name for name in tree(scene.home.root))
        assert result.notes == [] and len(result.paths) == len(set(result.paths))
        scene.journal.undo(scene.journal.record(), scene.home)
        assert tree(scene.home.root) == before

    def test_so_does_their_project(self, scene: Scene, copies: list[SessionFile]) -> None:
        commit(plan_delete_project(scene.journal, scene.home, OLD))
        assert not any(scene.main.session_id in name for name in tree(scene.home.root))


def test_deleting_a_project(scene: Scene) -> None:
    before = tree(scene.home.root)
    result = commit(plan_delete_project(scene.journal, scene.home, OLD))
    sessions = (scene.main, scene.plain, scene.below, scene.worktree, scene.early)
    assert set(result.sessions) == {session.session_id for session in sessions}
    after = tree(scene.home.root)
    assert not any(session.session_id in name for name in after for session in sessions)
    assert {path.name for path in scene.home.projects.iterdir()} == {scene.folder(NEIGHBOUR).name}
    config = json.loads((scene.home.root / ".claude.json").read_bytes())
    assert list(config["projects"]) == [NEIGHBOUR]
    history = (scene.home.root / "history.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["project"] for line in history[:-1]] == [NEIGHBOUR, NEIGHBOUR]
    assert history[-1] == b'{"project": "/w/old/app", broken', "what cannot be read is not thrown away"
    assert result.history_lines == 4 and result.config_projects == [OLD, f"{OLD}/sub dir"]
    untouched = ("plans", "statsig", "shell-snapshots", "settings.json", ".credentials.json", "sessions", "plugins")
    for name, item in before.items():
        if name.startswith(tuple(str(scene.home.root / part) for part in untouched)) or "apple" in name:
            assert after[name] == item
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(scene.home.root) == before


def test_another_project_in_the_same_folder_stays(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    mine, other = builder.session("/w/a-b"), builder.session("/w-a/b", folder="-w-a-b")
    mine.user("x")
    other.user("y")
    builder.memory("/w/a-b", "both")
    home, journal = Home(builder.write()), Journal(tmp_path / "data")
    result = commit(plan_delete_project(journal, home, "/w/a-b"))
    assert result.sessions == [mine.session_id]
    left = {path.name for path in (home.projects / "-w-a-b").iterdir()}
    assert left == {f"{other.session_id}.jsonl", "memory"}


def test_secrets_stay_where_they_are(scene: Scene, tmp_path: Path) -> None:
    commit(plan_delete_project(scene.journal, scene.home, OLD))
    assert SECRET in (scene.home.root / ".credentials.json").read_text()
    assert not [name for name in tree(tmp_path / "data") if name.endswith((".key", ".credentials.json"))]


def test_unknown_projects(scene: Scene) -> None:
    with pytest.raises(NotFound):
        plan_delete_project(scene.journal, scene.home, "/w/old/ap")


def test_open_sessions_are_refused(scene: Scene) -> None:
    scene.builder.running(os.getpid(), scene.plain.session_id, OLD)
    content = scene.builder.files[f"sessions/{os.getpid()}.json"].content
    (scene.home.root / "sessions" / f"{os.getpid()}.json").write_bytes(content)
    before = tree(scene.home.root)
    with pytest.raises(StoreBusy):
        plan_delete(scene.journal, scene.home, [file_of(scene, scene.plain)])
    with pytest.raises(StoreBusy):
        plan_delete_project(scene.journal, scene.home, OLD, force=True)
    assert tree(scene.home.root) == before
    commit(plan_delete(scene.journal, scene.home, [file_of(scene, scene.main)]))


@pytest.mark.parametrize("place", ["transcript", "tasks"])
def test_links_out_of_the_home_are_refused(scene: Scene, tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    sid = scene.main.session_id
    path = {
        "transcript": scene.path(scene.main, OLD),
        "tasks": scene.home.root / "tasks" / sid,
    }[place]
    os.rename(path, outside / "taken")
    path.symlink_to(outside / "taken")
    os.utime(path, (0, 0), follow_symlinks=False)
    before = tree(scene.home.root, outside)
    file = SessionFile(sid, scene.path(scene.main, OLD), scene.home, scene.folder(OLD).name, 0, 0.0)
    with pytest.raises(Refused):
        commit(plan_delete(scene.journal, scene.home, [file]))
    assert tree(scene.home.root, outside) == before


def test_a_session_that_is_not_there(scene: Scene) -> None:
    ghost = uuid_from("ghost")
    file = SessionFile(ghost, scene.folder(OLD) / f"{ghost}.jsonl", scene.home, scene.folder(OLD).name, 0, 0.0)
    with pytest.raises(NotFound):
        plan_delete(scene.journal, scene.home, [file])
