"""What stands in the way of a move: never overwritten, refused before anything changes; and paths of other machines."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.edit.moving_scene import NEIGHBOUR, NEW, OLD, Bare, Scene, carry_out, everything, lines, persisted, tree

from recollect.edit.delete import plan_delete_project
from recollect.edit.move import plan_move
from recollect.errors import NotFound, RecollectError, Refused, StoreBusy
from recollect.format.file_history import hash_of_path
from recollect.format.path_text import project_key
from recollect.library.library import Library
from recollect.store.home import Home
from recollect.store.project_folders import connector_folder
from recollect.testing import HomeBuilder, uuid_from


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return everything(tmp_path / "claude", tmp_path / "data")


# --- collisions -------------------------------------------------------------------------------------------------------


def at_new(scene: Scene, name: str, content: bytes) -> Path:
    path = scene.folder(NEW) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def test_a_folder_with_sessions_is_not_taken_over(scene: Scene) -> None:
    at_new(scene, f"{uuid_from('there')}.jsonl", b"{}\n")
    before = tree(scene.home.root)
    with pytest.raises(Refused) as refused:
        carry_out(scene)
    assert refused.value.slug == "exists" and "--merge" in (refused.value.hint or "")
    assert tree(scene.home.root) == before


def test_an_empty_folder_is_no_obstacle(scene: Scene) -> None:
    (scene.folder(NEW) / "memory").mkdir(parents=True)
    carry_out(scene)
    assert (scene.folder(NEW) / "memory" / "MEMORY.md").read_text() == f"# Memory of {OLD}\n"
    assert not scene.folder(OLD).exists()


def test_merging_keeps_both(scene: Scene) -> None:
    there = at_new(scene, f"{uuid_from('there')}.jsonl", b'{"type":"user","cwd":"/w/new place/\xc3\xa4pp"}\n')
    memory = at_new(scene, "memory/MEMORY.md", b"# another memory\n")
    same = at_new(scene, f"{scene.plain.session_id}.jsonl", scene.path(scene.plain, OLD).read_bytes())
    at_new(scene, "sessions-index.json", b'{"version": 1, "entries": [{"sessionId": "x"}]}')
    before = tree(scene.home.root)
    carry_out(scene, merge=True)
    assert there.read_bytes() == b'{"type":"user","cwd":"/w/new place/\xc3\xa4pp"}\n'
    assert memory.read_bytes() == b"# another memory\n"
    others = [path for path in memory.parent.iterdir() if path != memory]
    assert [path.read_text() for path in others] == [f"# Memory of {OLD}\n"]
    assert same.read_bytes().startswith(scene.plain.to_bytes()) and b'"relocated"' in same.read_bytes()
    assert not scene.folder(OLD).exists()
    index = json.loads((scene.folder(NEW) / "sessions-index.json").read_bytes())
    assert {entry["sessionId"] for entry in index["entries"]} == {"x", scene.main.session_id, scene.early.session_id}
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(scene.home.root) == before


def test_a_session_with_other_content_is_refused_by_name(scene: Scene) -> None:
    at_new(scene, f"{scene.plain.session_id}.jsonl", b'{"type":"user"}\n')
    before = tree(scene.home.root)
    with pytest.raises(Refused) as refused:
        carry_out(scene, merge=True)
    assert refused.value.slug == "collision" and scene.plain.session_id in refused.value.message
    assert tree(scene.home.root) == before


def test_paths_with_one_key_move_in_place(tmp_path: Path) -> None:
    """`/w/a.b` and `/w/a-b` have the same folder: only what is in the files changes."""
    home = HomeBuilder(tmp_path / "claude")
    session = home.session("/w/a.b", modified="2026-03-01T00:00Z")
    session.user("x"), session.assistant("y")
    home.sessions_index("/w/a.b", [home.index_entry(session)])
    scene = Bare(home)
    root = scene.home.root
    before = tree(root)
    carry_out(scene, "/w/a.b", "/w/a-b")
    assert Library([Home(root)]).sessions()[0].project == "/w/a-b"
    assert set(tree(root)) == set(before)
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(root) == before


def test_two_projects_of_one_folder_become_one_by_merge_only(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    for path in ("/w/a.b", "/w/a-b"):
        home.session(path, modified="2026-03-01T00:00Z").user(path)
    scene = Bare(home)
    before = tree(scene.home.root)
    with pytest.raises(Refused) as refused:
        carry_out(scene, "/w/a.b", "/w/a-b")
    assert refused.value.slug == "exists" and "--merge" in (refused.value.hint or "")
    assert tree(scene.home.root) == before
    carry_out(scene, "/w/a.b", "/w/a-b", merge=True)
    assert {item.project for item in Library([scene.home]).sessions()} == {"/w/a-b"}


def test_only_the_sessions_of_the_project_leave_a_shared_folder(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    mine, other = home.session("/w/a-b"), home.session("/w-a/b", folder="-w-a-b")
    for session in (mine, other):
        session.user("x"), session.assistant("y")
    home.tool_output(mine, "t", "long")
    home.memory("/w/a-b", "ours")
    home.sessions_index("/w/a-b", [home.index_entry(mine), home.index_entry(other)])
    scene = Bare(home)
    root = scene.home.root
    before = tree(root)
    result = carry_out(scene, "/w/a-b", "/w/c")
    assert {path.name for path in (root / "projects" / "-w-c").iterdir()} == {
        f"{mine.session_id}.jsonl", mine.session_id, "memory",
    }  # fmt: skip
    left = {path.name for path in (root / "projects" / "-w-a-b").iterdir()}
    assert left == {f"{other.session_id}.jsonl", "memory", "sessions-index.json"}
    index = json.loads((root / "projects" / "-w-a-b" / "sessions-index.json").read_bytes())
    assert [entry["sessionId"] for entry in index["entries"]] == [other.session_id]
    assert (root / "projects" / "-w-c" / "memory" / "MEMORY.md").read_text() == "ours"
    assert result.sessions == [mine.session_id] and any("/w-a/b" in note for note in result.notes)
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(root) == before


# --- across machines --------------------------------------------------------------------------------------------------


def test_a_home_from_another_machine(tmp_path: Path) -> None:
    """The paths of the other machine exist nowhere here; its home had another place too."""
    builder = HomeBuilder(tmp_path / "claude")
    app = builder.session("/Users/ann/app", modified="2026-03-01T00:00Z")
    prompt = app.user("x")
    app.file_history_snapshot(prompt, {"/Users/ann/app/a.py": 1})
    builder.backup(app.session_id, "/Users/ann/app/a.py", 1, "a")
    builder.tool_output(app, "t1", "long")
    foreign = f"/Users/ann/.claude/projects/-Users-ann-app/{app.session_id}/tool-results/t1.txt"
    app.call(persisted(foreign, id="toolu_1"))
    other = builder.session("/Volumes/work/lib", modified="2026-03-01T00:00Z")
    other.user("y")
    windows = builder.session("C:\\Users\\ann\\tool", modified="2026-03-01T00:00Z")
    windows.user("z")
    scene = Bare(builder)
    maps = [("/Volumes/work", "/srv/work"), ("C:\\Users\\ann", "/home/ann/win")]
    carry_out(scene, "/Users/ann", "/home/ann", maps=maps)
    projects = scene.home.projects
    assert {path.name for path in projects.iterdir()} == {"-home-ann-app", "-srv-work-lib", "-home-ann-win-tool"}
    result = next(
        row for row in lines(projects / "-home-ann-app" / f"{app.session_id}.jsonl") if "toolUseResult" in row
    )
    new = projects / "-home-ann-app" / app.session_id / "tool-results" / "t1.txt"
    assert result["toolUseResult"]["persistedOutputPath"] == str(new) and new.read_text() == "long"
    backups = [path.name for path in (scene.home.root / "file-history" / app.session_id).iterdir()]
    assert backups == [f"{hash_of_path('/home/ann/app/a.py')}@v1"]
    found = {item.session_id: item.project for item in Library([scene.home]).sessions()}
    assert found[windows.session_id] == "/home/ann/win/tool"


def test_two_projects_may_change_places(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    one, two = (
        builder.session("/w/one", modified="2026-03-01T00:00Z"),
        builder.session("/w/two", modified="2026-03-01T00:00Z"),
    )
    one.user("1"), two.user("2")
    scene = Bare(builder)
    with pytest.raises(Refused):  # one is in the way of the other, and nothing is overwritten
        carry_out(scene, "/w/one", "/w/two", maps=[("/w/two", "/w/one")])
    carry_out(scene, "/w/one", "/w/tmp")
    carry_out(scene, "/w/two", "/w/one")
    carry_out(scene, "/w/tmp", "/w/two")
    found = {item.session_id: item.project for item in Library([scene.home]).sessions()}
    assert found == {one.session_id: "/w/two", two.session_id: "/w/one"}


@pytest.mark.parametrize(
    "pairs", [["/w/one", "/w/two", "/w/one"], ["/w/two", "/w/one", "/w/x"], ["/w/one", "/w/two", "/w/x"]]
)
def test_places_that_are_left_in_the_same_move_are_not_taken(tmp_path: Path, pairs: list[str]) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    for path in ("/w/one", "/w/two"):
        builder.session(path, modified="2026-03-01T00:00Z").user(path)
    scene = Bare(builder)
    before = tree(scene.home.root)
    with pytest.raises(Refused) as refused:
        plan_move(scene.journal, scene.home, pairs[0], pairs[1], maps=[(pairs[1], pairs[2])], merge=True)
    assert refused.value.slug == "taking-turns"
    assert tree(scene.home.root) == before


class TestTwoProjectsBecomeOne:
    """Both move to a place where, at the time of planning, neither is."""

    MAPS = ("/w/one", "/w/both"), ("/w/two", "/w/both")

    @pytest.fixture
    def builder(self, tmp_path: Path) -> HomeBuilder:
        builder = HomeBuilder(tmp_path / "claude")
        for path in ("/w/one", "/w/two"):
            session = builder.session(path, session_id=uuid_from(path), modified="2026-03-01T00:00Z")
            session.user(path), session.call(persisted(builder.tool_output(session, "t", path), id="toolu_1"))
            builder.memory(path, f"of {path}")
            builder.file(f"projects/{project_key(path)}/memory/same.md", b"same")
            builder.file(f"projects/{project_key(path)}/memory/{path[-3:]}/own.md", b"own")
            builder.sessions_index(path, [builder.index_entry(session)])
        return builder

    def test_not_without_merge(self, builder: HomeBuilder) -> None:
        scene = Bare(builder)
        with pytest.raises(Refused) as refused:
            plan_move(scene.journal, scene.home, *self.MAPS[0], maps=self.MAPS[1:])
        assert refused.value.slug == "exists" and "both become -w-both" in refused.value.message

    @pytest.mark.parametrize("is_there", [False, True], ids=["new", "there"])
    def test_merged(self, builder: HomeBuilder, is_there: bool) -> None:
        ids = {uuid_from("/w/one"), uuid_from("/w/two")}
        if is_there:
            third = builder.session("/w/both", session_id=uuid_from("third"), modified="2026-03-01T00:00Z")
            third.user("third")
            builder.sessions_index("/w/both", [builder.index_entry(third)])
            ids.add(third.session_id)
        scene = Bare(builder)
        before = tree(scene.home.root)
        carry_out(scene, *self.MAPS[0], maps=self.MAPS[1:], merge=True)
        folder = scene.home.projects / "-w-both"
        assert [path.name for path in scene.home.projects.iterdir()] == ["-w-both"]
        assert {(item.session_id, item.project) for item in Library([scene.home]).sessions()} == {
            (ident, "/w/both") for ident in ids
        }
        assert sorted(path.read_text() for path in (folder / "memory").glob("MEMORY*")) == ["of /w/one", "of /w/two"]
        assert {path.name for path in (folder / "memory").iterdir() if "MEMORY" not in path.name} == {
            "same.md", "one", "two",
        }  # fmt: skip
        index = json.loads((folder / "sessions-index.json").read_bytes())
        assert {(entry["sessionId"], entry["projectPath"]) for entry in index["entries"]} == {
            (ident, "/w/both") for ident in ids
        }
        for path in ("/w/one", "/w/two"):
            output = folder / uuid_from(path) / "tool-results" / "t.txt"
            assert output.read_text() == path
            assert str(output) in (folder / f"{uuid_from(path)}.jsonl").read_text()
        scene.journal.undo(scene.journal.record(), scene.home)
        assert tree(scene.home.root) == before


@pytest.mark.parametrize("old", ["C:\\Users\\ann", "c:/users/ANN"])
def test_all_places_of_a_project_from_windows_follow(tmp_path: Path, old: str) -> None:
    """The client writes one path with backslashes into sessions and with slashes into the config."""
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session("C:\\Users\\ann\\app", modified="2026-03-01T00:00Z")
    session.user("x")
    builder.history("x", "C:\\Users\\ann\\app", session.session_id)
    builder.global_config({"C:/Users/ann/app": {}, "C:/Users/bob": {}})
    scene = Bare(builder)
    result = carry_out(scene, old, "/home/ann")
    assert (result.folders, result.history_lines) == ([("C--Users-ann-app", "-home-ann-app")], 1)
    assert list(json.loads(scene.home.config_file.read_bytes())["projects"]) == ["/home/ann/app", "C:/Users/bob"]
    assert {item.project for item in Library([scene.home]).sessions()} == {"/home/ann/app"}


def test_moving_to_the_root(scene: Scene) -> None:
    before = tree(scene.home.root)
    carry_out(scene, OLD, "/")
    assert {path.name for path in scene.home.projects.iterdir() if path.is_file()} == set()
    found = {item.session_id: item.project for item in Library([scene.home]).sessions()}
    assert (found[scene.main.session_id], found[scene.below.session_id]) == ("/", "/sub dir")
    assert len(found) == 6
    scene.journal.undo(scene.journal.record(), scene.home)
    assert tree(scene.home.root) == before


# --- refused before anything changes ----------------------------------------------------------------------------------


def test_open_sessions_are_refused(scene: Scene) -> None:
    for name, session, cwd in (
        ("one", scene.plain.session_id, "/elsewhere"),
        ("two", uuid_from("no file yet"), f"{OLD}/x"),
    ):
        path = Path(scene.builder.running(os.getpid(), session, cwd))
        path = scene.home.root / "sessions" / path.name
        path.write_bytes(scene.builder.files[f"sessions/{os.getpid()}.json"].content)
        before = tree(scene.home.root)
        for force in (False, True):
            with pytest.raises(StoreBusy) as busy:
                carry_out(scene, force=force)
            assert busy.value.slug == "session-running", name
        assert tree(scene.home.root) == before


def test_a_session_written_just_now_is_refused(scene: Scene) -> None:
    os.utime(scene.path(scene.plain, OLD))
    with pytest.raises(StoreBusy):
        carry_out(scene)


def test_a_client_elsewhere_needs_force(scene: Scene) -> None:
    """It writes the prompt history and the config, which must be rewritten."""
    running = scene.home.root / "sessions" / f"{os.getpid()}.json"
    scene.builder.running(os.getpid(), scene.neighbour.session_id, NEIGHBOUR)
    running.write_bytes(scene.builder.files[f"sessions/{os.getpid()}.json"].content)
    with pytest.raises(StoreBusy) as busy:
        carry_out(scene)
    assert busy.value.slug == "client-running" and scene.folder(OLD).exists()
    carry_out(scene, force=True)
    assert scene.path(scene.main, NEW).is_file()


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("/w/nothing", "/w/x", NotFound),
        (OLD, OLD, Refused),
        (OLD, OLD + "/", Refused),
        ("relative", "/w/x", Refused),
        (OLD, "relative", Refused),
        ("/", "/w/x", Refused),
        ("\\\\", "/w/x", Refused),
        (OLD, "\\\\", Refused),
        (OLD, "/w/\x00", Refused),
    ],
)
def test_bad_paths(scene: Scene, old: str, new: str, error: type[RecollectError]) -> None:
    before = tree(scene.home.root)
    with pytest.raises(error):
        carry_out(scene, old, new)
    assert tree(scene.home.root) == before
    assert not any((scene.journal.staging).glob("*")) if scene.journal.staging.exists() else True


@pytest.mark.parametrize("where", ["transcript", "target", "history"])
def test_links_are_refused(scene: Scene, tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"precious\n")
    if where == "transcript":
        (scene.folder(OLD) / "link.jsonl").symlink_to(outside / "file")
    elif where == "target":
        scene.folder(NEW).symlink_to(outside)
    else:
        os.rename(scene.home.root / "history.jsonl", outside / "history")
        (scene.home.root / "history.jsonl").symlink_to(outside / "history")
    before = tree(scene.home.root, outside)
    try:
        result = carry_out(scene)
    except Refused:
        assert tree(scene.home.root, outside) == before
    else:
        assert where == "history"
        assert {name: tree(outside)[name] for name in tree(outside)} == {
            name: before[name] for name in before if name.startswith(str(outside))
        }
        assert any("history.jsonl" in note for note in result.notes)


@pytest.mark.parametrize("where", ["inside", "outside", "nowhere", "a second name", "of a worktree", "a connector"])
def test_a_project_behind_a_link_is_neither_moved_nor_deleted(scene: Scene, tmp_path: Path, where: str) -> None:
    """Its prompts and its entry of the config would go, and its sessions stay."""
    link, target = scene.folder(OLD), scene.home.root / "store"
    if where == "outside":
        target = tmp_path / "outside"
    elif where == "of a worktree":
        link = scene.folder(f"{OLD}/.claude/worktrees/wt")
    elif where == "a connector":
        link = scene.home.projects / connector_folder(OLD)
    elif where == "a second name":
        link, target = scene.home.projects / "second", scene.folder(OLD)
    if where != "a second name":
        os.rename(link, tmp_path / "gone" if where == "nowhere" else target)
    link.symlink_to(os.path.relpath(target, link.parent))
    before = tree(tmp_path)
    for plan in (
        lambda: plan_move(scene.journal, scene.home, OLD, NEW, merge=True, force=True),
        lambda: plan_delete_project(scene.journal, scene.home, OLD, force=True),
    ):
        with pytest.raises(Refused) as refused:
            plan()
        assert refused.value.slug == "linked-folder" and str(link) in refused.value.message
    assert tree(tmp_path) == before


def test_links_of_others_are_in_nobodys_way(scene: Scene) -> None:
    link = scene.folder(NEIGHBOUR)
    os.rename(link, scene.home.root / "store")
    link.symlink_to("../store")
    carry_out(scene)
    assert scene.path(scene.main, NEW).is_file()
    assert link.is_symlink() and scene.path(scene.neighbour, NEIGHBOUR).is_file()


def test_a_change_in_between_is_noticed(scene: Scene) -> None:
    change, _ = plan_move(scene.journal, scene.home, OLD, NEW)
    with open(scene.path(scene.plain, OLD), "ab") as stream:
        stream.write(b'{"type":"tag","tag":"x"}\n')
    before = tree(scene.home.root)
    with pytest.raises(StoreBusy), change:
        change.commit()
    assert tree(scene.home.root) == before
