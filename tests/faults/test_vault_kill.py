"""`kill -9` while keeping, at a random moment and at every call that changes something: nothing that was kept is lost."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.kills import KILLS, Child, Tell, kill_at_random
from tests.faults.places import SOAK, quick_folder
from tests.faults.vault_scene import VaultScene

__all__ = ["quick_folder"]


@pytest.mark.timeout(7200 if SOAK else 300)
def test_killed_at_a_random_moment(quick_folder: Path) -> None:
    scene = VaultScene(quick_folder)
    start = time.perf_counter()
    scene.keep()
    span = time.perf_counter() - start
    outcomes: Counter[str] = Counter()

    def judge(acknowledged: bool) -> None:
        outcome = scene.judge(acknowledged)
        assert outcome == "new" or not acknowledged
        outcomes["acknowledged" if acknowledged else outcome] += 1

    kill_at_random("keep", span, scene.reset, scene.keep, judge)
    assert sum(outcomes.values()) == KILLS
    assert outcomes["old"] > KILLS / 20, outcomes


def test_killed_at_every_call(quick_folder: Path) -> None:
    scene = VaultScene(quick_folder)
    kinds = ("die", "die half way", "die after")
    at = deaths = 0
    dies = True
    outcomes: Counter[str] = Counter()
    while dies:
        at += 1
        for kind in kinds:
            scene.reset()
            child = Child(partial(_keep_faulty, scene, Fault(at, kind)))
            acknowledged = bool(child.end())
            dies = child.status == signal.SIGKILL
            deaths += dies
            outcomes[scene.judge(acknowledged)] += 1
    assert deaths > 20
    assert outcomes["old"]
    assert outcomes["new"]


def test_killed_at_every_call_of_the_first_capture(quick_folder: Path) -> None:
    """Nothing was kept yet: the vault itself is in the making."""
    scene = VaultScene(quick_folder)
    at, dies = 0, True
    while dies:
        at += 1
        for kind in ("die", "die half way", "die after"):
            scene.reset()
            _remove(scene.data)
            _remove(scene.cache)
            child = Child(partial(_keep_faulty, scene, Fault(at, kind)))
            child.end()
            dies = child.status == signal.SIGKILL
            assert set(scene.kept().items()) <= set(scene.new.items())
            scene.keep()
            assert scene.kept() == scene.new
    assert at > 10


def _remove(folder: Path) -> None:
    for place, folders, names in os.walk(folder, topdown=False):
        for name in names:
            os.unlink(os.path.join(place, name))
        for name in folders:
            os.rmdir(os.path.join(place, name))


def _keep_faulty(scene: VaultScene, fault: Fault, tell: Tell) -> None:
    with faulty_disk(fault):
        scene.keep()
    tell(b"done")
    os._exit(0)
