"""The vault through the library: keep, status, verify, compact, restore, prune and bundle, as verbs and plans."""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.running import tree_state
from tests.vault.scene import CWD, SESSION, Scene

from recollect.errors import NotFound, Refused
from recollect.library.library import Library, open_library


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def library(scene: Scene) -> Library:
    return library_of(scene)


def library_of(scene: Scene) -> Library:
    return Library([scene.home], own_folder=lambda kind: scene.folder / kind)


def test_keep_and_status(scene: Scene, library: Library) -> None:
    before = tree_state(scene.home.root)
    status = library.vault.status()
    assert (status.files, status.last_kept, status.homes[0].kept) == (0, None, 0)
    told: list[tuple[int, int]] = []
    (report,) = library.keep(progress=lambda done, todo: told.append((done, todo)))
    count = len(scene.files())
    assert (report.new, told[-1]) == (count, (count, count))
    status = library.vault.status()
    assert (status.files, status.homes[0].kept, status.homes[0].behind) == (count, 3, [])
    assert status.as_dict()["ratio"] == round(status.bytes / status.stored, 2)
    assert library.keep()[0].changed == 0
    assert tree_state(scene.home.root) == before


def test_verify_finds_a_flipped_bit(scene: Scene, library: Library) -> None:
    with pytest.raises(NotFound, match="nothing was kept yet"):
        library.vault.verify()
    library.keep()
    report = library.vault.verify(deep=True)
    assert (report.is_sound, report.compared) == (True, len(scene.files()))
    assert library.vault.problem() is None
    pack = next((scene.data / "vault" / "packs").iterdir())
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    assert not library.vault.verify().is_sound
    assert "has lost part of" in str(library.vault.problem())


def test_verify_works_where_the_home_is_gone(scene: Scene, library: Library) -> None:
    library.keep()
    shutil.rmtree(scene.home.root)
    report = library_of(scene).vault.verify(deep=True)
    assert (report.is_sound, report.compared) == (True, 0)


def test_a_plan_to_compact_changes_nothing_before_it_is_committed(scene: Scene, library: Library) -> None:
    for number in range(12):
        with open(scene.path(), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 500)
        library.keep()
    before, kept = tree_state(scene.data / "vault"), scene.all_kept()
    plan = library.vault.compact()
    assert plan.steps
    assert plan.result["stored_after"] is None
    assert tree_state(scene.data / "vault") == before
    done = plan.commit()
    assert done.result["stored_after"] < done.result["stored"]
    assert scene.all_kept() == kept
    assert library.vault.compact().steps == []


def test_what_is_lost_is_given_up(scene: Scene, library: Library) -> None:
    library.keep()
    kept = scene.path().relative_to(scene.home.root).as_posix()
    assert library.vault.forget_lost().steps == []
    scene.path().unlink()
    for pack in (scene.data / "vault" / "packs").iterdir():
        pack.write_bytes(pack.read_bytes()[:200])
    plan = library.vault.forget_lost()
    assert kept in plan.result["files"]
    assert plan.destructive
    plan.commit()
    library.keep()
    assert library.vault.forget_lost().steps == []


def test_a_session_comes_back_and_the_change_is_undone(scene: Scene, library: Library) -> None:
    library.keep()
    data, path = scene.path().read_bytes(), scene.path()
    path.unlink()
    library.refresh()
    plan = library.restore(SESSION[:8])
    assert plan.steps
    assert not path.exists()
    done = plan.commit()
    assert path.read_bytes() == data
    library.undo(done.number).commit()
    assert not path.exists()


@pytest.mark.parametrize("named", [True, False])
def test_a_home_that_is_gone_comes_back(
    scene: Scene, own_home: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    if not named:
        shutil.copytree(scene.home.root, own_home / ".claude")
    root = scene.home.root if named else own_home / ".claude"
    homes = [root] if named else []
    open_library(homes).keep()
    before = {path: state[0] for path, state in tree_state(root).items() if "projects" in path}
    shutil.rmtree(root)
    with pytest.raises(NotFound):
        open_library(homes)
    open_library(homes, lost=True).restore(everything=True).commit()
    assert {path: state[0] for path, state in tree_state(root).items() if "projects" in path} == before


def test_restore_into_another_home_as_it_was_then(scene: Scene, library: Library, tmp_path: Path) -> None:
    library.keep()
    first, moment = scene.path().read_bytes(), datetime.now().astimezone()
    with open(scene.path(), "ab") as stream:
        stream.write(b'{"type":"tag","tag":"later"}\n')
    library.keep()
    plan = library.restore(project=CWD, at=moment, to=tmp_path / "then", renew=True)
    plan.commit()
    restored = tmp_path / "then" / scene.path().relative_to(scene.home.root)
    assert restored.read_bytes() == first
    assert restored.stat().st_mtime > moment.timestamp() - 5


def test_prune_takes_only_what_is_kept_and_undo_brings_it_back(scene: Scene, library: Library) -> None:
    old = datetime.now().astimezone() - timedelta(days=100)
    for path in scene.home.projects.glob("*/*.jsonl"):
        os.utime(path, (old.timestamp(),) * 2)
    library.keep()
    data, path = scene.path().read_bytes(), scene.path()
    scene.path().write_bytes(data + b"{}\n")
    os.utime(path, (old.timestamp(),) * 2)
    rules = {"before": old + timedelta(days=1)}
    library.refresh()
    assert SESSION in {item["session_id"] for item in library.prune(**rules).result["left"]}  # type: ignore[arg-type]
    path.write_bytes(data)
    os.utime(path, (old.timestamp(),) * 2)
    library.refresh()
    plan = library.prune(**rules)  # type: ignore[arg-type]
    assert SESSION in {item["session_id"] for item in plan.result["sessions"]}
    done = plan.commit()
    assert not path.exists()
    library.undo(done.number).commit()
    assert path.read_bytes() == data


def test_a_bundle(scene: Scene, library: Library, tmp_path: Path) -> None:
    told = library.bundle([SESSION, library.session(SESSION)], tmp_path / "talk.recollect")
    assert (told["sessions"], told["bytes"]) == ([SESSION], (tmp_path / "talk.recollect").stat().st_size)
    with pytest.raises(Refused):
        library.bundle([SESSION], tmp_path / "talk.recollect")
