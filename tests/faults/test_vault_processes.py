"""Several processes keep at once, others read meanwhile, and the client goes on writing: nothing is lost or torn."""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

from tests.faults.places import quick_folder
from tests.faults.test_several_processes import _fork, _wait
from tests.faults.vault_scene import GROWS, VaultScene

from recollect.vault.verify import verify

__all__ = ["quick_folder"]


def test_all_keep_all_read_and_a_client_writes(quick_folder: Path) -> None:
    scene = VaultScene(quick_folder)
    path = scene.path(GROWS)
    before = path.read_bytes()
    lines = [b'{"type":"tag","tag":"%d"}\n' % number for number in range(400)]

    def write() -> None:
        chance = random.Random(1)
        with open(path, "ab", buffering=0) as stream:
            for line in lines:
                cut = chance.randrange(len(line))
                stream.write(line[:cut])
                stream.write(line[cut:])

    def keep(_: int) -> None:
        for _ in range(25):
            scene.keep()

    def read() -> None:
        for _ in range(60):
            for name, data in scene.whole_files():
                if name.endswith(f"{GROWS}.jsonl") and len(data) > len(before):
                    assert (before + b"".join(lines)).startswith(data)

    _wait([_fork(write), *(_fork(partial(keep, number)) for number in range(3)), _fork(read)])
    scene.keep()
    assert scene.kept()[path.relative_to(scene.home.root).as_posix()] == before + b"".join(lines)
    assert verify(scene.vault, deep=True, homes=[scene.home]).findings == []
    file = next(file for file in scene.vault.contents.files.values() if file.path.endswith(f"{GROWS}.jsonl"))
    assert set(file.generations) == {1}, "a file that only grew has one generation, however it was caught"


def test_a_process_that_died_holds_nobody_up(quick_folder: Path) -> None:
    scene = VaultScene(quick_folder)
    ready, go = os.pipe()

    def hold() -> None:
        with scene.vault.locked():
            os.write(go, b"x")
            os.kill(os.getpid(), 9)

    pid = _fork(hold)
    os.read(ready, 1)
    os.waitpid(pid, 0)
    scene.keep()
    assert scene.kept() == {**scene.old, **scene.new}
