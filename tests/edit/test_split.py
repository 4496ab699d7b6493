"""A folder that two projects share is parted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.edit.moving_scene import persisted, tree

from recollect.check.reports import check_home
from recollect.edit.move import MoveResult
from recollect.edit.split import plan_split
from recollect.errors import NotFound, RecollectError, Refused
from recollect.journal.changes import Journal
from recollect.library.library import Library
from recollect.store.home import Home
from recollect.store.scan import scan_home
from recollect.testing import HomeBuilder, TranscriptBuilder

A, B, FOLDER = "/w/a-b", "/w-a/b", "-w-a-b"


@dataclass
class Shared:
    home: Home
    journal: Journal
    a: TranscriptBuilder
    b: TranscriptBuilder

    def split(self, **options: Any) -> MoveResult:
        change, result = plan_split(self.journal, self.home, options.pop("folder", FOLDER), **options)
        with change:
            change.commit()
        return result

    def names(self, folder: str) -> set[str]:
        return {path.name for path in (self.home.projects / folder).iterdir()}


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    builder = HomeBuilder(tmp_path / "claude")
    a = builder.session(A, modified="2026-03-01T00:00Z")
    b = builder.session(B, folder=FOLDER, modified="2026-03-02T00:00Z")
    a.user("a")
    b.user("b")
    b.call(persisted(builder.tool_output(b, "t", "long"), id="toolu_b"))
    b.subagent("go").finish("done")
    builder.memory(A, "both wrote this")
    builder.history("b", B, b.session_id)
    builder.global_config({A: builder.project_config(), B: builder.project_config()})
    return Shared(Home(builder.write()), Journal(tmp_path / "data"), a, b)


def shared_folders(home: Home) -> dict[str, list[str]]:
    """The folders of two projects, as a check finds them."""
    found = [item for item in check_home(home, scan_home(home)) if item.code == "shared-folder"]
    return {item.path.name: item.detail.split(" and ") for item in found}


def test_folders_of_two_projects_are_found(shared: Shared) -> None:
    assert shared_folders(shared.home) == {FOLDER: [B, A]}


def test_to_another_path(shared: Shared) -> None:
    before = tree(shared.home.root)
    result = shared.split(project=B, to="/w-a/b2")
    assert result.sessions == [shared.b.session_id]
    assert shared.names(FOLDER) == {f"{shared.a.session_id}.jsonl", "memory"}
    assert shared.names("-w-a-b2") == {f"{shared.b.session_id}.jsonl", shared.b.session_id, "memory"}
    assert {item.session_id: item.project for item in Library([shared.home]).sessions()} == {
        shared.a.session_id: A, shared.b.session_id: "/w-a/b2",
    }  # fmt: skip
    assert result.history_lines == 1 and result.config_projects == [(B, "/w-a/b2")]
    shared.journal.undo(shared.journal.record(), shared.home)
    assert tree(shared.home.root) == before


def test_to_the_root_of_the_file_system(shared: Shared) -> None:
    shared.split(project=A, to="/")
    found = {item.session_id: item.project for item in Library([shared.home]).sessions()}
    assert found == {shared.a.session_id: "/", shared.b.session_id: B}
    assert f"{shared.a.session_id}.jsonl" in shared.names("-")


def test_into_a_folder_of_a_name(shared: Shared) -> None:
    """The project keeps its path: nothing but the place of the files changes, and what names it."""
    before = tree(shared.home.root)
    config = (shared.home.root / ".claude.json").read_bytes()
    result = shared.split(project="b", name="my-b")
    target = shared.home.projects / "my-b"
    assert shared.names("my-b") == {f"{shared.b.session_id}.jsonl", shared.b.session_id, "memory"}
    transcript = (target / f"{shared.b.session_id}.jsonl").read_bytes()
    assert transcript == shared.b.to_bytes().replace(f"/projects/{FOLDER}/".encode(), b"/projects/my-b/")
    assert transcript.count(str(target / shared.b.session_id / "tool-results" / "t.txt").encode()) == 2
    assert (shared.home.root / ".claude.json").read_bytes() == config
    assert result.history_lines == 0 and result.config_projects == []
    shared.journal.undo(shared.journal.record(), shared.home)
    assert tree(shared.home.root) == before


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"project": "/w/c", "name": "x"}, NotFound),
        ({"project": B, "name": "x", "folder": "-none"}, NotFound),
        ({"project": B, "name": "../x"}, Refused),
        ({"project": B, "name": "a.b"}, Refused),
        ({"project": B, "name": "x" * 65}, Refused),
        ({"project": B, "name": ""}, Refused),
        ({"project": B}, Refused),
        ({"project": B, "name": "x", "to": "/y"}, Refused),
        ({"project": B, "to": "relative"}, Refused),
    ],
)
def test_bad_input(shared: Shared, options: dict[str, Any], error: type[RecollectError]) -> None:
    before = tree(shared.home.root)
    with pytest.raises(error):
        shared.split(**options)
    assert tree(shared.home.root) == before


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("to", [B, "/w/a b", "/w/a/b/"])
def test_a_path_of_the_same_folder_parts_nothing(shared: Shared, to: str, merge: bool) -> None:
    before = tree(shared.home.root)
    with pytest.raises(Refused) as refused:
        shared.split(project=A, to=to, merge=merge)
    assert refused.value.slug == "same-folder"
    assert tree(shared.home.root) == before


@pytest.mark.parametrize("known_by", ["sessions", "config"])
def test_the_path_of_another_project_needs_merge(shared: Shared, known_by: str) -> None:
    builder = HomeBuilder(shared.home.root)
    if known_by == "sessions":
        builder.session("/w/c", folder="of-a-name", modified="2026-03-01T00:00Z").user("c")
    else:
        builder.global_config({A: {}, "/w/c": {"allowedTools": ["Bash"]}})
    builder.write()
    before = tree(shared.home.root)
    with pytest.raises(Refused) as refused:
        shared.split(project=A, to="/w/c")
    assert refused.value.slug == "exists" and "--merge" in (refused.value.hint or "")
    assert tree(shared.home.root) == before
    assert shared.split(project=A, to="/w/c", merge=True).sessions == [shared.a.session_id]


def test_a_folder_of_one_project_is_not_split(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.session(A).user("a")
    home = Home(builder.write())
    with pytest.raises(Refused) as refused:
        plan_split(Journal(tmp_path / "data"), home, FOLDER, project=A, name="x")
    assert refused.value.slug == "not-shared"


@pytest.mark.parametrize("options", [{"to": "/w/c"}, {"name": "my-b"}], ids=["to", "name"])
def test_what_is_behind_a_link_is_listed_and_not_split(shared: Shared, options: dict[str, str]) -> None:
    link = shared.home.projects / FOLDER
    link.rename(shared.home.root / "store")
    link.symlink_to("../store")
    assert shared_folders(shared.home) == {FOLDER: [B, A]}
    before = tree(shared.home.root)
    with pytest.raises(Refused) as refused:
        shared.split(project=B, **options)
    assert refused.value.slug == "linked-folder"
    assert tree(shared.home.root) == before


def test_the_target_is_never_overwritten(shared: Shared) -> None:
    taken = shared.home.projects / "my-b" / f"{shared.b.session_id}.jsonl"
    taken.parent.mkdir()
    taken.write_bytes(b"{}\n")
    before = tree(shared.home.root)
    for merge in (False, True):
        with pytest.raises(Refused):
            shared.split(project=B, name="my-b", merge=merge)
        assert tree(shared.home.root) == before
