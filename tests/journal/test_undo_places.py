"""What an undo brings back needs a folder: one of the home is made again, for others it is said before anything happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.faults.scene import SESSION, Scene

from recollect.errors import Refused
from recollect.journal import disk
from recollect.journal.changes import Record


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def remove(scene: Scene, path: Path, *, elsewhere: bool = False) -> Record:
    with scene.journal.change(scene.home, "delete", "delete") as change:
        change.remove(path, elsewhere=elsewhere)
        return change.commit()


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_comes_back_to_a_folder_that_is_gone(scene: Scene) -> None:
    path = scene.transcript()
    content, time = path.read_bytes(), path.stat().st_mtime_ns
    record = remove(scene, path)
    shutil.rmtree(scene.home.projects)
    scene.journal.check_undo(record, scene.home)
    assert scene.journal.describe_undo(record) == [
        f"make folder {scene.home.projects}", f"make folder {path.parent}", f"bring {path} back",
    ]  # fmt: skip
    assert not scene.home.projects.exists()
    scene.journal.undo(record, scene.home)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (content, time)


def test_what_was_moved_does_so_too(scene: Scene) -> None:
    source, target = scene.project / SESSION, scene.root / "elsewhere"
    before = files_below(source)
    with scene.journal.change(scene.home, "move", "move") as change:
        change.move(source, target)
        record = change.commit()
    shutil.rmtree(scene.project)
    scene.journal.undo(record, scene.home)
    assert files_below(source) == before and not target.exists()


def test_and_a_folder_that_had_become_empty(scene: Scene) -> None:
    folder = scene.root / "file-history" / "old"
    before = files_below(folder)
    with scene.journal.change(scene.home, "delete", "delete") as change:
        for path in sorted(folder.iterdir()):
            change.remove(path)
        change.remove_folder(folder)
        record = change.commit()
    folder.parent.rmdir()
    assert scene.journal.describe_undo(record)[:2] == [f"make folder {folder.parent}", f"make folder {folder}"]
    scene.journal.undo(record, scene.home)
    assert files_below(folder) == before


def test_a_folder_that_the_undo_moves_back_is_not_made_first(scene: Scene) -> None:
    before = scene.photograph()
    with scene.journal.change(scene.home, "move", "move") as change:
        change.remove(scene.transcript())
        change.move(scene.project, scene.home.projects / "-work-new")
        record = change.commit()
    assert not any(step.startswith("make folder") for step in scene.journal.describe_undo(record))
    scene.journal.undo(record, scene.home)
    assert scene.photograph() == before


def test_an_undo_that_fails_leaves_no_folder_behind(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    record = remove(scene, scene.transcript())
    shutil.rmtree(scene.home.projects)
    before = scene.photograph()

    def fails(source: Path, target: Path) -> None:
        raise OSError(5, "Input/output error", str(target))

    with monkeypatch.context() as patch:
        patch.setattr(disk, "move", fails)
        with pytest.raises(Exception, match="Input/output error"):
            scene.journal.undo(record, scene.home)
    assert scene.photograph() == before
    scene.journal.undo(record, scene.home)
    assert scene.transcript().exists()


def test_no_folder_is_made_outside_of_the_home(scene: Scene) -> None:
    record = remove(scene, scene.outside / "list.md", elsewhere=True)
    scene.outside.rmdir()
    for attempt in (scene.journal.check_undo, scene.journal.undo):
        with pytest.raises(Refused, match="is gone") as caught:
            attempt(record, scene.home)
        assert str(scene.outside) in str(caught.value.hint)
    scene.outside.mkdir()
    scene.journal.undo(record, scene.home)
    assert (scene.outside / "list.md").read_bytes() == b"milk\n"


def test_a_file_where_the_folder_was_is_in_the_way(scene: Scene) -> None:
    record = remove(scene, scene.transcript())
    shutil.rmtree(scene.project)
    scene.project.write_bytes(b"")
    before = scene.photograph()
    for attempt in (scene.journal.check_undo, scene.journal.undo):
        with pytest.raises(Refused, match="is not a folder"):
            attempt(record, scene.home)
    assert scene.photograph() == before
