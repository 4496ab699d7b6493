"""A clock that goes backwards, or was years ahead: changes are undone in their order, the index sees what is new, locks end."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from tests.cli.asking import Ask
from tests.faults.places import SOAK
from tests.running import run, tree_state
from tests.vault.scene import OTHER, SESSION, Scene

from recollect.errors import StoreBusy

YEAR = 365 * 86_400.0
JUMPS = [[0, -YEAR, -2 * YEAR], [5 * YEAR, 0, -5], [-3600, 3600, -10 * YEAR]]
if SOAK:
    JUMPS += [[random.Random(f"{seed} {turn}").uniform(-20, 20) * YEAR for turn in range(3)] for seed in range(200)]


@pytest.fixture
def scene(tmp_path: Path, own_home: Path) -> Scene:
    scene = Scene(tmp_path)
    for path in scene.home.root.rglob("*"):
        if path.is_file():
            os.utime(path, (1_700_000_000, 1_700_000_000))
    return scene


class Clock:
    """What the time is, as Recollect is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def ask(scene: Scene, capsys: pytest.CaptureFixture[str]) -> Ask:
    return Ask(scene, capsys)


def files(scene: Scene) -> dict[str, tuple[str, int]]:
    return {name: (told[0], told[2]) for name, told in tree_state(scene.home.root).items() if told[0]}


@pytest.mark.parametrize("jumps", JUMPS)
def test_changes_are_undone_in_the_order_in_which_they_were_made(
    scene: Scene, ask: Ask, clock: Clock, jumps: list[float]
) -> None:
    stories = []
    for number, jump in enumerate(jumps):
        clock.ahead = jump
        stories.append(files(scene))
        ask(*(("rename", SESSION, f"Title {number}"), ("tag", SESSION, "x"), ("delete", SESSION, "--yes"))[number])
    assert [row["number"] for row in ask("changes", "--json").data["rows"]] == [3, 2, 1]
    for jump, before in zip(jumps, reversed(stories), strict=True):
        clock.ahead = -jump
        ask("undo")
        assert files(scene) == before
    assert ask("changes", "--json").data["total"] == 3


def test_the_index_sees_what_was_written_by_a_clock_that_is_behind(scene: Scene, ask: Ask, clock: Clock) -> None:
    clock.ahead = 10 * YEAR
    assert ask("search", "bread", "--json").data["total"] > 0
    for turn, jump in enumerate((0.0, -YEAR, -20 * YEAR)):
        clock.ahead = jump
        path = scene.path((SESSION, OTHER)[turn % 2])
        row = path.read_bytes().splitlines()[0].replace(b"What is in the notes?", b"marmalade%d" % turn)
        row = row.replace(b"Hello", b"marmalade%d" % turn)
        with open(path, "ab") as stream:
            stream.write(row + b"\n")
        moment = 1_700_000_000 - 1000 * (turn + 1)  # older than it was
        os.utime(path, (moment, moment))
        assert ask("search", f"marmalade{turn}", "--json").data["total"] == 1
    path.unlink()
    ask("search", "marmalade2", code=1)


def test_a_lock_is_waited_for_by_a_clock_that_nobody_can_set(scene: Scene, ask: Ask, clock: Clock) -> None:
    """It is given up after its seconds, also where the time of day goes backwards all the while."""
    journal = scene.journal
    journal.lock_seconds = 0.3
    scene.data.mkdir(exist_ok=True)
    clock.ahead = -YEAR
    with (
        scene.journal.locked(scene.home),
        pytest.raises(StoreBusy, match="another Recollect process"),
        journal.locked(scene.home),
    ):
        pass


def test_figures_of_a_clock_that_is_behind_are_none_that_are_negative(scene: Scene, ask: Ask, clock: Clock) -> None:
    ask("keep")
    clock.ahead = -20 * YEAR
    for words in (["keep", "--status"], ["overview"], ["list"], ["changes"]):
        told = run(ask.capsys, scene.home.root, *words)
        assert told.code in (0, 1), told
        assert " -" not in told.out.replace(" -work", "").replace(" --", ""), told.out
