"""Which sessions and subagents a home holds, by names alone; and what is in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.store.home import Home
from recollect.store.layout import is_session_id
from recollect.store.scan import Scan, scan_home
from recollect.testing import ALL_AGES, HomeBuilder, build_age, uuid_from

CWD = "/w/app"
FOLDER = "-w-app"


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude")


def scan(builder: HomeBuilder) -> Scan:
    return scan_home(Home(builder.write()))


def test_sessions_with_size_and_time(builder: HomeBuilder) -> None:
    t = builder.session(CWD, modified="2026-01-02T03:04:05Z")
    t.user("hello")
    found = scan(builder)
    (session,) = found.sessions
    assert (session.session_id, session.folder) == (t.session_id, FOLDER)
    assert session.path == builder.session_path(t)
    assert session.size == len(t.to_bytes())
    assert session.mtime == 1767323045.0
    assert session.client_lists
    assert session.session_folder == session.path.with_suffix("")
    assert found.skipped == []


@pytest.mark.parametrize("version", ALL_AGES)
def test_homes_of_every_age(version: str, tmp_path: Path) -> None:
    age = build_age(tmp_path / "claude", version)
    found = scan_home(Home(age.root))
    assert {item.path for item in found.sessions} == {item.path for item in age.sessions}
    expected = {subagent.path for item in age.sessions for subagent in item.subagents if subagent.path is not None}
    beside = {subagent.path for _, subagent in found.beside}
    below = {subagent.path for item in found.sessions for subagent in item.subagents}
    assert beside | below == expected
    assert not (beside and below)
    assert found.orphan_subagents == []
    assert found.skipped == []


class TestSubAgents:
    def test_beside_the_session(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD, version="2.0.77")
        subagent = t.subagent("look")
        subagent.finish("done")
        found = scan(builder)
        ((folder, file),) = found.beside
        assert (folder, file.subagent_id, file.layout, file.meta_path) == (FOLDER, subagent.subagent_id, "beside", None)
        assert len(found.sessions) == 1

    def test_below_the_session_with_meta_file(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD)
        subagent = t.subagent("look")
        nested = subagent.subagent("deeper")
        nested.finish("ok")
        subagent.finish("done")
        (session,) = scan(builder).sessions
        assert [file.subagent_id for file in session.subagents] == sorted(
            [subagent.subagent_id or "", nested.subagent_id or ""]
        )
        for file in session.subagents:
            assert file.layout == "subagents"
            assert file.meta_path == file.path.with_name(f"agent-{file.subagent_id}.meta.json")
            assert file.meta_path.is_file()
            assert file.workflow is None

    def test_of_workflows(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD)
        subagent = t.subagent("look", workflow="run-7")
        subagent.finish("done")
        (session,) = scan(builder).sessions
        (file,) = session.subagents
        assert (file.subagent_id, file.workflow) == (subagent.subagent_id, "run-7")

    def test_inside_the_main_file_there_are_no_files(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD, version="2.0.26")
        t.subagent("look").finish("done")
        found = scan(builder)
        assert found.sessions[0].subagents == []
        assert found.beside == []

    def test_orphans_are_kept_apart(self, builder: HomeBuilder) -> None:
        gone = uuid_from("gone")
        builder.file(f"projects/{FOLDER}/{gone}/subagents/agent-a1.jsonl", b"{}\n")
        builder.session(CWD).user("another")
        found = scan(builder)
        assert [file.subagent_id for file in found.orphan_subagents] == ["a1"]
        assert [session.subagents for session in found.sessions] == [[]]

    def test_an_subagent_without_meta_file_and_files_that_are_none(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD)
        t.user("hello")
        below = f"projects/{FOLDER}/{t.session_id}/subagents"
        builder.file(f"{below}/agent-a1.jsonl", b"{}\n")
        builder.file(f"{below}/agent-a2.meta.json", b"{}")
        builder.file(f"{below}/notes.txt", b"x")
        (session,) = scan(builder).sessions
        assert [(file.subagent_id, file.meta_path) for file in session.subagents] == [("a1", None)]


class TestNames:
    @pytest.mark.parametrize("name", ["A23CD372-FDC2-4C20-AFCE-D519F54F0FF8", "notes", "copy of a session", "süß"])
    def test_what_the_client_does_not_find_is_found_and_marked(self, builder: HomeBuilder, name: str) -> None:
        builder.file(f"projects/{FOLDER}/{name}.jsonl", b"{}\n")
        (session,) = scan(builder).sessions
        assert session.session_id == name
        assert not session.client_lists

    @pytest.mark.parametrize(
        ("name", "fits"),
        [
            ("a23cd372-fdc2-4c20-afce-d519f54f0ff8", True),
            ("A23CD372-FDC2-4C20-AFCE-D519F54F0FF8", False),
            ("a23cd372-fdc2-4c20-afce-d519f54f0ff8\n", False),
            ("a23cd372fdc24c20afced519f54f0ff8", False),
            ("", False),
        ],
    )
    def test_session_ids_are_uuids_in_small_letters(self, name: str, fits: bool) -> None:
        assert is_session_id(name) is fits

    def test_other_files_of_a_project_folder_are_no_sessions(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD, version="2.0.77")
        t.user("hello")
        builder.sessions_index(CWD, [builder.index_entry(t)])
        builder.memory(CWD, "x")
        assert [session.session_id for session in scan(builder).sessions] == [t.session_id]

    def test_the_same_id_in_two_projects_is_two_sessions(self, builder: HomeBuilder) -> None:
        for cwd in ("/w/app", "/w/other"):
            builder.session(cwd, session_id=uuid_from("same")).user("hello")
        assert [session.folder for session in scan(builder).sessions] == ["-w-app", "-w-other"]


class TestInTheWay:
    def test_no_projects_folder(self, tmp_path: Path) -> None:
        assert scan_home(Home(tmp_path)) == Scan()

    def test_a_file_in_its_place(self, builder: HomeBuilder) -> None:
        builder.file("projects", b"x")
        assert scan(builder).sessions == []

    def test_a_file_where_project_folders_stand(self, builder: HomeBuilder) -> None:
        builder.file("projects/.DS_Store", b"x")
        builder.session(CWD).user("hello")
        found = scan(builder)
        assert len(found.sessions) == 1
        assert [(item.path.name, item.why) for item in found.skipped] == [
            (".DS_Store", "a file where project folders stand")
        ]

    def test_a_file_where_subagents_stand(self, builder: HomeBuilder) -> None:
        t = builder.session(CWD)
        t.user("hello")
        builder.file(f"projects/{FOLDER}/{t.session_id}/subagents", b"x")
        assert scan(builder).sessions[0].subagents == []

    def test_a_folder_where_a_session_stands(self, builder: HomeBuilder) -> None:
        builder.folder(f"projects/{FOLDER}/{uuid_from('folder')}.jsonl")
        assert scan(builder).sessions == []

    def test_a_pipe(self, builder: HomeBuilder) -> None:
        builder.session(CWD).user("hello")
        root = builder.write()
        os.mkfifo(root / "projects" / FOLDER / "pipe.jsonl")
        found = scan_home(Home(root))
        assert len(found.sessions) == 1
        assert [(item.path.name, item.why) for item in found.skipped] == [("pipe.jsonl", "not a regular file")]

    def test_a_folder_that_may_not_be_read(self, builder: HomeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
        builder.session(CWD).user("hello")
        builder.session("/w/closed").user("hello")
        root = builder.write()
        really_scan = os.scandir

        def deny(path: Path) -> object:
            if Path(path).name == "-w-closed":
                raise PermissionError(13, "Permission denied")
            return really_scan(path)

        monkeypatch.setattr(os, "scandir", deny)
        found = scan_home(Home(root))
        assert [session.folder for session in found.sessions] == [FOLDER]
        assert [(item.path.name, item.why) for item in found.skipped] == [("-w-closed", "Permission denied")]


class TestLinks:
    @pytest.fixture
    def root(self, builder: HomeBuilder, tmp_path: Path) -> Path:
        builder.session(CWD).user("hello")
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / f"{uuid_from('outside')}.jsonl").write_bytes(b"{}\n")
        (outside / "agent-a1.jsonl").write_bytes(b"{}\n")
        return builder.write()

    def test_a_project_folder_that_is_a_link(self, root: Path, tmp_path: Path) -> None:
        (root / "projects" / "-linked").symlink_to(tmp_path / "outside")
        found = scan_home(Home(root))
        assert {session.session_id for session in found.sessions} > {uuid_from("outside")}
        assert len(found.beside) == 1 and found.skipped == []

    def test_a_project_folder_that_leads_to_another_place_inside(self, root: Path) -> None:
        (root / "projects" / "-moved").symlink_to(root / "projects" / FOLDER)
        found = scan_home(Home(root))
        assert {session.folder for session in found.sessions} >= {FOLDER}
        assert found.skipped == []

    def test_all_projects_behind_a_link(self, root: Path, tmp_path: Path) -> None:
        (root / "projects").rename(tmp_path / "projects")
        (root / "projects").symlink_to(tmp_path / "projects")
        found = scan_home(Home(root))
        assert len(found.sessions) == 1 and found.skipped == []

    def test_a_session_that_is_a_link(self, root: Path, tmp_path: Path) -> None:
        target = tmp_path / "outside" / f"{uuid_from('outside')}.jsonl"
        (root / "projects" / FOLDER / target.name).symlink_to(target)
        found = scan_home(Home(root))
        assert uuid_from("outside") in {session.session_id for session in found.sessions}
        assert found.skipped == []

    @pytest.mark.parametrize("place", ["", "subagents", "subagents/workflows", "subagents/agent-a1.jsonl"])
    def test_subagents_that_lead_out(self, root: Path, tmp_path: Path, place: str) -> None:
        (session,) = scan_home(Home(root)).sessions
        link = session.session_folder / place
        link.parent.mkdir(parents=True, exist_ok=True)
        target = tmp_path / "outside"
        link.symlink_to(target / "agent-a1.jsonl" if place.endswith("jsonl") else target)
        found = scan_home(Home(root))
        assert [subagent for item in found.sessions for subagent in item.subagents] == []
        assert found.orphan_subagents == []

    def test_a_run_of_a_workflow_that_leads_out(self, root: Path, tmp_path: Path) -> None:
        (session,) = scan_home(Home(root)).sessions
        runs = session.session_folder / "subagents" / "workflows"
        runs.mkdir(parents=True)
        (runs / "run").symlink_to(tmp_path / "outside")
        assert scan_home(Home(root)).sessions[0].subagents == []

    @pytest.mark.parametrize("place", ["projects/loop", f"projects/{FOLDER}/loop.jsonl", f"projects/{FOLDER}/loop"])
    def test_links_in_a_circle(self, root: Path, place: str) -> None:
        (root / place).symlink_to(root / place)
        found = scan_home(Home(root))
        assert len(found.sessions) == 1
        assert [item.path for item in found.skipped] == [root / place]

    @pytest.mark.parametrize("place", ["projects/gone", f"projects/{FOLDER}/gone.jsonl"])
    def test_links_to_nothing(self, root: Path, place: str) -> None:
        (root / place).symlink_to(root / "nothing")
        assert len(scan_home(Home(root)).sessions) == 1


def test_looking_changes_nothing(builder: HomeBuilder) -> None:
    builder.session(CWD).subagent("look").finish("done")
    root = builder.write()
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    scan_home(Home(root))
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
