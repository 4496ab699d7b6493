"""Restoring: byte-identical, with times, never over something newer, also of another day, and around damage."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from tests.vault.scene import CWD, ELSEWHERE, OTHER, SESSION, Scene

from recollect.edit.restore_files import RestoreResult
from recollect.errors import NotFound, Refused
from recollect.library.library import Library
from recollect.library.restoring import RestoreRequest, plan_restoring
from recollect.store.home import Home


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    scene.keep()
    return scene


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


def library_of(home: Home, scene: Scene) -> Library:
    return Library([home], own_folder=lambda kind: {"data": scene.data, "cache": scene.cache}[kind])


def restore(scene: Scene, *sessions: str, **options: object) -> RestoreResult:
    wanted = RestoreRequest(sessions=sessions, **options)  # type: ignore[arg-type]
    change, result = plan_restoring(library_of(scene.home, scene), scene.journal, wanted)
    with change:
        if change.steps:
            change.commit()
    return result


def test_a_deleted_session_comes_back_as_it_was(scene: Scene) -> None:
    before = tree(scene.home.root)
    shutil.rmtree(scene.path().with_suffix(""))
    scene.path().unlink()
    for folder in ("tasks", "file-history"):
        shutil.rmtree(scene.home.root / folder)
    result = restore(scene, SESSION[:8])
    assert tree(scene.home.root) == before
    assert result.sessions == [SESSION]
    scene.journal.undo(scene.journal.record(), scene.home)
    assert not any(SESSION in name for name in tree(scene.home.root))


def test_everything_into_an_empty_folder(scene: Scene, tmp_path: Path) -> None:
    kept = {name: item for name, item in tree(scene.home.root).items() if name in scene.files()}
    shutil.rmtree(scene.home.root)
    restore(scene, everything=True, to=tmp_path / "new" / "claude")
    assert tree(tmp_path / "new" / "claude") == kept


def test_a_project(scene: Scene, tmp_path: Path) -> None:
    restore(scene, project="notes", to=tmp_path / "there")
    names = {Path(name).stem for name in tree(tmp_path / "there") if name.startswith("projects/-work-notes/")}
    assert {SESSION, OTHER} <= names
    assert ELSEWHERE not in names
    assert restore(scene, project=CWD, to=tmp_path / "there").same > 0
    with pytest.raises(NotFound):
        restore(scene, project="nowhere", to=tmp_path / "there")


def test_what_is_newer_stays(scene: Scene) -> None:
    path = scene.path()
    path.write_bytes(b"something newer\n")
    result = restore(scene, SESSION)
    assert path.read_bytes() == b"something newer\n"
    assert [item["why"] for item in result.left] == ["a newer one stands there"]


def test_what_has_grown_stays_even_with_its_old_time(scene: Scene) -> None:
    """A title that Recollect appends keeps the file's time."""
    path = scene.path()
    time_before = path.stat().st_mtime_ns
    with open(path, "ab") as stream:
        stream.write(b'{"type":"custom-title"}\n')
    os.utime(path, ns=(time_before, time_before))
    grown = path.read_bytes()
    result = restore(scene, SESSION)
    assert path.read_bytes() == grown
    assert [item["why"] for item in result.left] == ["has grown since"]


def test_what_is_older_is_replaced_and_can_be_undone(scene: Scene) -> None:
    path = scene.path()
    kept = path.read_bytes()
    path.write_bytes(b"an old copy\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert restore(scene, SESSION).files == [path.relative_to(scene.home.root).as_posix()]
    assert path.read_bytes() == kept
    scene.journal.undo(scene.journal.record(), scene.home)
    assert path.read_bytes() == b"an old copy\n"


def test_as_it_was_then(scene: Scene, tmp_path: Path) -> None:
    path = scene.path()
    states = []
    for text in (b"first\n", b"first\nsecond\n", b"rewritten\n"):
        path.write_bytes(text)
        scene.keep()
        states.append((time.time(), text))
        time.sleep(0.02)
    for number, (moment, text) in enumerate(states):
        root = tmp_path / f"then-{number}"
        restore(scene, SESSION, at=moment, to=root)
        assert (root / path.relative_to(scene.home.root)).read_bytes() == text
    with pytest.raises(NotFound):
        restore(scene, SESSION, at=1_000_000_000.0, to=tmp_path / "never")


def test_a_new_time_on_request(scene: Scene, tmp_path: Path) -> None:
    moment = 1_800_000_000 * 10**9
    restore(scene, SESSION, to=tmp_path / "there", mtime_ns=moment)
    assert {item[1] for item in tree(tmp_path / "there").values()} == {moment}


def test_old_sessions_are_told_to_be_in_danger_again(scene: Scene, tmp_path: Path) -> None:
    assert "deletes them again" in restore(scene, SESSION, to=tmp_path / "there").notes[0]


def test_around_a_damaged_block(scene: Scene, tmp_path: Path) -> None:
    big = scene.path()
    lines = [b'{"line":%d,"x":"%s"}\n' % (number, os.urandom(40_000).hex().encode()) for number in range(60)]
    big.write_bytes(b"".join(lines))
    scene.keep()
    vault = scene.vault
    file = next(file for file in vault.contents.files.values() if scene.home.root / file.path == big)
    piece = file.generations[file.last.generation].pieces[1]
    place = vault.contents.blocks[piece.block]
    with open(vault.pack_path(place.pack), "r+b") as stream:
        stream.seek(place.offset + 100)
        stream.write(b"XXXX")
    result = restore(scene, everything=True, to=tmp_path / "there")
    assert [item["path"] for item in result.damaged] == [file.path]
    assert f"block {piece.block}" in result.damaged[0]["why"]
    assert set(tree(tmp_path / "there")) == set(scene.files()) - {file.path}
    restore(scene, SESSION, to=tmp_path / "partly", partly=True)
    found = (tmp_path / "partly" / file.path).read_bytes().splitlines(keepends=True)
    assert 20 < len(found) < 60
    assert all(line in lines for line in found), "only whole lines come back"


def test_two_homes_with_the_same_session(scene: Scene, tmp_path: Path) -> None:
    from recollect.vault.capture import capture

    second = Scene(tmp_path / "second")
    second.path().write_bytes(b"another story\n")
    capture(scene.vault, second.home)
    wanted = RestoreRequest(sessions=(SESSION,), homes=(str(scene.home.root), str(second.home.root)), to=tmp_path / "x")
    with pytest.raises(Refused) as caught:
        plan_restoring(library_of(scene.home, scene), scene.journal, wanted)
    assert caught.value.slug == "several-homes"
    wanted = RestoreRequest(sessions=(SESSION,), to=tmp_path / "x")
    change, _ = plan_restoring(library_of(second.home, scene), scene.journal, wanted)
    with change:
        change.commit()
    assert (tmp_path / "x" / second.path().relative_to(second.home.root)).read_bytes() == b"another story\n"


def test_a_file_where_a_folder_must_be(scene: Scene) -> None:
    folder = scene.path().with_suffix("")
    shutil.rmtree(folder)
    folder.write_bytes(b"in the way")
    scene.path().unlink()
    result = restore(scene, SESSION)
    assert scene.path().exists()
    assert {item["why"] for item in result.left} == {f"{folder} is not a folder"}
