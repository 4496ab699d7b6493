"""Waiting for changes of the homes: told by the system where it can, looked for now and then where it cannot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles
from tests.vault.scene import Scene

from recollect.library.keeping import changes_in

Asks = Callable[[object, str], bool]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def test_the_system_is_asked_about_files_that_are_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def watch(*folders: Path, **options: Any) -> Iterator[set[object]]:
        asked.update(options, folders=folders)
        yield set()
        yield set()

    monkeypatch.setattr(watchfiles, "watch", watch)
    assert len(list(changes_in([scene.home], at_least_every=2.5))) == 2
    assert asked["folders"] == (scene.home.root,)
    assert (asked["rust_timeout"], asked["yield_on_timeout"]) == (2500, True)
    matters: Asks = asked["watch_filter"]
    root = scene.home.root
    assert matters(None, str(scene.path()))
    assert matters(None, str(root / "history.jsonl"))
    for other in (root / "settings.json", root, scene.folder / "projects" / "x.jsonl"):
        assert not matters(None, str(other))


def test_where_the_system_cannot_watch_it_looks_now_and_then(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    def refuse(*folders: Path, **options: Any) -> Iterator[set[object]]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(watchfiles, "watch", refuse)
    waiting = changes_in([scene.home], at_least_every=7.0)
    next(waiting)
    next(waiting)
    assert slept == [7.0, 7.0]


@pytest.mark.parametrize("polling", [True, False], ids=["asked to", "no home yet"])
def test_it_looks_now_and_then_where_there_is_nothing_to_watch(scene: Scene, slept: list[float], polling: bool) -> None:
    next(changes_in([scene.home] if polling else [], at_least_every=3.0, polling=polling))
    assert slept == [3.0]
