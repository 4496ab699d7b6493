"""Masking that is killed, or fails, at any call that writes: every file is old or masked, and the next run ends it."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.kills import Child
from tests.faults.places import SOAK
from tests.secrets.masking_scene import MAIN, MaskScene, tree

from recollect.errors import RecollectError

POINTS = 400 if SOAK else 36
HOME = "claude/"


class Saved:
    """A scene with everything in it that can be put back, and what it looks like masked."""

    def __init__(self, folder: Path) -> None:
        self.scene = MaskScene(folder / "scene")
        self.scene.fill()
        self.copy = folder / "saved"
        shutil.copytree(self.scene.folder, self.copy, symlinks=True)
        self.before = tree(self.scene.home.root)
        with faulty_disk(Fault(0, "die")) as counted:
            self.scene.mask(settings=True)
        self.calls = counted.calls
        self.after = tree(self.scene.home.root)

    def put_back(self) -> None:
        shutil.rmtree(self.scene.folder)
        shutil.copytree(self.copy, self.scene.folder, symlinks=True)

    def judge(self, where: str) -> None:
        """Look at what a crash left, end it with another run, and look again."""
        now = tree(self.scene.home.root)
        for name, seen in now.items():
            assert seen in (self.before.get(name), self.after.get(name)) or ".recollect-tmp" in name, f"{where}: {name}"
        assert now.keys() >= self.before.keys(), where
        plan = self.scene.mask(settings=True)
        assert self.scene.leaks() == [], f"{where}: {plan.result['left']}"
        assert plan.result["masked"], where
        assert tree(self.scene.home.root) == self.after, where
        with self.scene.library() as library:
            assert library.vault.verify().findings == [], where
            assert not library.changes.journal.is_interrupted(self.scene.home), where
            assert library.session(MAIN).messages(), where
        assert not os.listdir(self.scene.folder / "data" / "staging"), where
        assert not (self.scene.folder / "data" / "masking.json").exists(), where


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return Saved(tmp_path_factory.mktemp("mask"))


def points(calls: int) -> list[int]:
    return sorted({1 + number * (calls - 1) // (POINTS - 1) for number in range(POINTS)})


@pytest.mark.timeout(600)
def test_killed_at_any_call(saved: Saved) -> None:
    kinds = ("die", "die half way", "die after")
    for number, at in enumerate(points(saved.calls)):
        saved.put_back()
        kind = kinds[number % len(kinds)]

        def work(_: object, at: int = at, kind: str = kind) -> None:
            with faulty_disk(Fault(at, kind)):
                saved.scene.mask(settings=True)

        child = Child(work)
        child.hear()
        child.end()
        assert os.WIFSIGNALED(child.status), f"call {at} was never made"
        saved.judge(f"call {at} of {saved.calls}, {kind}")


@pytest.mark.timeout(600)
def test_failing_at_any_call(saved: Saved) -> None:
    kinds = ("ENOSPC", "EIO", "EACCES")
    for number, at in enumerate(points(saved.calls)[::3]):
        saved.put_back()
        kind = kinds[number % len(kinds)]
        with faulty_disk(Fault(at, kind)) as fault, contextlib.suppress(RecollectError, OSError):
            saved.scene.mask(settings=True)
        assert fault.hit
        saved.judge(f"call {at} of {saved.calls}, {kind}: {fault.hit}")


@pytest.mark.parametrize("step", ["forget_stamps", "forget_free_pages"])
def test_killed_before_the_index_is_purged(saved: Saved, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.index.catalogue import purge

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    saved.put_back()
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(purge, step, die)
        saved.scene.mask(settings=True)
    assert (saved.scene.folder / "data" / "masking.json").exists()
    with saved.scene.library() as library:
        library.index()  # as the next command does
    saved.judge(step)
