"""Signals that ask a process to end (Ctrl-C, SIGTERM, SIGHUP): old or new, nothing left behind, and the exit code says so.

Each signal becomes an exception in the program: it is raised at every call that changes something, of every operation. Then
`recollect` itself gets real ones, at moments of chance.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.operations import OPERATIONS, environment
from tests.faults.oracle import append_works, next_run, reference
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import BYSTANDER, CWD, SESSION, Scene
from tests.faults.vault_scene import VaultScene

__all__ = ["quick_folder"]

STEP = 1 if SOAK else 5
"""Every call is tried by one of the operations; with RECOLLECT_SOAK=1, every call of each."""
NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
WORDS: dict[str, tuple[str, ...]] = {
    "fork": ("fork", SESSION),
    "move": ("move", CWD, "/work/moved", "--yes"),
    "delete": ("delete", SESSION, "--yes"),
    "keep": ("keep",),
    "restore": ("restore", "--all", "--to", "{outside}/home", "--yes"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_is_interrupted(quick_folder: Path, name: str) -> None:
    scene = Scene(quick_folder)
    known = reference(scene, OPERATIONS[name])
    at = 1 + sum(name.encode()) % STEP
    tried = 0
    while True:
        scene.reset()
        fault = Fault(at, ("signal", "signal after")[at % 2])
        acknowledged = False
        with faulty_disk(fault):
            try:
                known.operation.perform(scene)
                acknowledged = True
            except (KeyboardInterrupt, click.Abort):
                pass
        if not fault.hit:
            break
        tried += 1
        known.touches_only_its_own(scene.photograph())
        outcome = known.outcome(next_run(scene))
        assert outcome == "new" or not acknowledged, f"call {at} ({fault.hit[0]}): ended well, then lost"
        if tried % 4 == 0:
            append_works(scene)
        at += STEP
    assert tried > 0


def test_a_keep_that_is_interrupted(quick_folder: Path) -> None:
    scene = VaultScene(quick_folder)
    at = 0
    while True:
        at += 1
        scene.reset()
        fault = Fault(at, ("signal", "signal after")[at % 2])
        acknowledged = False
        with faulty_disk(fault):
            try:
                scene.keep()
                acknowledged = True
            except KeyboardInterrupt:
                pass
        if not fault.hit:
            break
        scene.judge(acknowledged)
        assert {path.name for path in scene.vault.folder.iterdir()} <= {
            "format",
            "manifest",
            "packs",
            "checked",
            "machine",
        }
    assert at > 10


@pytest.mark.timeout(3600 if SOAK else 300)
@pytest.mark.parametrize("name", WORDS)
def test_real_signals(quick_folder: Path, name: str) -> None:
    scene = Scene(quick_folder)
    if name == "restore":
        assert start(scene, ("keep",)).wait(60) == 0
    scene.remember()
    before = scene.photograph()
    chance = random.Random(name)
    began = time.monotonic()
    assert start(scene, WORDS[name]).wait(60) == 0
    seconds = time.monotonic() - began
    for turn in range(60 if SOAK else 3):
        scene.reset()
        number = NUMBERS[turn % 3]
        process = start(scene, WORDS[name])
        time.sleep(seconds * chance.uniform(0.3, 1.0))
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        # Before the program's own handlers are in place, a signal ends it at once, or with Python's own words.
        assert process.returncode in (0, 128 + number, -number, 1), (number, err.decode())
        assert process.returncode != 1 or (number == signal.SIGINT and b"KeyboardInterrupt" in err)
        now = next_run(scene)
        if name == "keep":
            assert now == before
        assert start(scene, ("rename", BYSTANDER, "Later", "--force")).wait(60) == 0, "the next command works"


@pytest.fixture(autouse=True)
def hang_ups_arrive() -> Iterator[None]:
    """Undo what `nohup` does: commands started here would inherit that SIGHUP is ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nothing tells that the command waits")
def test_a_signal_in_the_middle_is_told_by_the_exit_code(quick_folder: Path) -> None:
    """The command waits for a lock that somebody else holds: surely in the middle."""
    scene = Scene(quick_folder)
    for number in NUMBERS:
        with scene.journal.locked(scene.home):
            process = start(scene, ("rename", SESSION, "Later", "--force"))
            while not waits_for_a_lock(process) and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err.strip()) == (128 + number, b"interrupted")
        assert not scene.litter(scene.photograph())


def waits_for_a_lock(process: subprocess.Popen[bytes]) -> bool:
    with contextlib.suppress(OSError):
        return any(os.readlink(link).endswith(".lock") for link in Path(f"/proc/{process.pid}/fd").iterdir())
    return False


def start(scene: Scene, words: tuple[str, ...]) -> subprocess.Popen[bytes]:
    said = [word.format(outside=scene.outside) for word in words]
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", "--home", str(scene.root), *said],
        env={**os.environ, **environment(scene)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
