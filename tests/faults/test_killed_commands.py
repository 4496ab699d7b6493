"""`kill -9` of `recollect` itself: commands as processes of their own, as a shell starts them.

The kills that look for the one bad moment are in `test_kill.py`. Here the whole way is run: start, plan, change, goodbye.
RECOLLECT_SOAK=1 kills each command a hundred times.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.faults.operations import Operation, environment
from tests.faults.oracle import Reference, append_works, next_run, reference
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import CWD, SESSION, Scene

__all__ = ["quick_folder"]

KILLS = 100 if SOAK else 5
WORDS: Mapping[str, tuple[str, ...]] = {
    "append": ("append", SESSION, "--role", "user", "One more question. " * 20),
    "rename": ("rename", SESSION, "Groceries"),
    "archive": ("archive", SESSION, "--title", "Groceries (done)"),
    "fork": ("fork", SESSION),
    "move": ("move", CWD, "/work/moved"),
    "delete": ("delete", SESSION),
    "todo": ("todo", SESSION, "add", "Buy milk"),
    "files": ("files", SESSION, f"{CWD}/list.md", "--at", "end", "--write", "--output", "{outside}/list.md"),
    "undo": ("undo",),
}


def start(scene: Scene, words: tuple[str, ...]) -> subprocess.Popen[bytes]:
    said = [word.format(outside=scene.outside) for word in words]
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", "--home", str(scene.root), *said, "--yes"],
        env={**os.environ, **environment(scene)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def run(scene: Scene, words: tuple[str, ...]) -> None:
    process = start(scene, words)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()


def operation_of(name: str) -> Operation:
    prepare = (lambda scene: run(scene, WORDS["delete"])) if name == "undo" else None
    return Operation(name, lambda scene: run(scene, WORDS[name]), prepare, grows=name == "append")


@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("name", WORDS)
def test_old_or_new_and_the_next_run_works(quick_folder: Path, name: str) -> None:
    scene = Scene(quick_folder)
    known = reference(scene, operation_of(name))
    chance = random.Random(name)
    killed, ended, seconds = 0, 0, known.seconds
    while killed < KILLS:
        scene.reset()
        process = start(scene, WORDS[name])
        time.sleep(seconds * chance.uniform(0.4, 1.0))
        process.kill()
        _, err = process.communicate()
        assert process.returncode in (0, -9), err.decode()
        acknowledged = process.returncode == 0
        _judge(scene, known, acknowledged)
        killed += not acknowledged
        ended += acknowledged
        seconds *= 0.8 if acknowledged else 1.02  # however busy the machine is, kills shall come before the end
        assert ended < 50 + KILLS, "the command ends before it can be killed"


def _judge(scene: Scene, known: Reference, acknowledged: bool) -> None:
    known.touches_only_its_own(scene.photograph())
    outcome = known.outcome(next_run(scene))
    assert outcome == "new" or not acknowledged, f"{known.operation.name}: ended well, then lost"
    append_works(scene)
