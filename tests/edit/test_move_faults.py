"""A move or a deletion that fails, or is cut off, at any of its steps: everything is as before."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.edit.moving_scene import NEW, OLD, Scene, everything, tree

from recollect.edit.delete import plan_delete_project
from recollect.edit.move import plan_move
from recollect.errors import RecollectError
from recollect.journal import disk
from recollect.journal.changes import Change, Journal
from recollect.store.home import Home

STEPS = ("move", "put_in_place", "append_bytes", "make_folder", "remove_folder")
"""The calls by which the steps of these changes act on the home."""


class Crash(BaseException):
    """The process ends here."""


def plan_merge(scene: Scene) -> Change:
    """Into a folder that is there: file by file."""
    return plan_move(scene.journal, scene.home, OLD, NEW, merge=True)[0]


def plan_deletion(scene: Scene) -> Change:
    return plan_delete_project(scene.journal, scene.home, OLD)[0]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("built")
    scene = everything(folder / "claude", folder / "data")
    there = scene.folder(NEW) / "memory" / "MEMORY.md"
    there.parent.mkdir(parents=True)
    there.write_text("# there already\n")
    return scene


def fail_at(monkeypatch: pytest.MonkeyPatch, number: int, problem: BaseException) -> list[int]:
    """Let the call of that number fail; the list counts them."""
    calls = [0]

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            calls[0] += 1
            if calls[0] == number:
                raise problem
            return real(*arguments, **options)

        return call

    for name in STEPS:
        monkeypatch.setattr(disk, name, failing(getattr(disk, name)))
    return calls


@pytest.mark.parametrize("plan", [plan_merge, plan_deletion])
@pytest.mark.parametrize("crash", [False, True], ids=["error", "crash"])
def test_every_step_may_fail(
    built: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: Callable[[Scene], Change], crash: bool
) -> None:
    number = 0
    while True:
        number += 1
        root = tmp_path / f"{number}"
        shutil.copytree(built.home.root, root / "claude", symlinks=True)
        scene = replace(built, home=Home(root / "claude"), journal=Journal(root / "data"))
        before = tree(scene.home.root)
        change = plan(scene)
        with monkeypatch.context() as patch:
            problem = Crash() if crash else OSError(errno.EIO, "a bad disk")
            if crash:
                patch.setattr(Journal, "roll_back", lambda *_: (_ for _ in ()).throw(Crash()))
            calls = fail_at(patch, number, problem)
            try:
                with change:
                    change.commit()
            except (Crash, RecollectError):
                pass
            else:
                assert calls[0] < number, "it failed and said nothing"
                break
        if crash:
            again = Journal(root / "data")
            with again.locked(scene.home):
                again.recover(scene.home)
        assert tree(scene.home.root) == before, f"after call {number}"
        shutil.rmtree(root)
    assert number > 10
