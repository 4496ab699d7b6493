"""Faults while a vault is compacted: it is as it was or compacted, nothing that was kept is lost, and the next run ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.kills import KILLS, Child, Tell, fail_every_call, kill_at_random
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import _restore, photograph
from tests.faults.test_full_disk import _fill, small_disk
from tests.faults.test_several_processes import _fork, _wait
from tests.faults.vault_scene import GROWS, VaultScene

from recollect.errors import Refused
from recollect.vault.compact import compact
from recollect.vault.verify import verify

__all__ = ["quick_folder", "small_disk"]

Told = dict[str, list[tuple[float, int, bytes]]]


class CompactScene(VaultScene):
    """A vault with blocks that nothing needs any more."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.keep()
        for number in range(4):
            with open(self.path(GROWS), "ab") as stream:
                stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 300)
            self.keep()
        self.told = self.tell()
        self.size = self.vault.stored_bytes()
        self._memory = [(place, photograph(place)) for place in (self.home.root, self.data, self.cache)]

    def compact(self) -> None:
        assert compact(self.vault).stored_after is not None

    def tell(self) -> Told:
        """Every file at every moment that can be asked for."""
        vault = self.vault
        return {
            path: [(look.time, look.generation, b"".join(vault.chunks(file, look))) for look in file.looks]
            for (_, path), file in vault.contents.files.items()
        }

    def judge(self, acknowledged: bool) -> str:
        report = verify(self.vault)
        assert report.is_sound, report.findings
        assert self.tell() == self.told, "nothing that was kept is lost, and no moment of it"
        outcome = "new" if self.vault.contents.era else "old"
        assert outcome == "new" or not acknowledged
        self.keep()
        assert self.tell() == self.told
        assert verify(self.vault, deep=True, homes=[self.home]).findings == []
        compact(self.vault)
        assert self.tell() == self.told
        assert verify(self.vault, deep=True).findings == []
        assert self.vault.stored_bytes() < self.size
        return outcome


@pytest.mark.timeout(7200 if SOAK else 300)
def test_killed_at_a_random_moment(quick_folder: Path) -> None:
    scene = CompactScene(quick_folder)
    start = time.perf_counter()
    scene.compact()
    span = time.perf_counter() - start
    outcomes: Counter[str] = Counter()

    def judge(acknowledged: bool) -> None:
        outcome = scene.judge(acknowledged)
        outcomes["acknowledged" if acknowledged else outcome] += 1

    kill_at_random("compact", span, scene.reset, scene.compact, judge)
    assert sum(outcomes.values()) == KILLS
    assert outcomes["old"] > KILLS / 20, outcomes


def test_killed_at_every_call(quick_folder: Path) -> None:
    scene = CompactScene(quick_folder)
    at = deaths = 0
    dies = True
    outcomes: Counter[str] = Counter()
    while dies:
        at += 1
        for kind in ("die", "die half way", "die after"):
            scene.reset()
            child = Child(partial(_compact_faulty, scene, Fault(at, kind)))
            acknowledged = bool(child.end())
            dies = child.status == signal.SIGKILL
            deaths += dies
            outcomes[scene.judge(acknowledged)] += 1
    assert deaths > 30
    assert outcomes["old"]
    assert outcomes["new"]


def _compact_faulty(scene: CompactScene, fault: Fault, tell: Tell) -> None:
    with faulty_disk(fault):
        scene.compact()
    tell(b"done")
    os._exit(0)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_every_call_that_fails(quick_folder: Path, lasting: bool) -> None:
    scene = CompactScene(quick_folder)
    outcomes = fail_every_call(lasting, scene.reset, scene.compact, scene.judge)
    assert outcomes["reported"] > 8, outcomes


def test_no_room(small_disk: Path) -> None:
    scene = CompactScene(small_disk)
    filler = _fill(small_disk)
    with pytest.raises(Refused) as caught:
        scene.compact()
    assert caught.value.slug == "disk-full"
    assert scene.tell() == scene.told
    filler.unlink()
    assert scene.judge(False) == "old"


def test_a_read_only_disk(small_disk: Path) -> None:
    scene = CompactScene(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        with pytest.raises(Refused) as caught:
            scene.compact()
        assert caught.value.slug == "read-only"
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert scene.judge(False) == "old"


def test_who_looked_before_a_compaction_that_numbers_all_as_before_still_reads(quick_folder: Path) -> None:
    scene = CompactScene(quick_folder)
    scene.compact()
    vault = scene.vault
    files = list(vault.contents.files.values())
    for number in range(4):
        with open(scene.path(GROWS), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 300)
        scene.keep()
    scene.compact()
    moved = [
        file for file in files if scene.vault.contents.files[(file.home, file.path)].generations == file.generations
    ]
    assert moved, "blocks under the same numbers, in other packs"
    for file in files:
        assert len(b"".join(vault.chunks(file))) == file.last.size
    _restore(*scene._memory[0])


def test_others_keep_and_read_meanwhile(quick_folder: Path) -> None:
    scene = CompactScene(quick_folder)
    path = scene.path(GROWS)
    before = path.read_bytes()

    def compact_all() -> None:
        for _ in range(15):
            compact(scene.vault)

    def keep() -> None:
        for number in range(40):
            with open(path, "ab") as stream:
                stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 20)
            scene.keep()

    def read() -> None:
        for _ in range(60):
            for name, data in scene.whole_files():
                if name.endswith(f"{GROWS}.jsonl"):
                    assert data.startswith(before)

    def check() -> None:
        for _ in range(20):
            assert verify(scene.vault, deep=True).is_sound

    _wait([_fork(compact_all), _fork(keep), _fork(read), _fork(check)])
    assert scene.kept()[path.relative_to(scene.home.root).as_posix()] == path.read_bytes()
    assert verify(scene.vault, deep=True, homes=[scene.home]).findings == []
    _restore(*scene._memory[0])
