"""`prune` and `undo` together: what was pruned comes back from the vault, and no change blocks the ones before it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.cli.asking import Ask
from tests.running import tree_state
from tests.vault.scene import OTHER, SESSION, Scene

LONG_AGO = (1_700_000_000, 1_700_000_000)


@pytest.fixture
def scene(tmp_path: Path, own_home: Path) -> Scene:
    scene = Scene(tmp_path)
    scene.data = own_home / "recollect" / "data"
    scene.cache = own_home / "recollect" / "cache" / "vault"
    (scene.path().with_suffix("") / "empty").mkdir()
    os.chmod(scene.path(), 0o640)
    for path in scene.home.root.rglob("*"):
        if path.is_file():
            os.utime(path, LONG_AGO)
    return scene


@pytest.fixture
def ask(scene: Scene, capsys: pytest.CaptureFixture[str]) -> Ask:
    return Ask(scene, capsys)


def tree(scene: Scene) -> dict[str, tuple[str, int, int]]:
    """Without the times of folders, which tell only when a name came or went."""
    found = tree_state(scene.home.root)
    return {name: (told[0], told[1], told[2] if told[0] else 0) for name, told in found.items()}


def prune(ask: Ask) -> None:
    ask("keep")
    ask("prune", "--older", "1d", "--apply", "--yes")


def test_undo_brings_back_what_was_pruned(scene: Scene, ask: Ask) -> None:
    before = tree(scene)
    prune(ask)
    assert not list(scene.home.projects.glob("*/*.jsonl"))
    assert ask.states() == [(1, "pruned")]
    assert not [path for path in (scene.data / "changes").rglob("removed-*/**/*") if path.is_file()], "the room is free"
    now = tree(scene)
    assert "would undo" in ask("undo", "--dry-run").out
    assert tree(scene) == now
    ask("undo")
    assert tree(scene) == before
    assert ask.states() == [(1, "undone")]
    assert "[not-undoable]" in ask("undo", "1", code=6).err


def test_changes_before_a_prune_can_be_undone_after_it(scene: Scene, ask: Ask) -> None:
    before = tree(scene)
    ask("rename", SESSION, "Groceries")
    prune(ask)
    refused = ask("undo", "1", code=6).err
    assert "undo change 2 first" in refused
    ask("undo")
    ask("undo")
    assert tree(scene) == before


def test_a_prune_does_not_block_changes_of_what_it_did_not_touch(scene: Scene, ask: Ask) -> None:
    ask("todo", OTHER, "add", "milk")
    with_task = tree(scene)
    ask("undo")
    ask("keep")
    plain = tree(scene)
    ask("todo", OTHER, "add", "milk")
    ask("prune", "--project", "/work/other", "--apply", "--yes")
    ask("undo", "2")
    assert ask.states() == [(1, "undone"), (2, "undone"), (3, "pruned")]
    ask("undo")
    assert tree(scene) == plain != with_task


def test_a_restore_after_a_prune_is_undone_first(scene: Scene, ask: Ask) -> None:
    before = tree(scene)
    prune(ask)
    ask("restore", SESSION)
    assert "undo change 2 first" in ask("undo", "1", code=6).err
    ask("undo")
    ask("undo")
    assert tree(scene) == before


def test_a_file_that_was_touched_since_it_was_kept_comes_back_with_its_own_time(scene: Scene, ask: Ask) -> None:
    ask("keep")
    os.utime(scene.path(), (LONG_AGO[0] + 1, LONG_AGO[1] + 1))
    before = tree(scene)
    ask("prune", "--older", "1d", "--apply", "--yes")
    ask("undo")
    assert tree(scene) == before


def test_without_the_vault_it_is_said_and_the_rest_can_be_undone(scene: Scene, ask: Ask) -> None:
    ask("todo", OTHER, "add", "milk")
    ask("keep")
    ask("prune", "--project", "/work/other", "--apply", "--yes")
    shutil.rmtree(scene.data / "vault")
    now = tree(scene)
    for words in (["undo", "--dry-run"], ["undo"], ["undo", "2"]):
        told = ask(*words, code=4).err
        assert "[vault-damaged]" in told and "the vault no longer has" in told
    assert tree(scene) == now
    assert not [path for path in (scene.data / "changes").rglob("removed-*/**/*") if path.is_file()], "no litter"
    ask("undo", "1")
    assert ask.states() == [(1, "undone"), (2, "pruned")]


def test_rename_delete_restore_and_then_the_first(scene: Scene, ask: Ask) -> None:
    """What the first change appended stands there again, but a later change wrote it: that one has to go first."""
    before = tree(scene)
    ask("rename", SESSION, "Groceries")
    ask("keep")
    ask("delete", SESSION, "--yes")
    ask("restore", SESSION)
    now = tree(scene)
    assert "undo change 3, then 2 first" in ask("undo", "1", code=6).err
    assert tree(scene) == now
    for _ in range(3):
        ask("undo")
    assert tree(scene) == before
