"""`kill -9` at any moment of any operation: old or new, nothing acknowledged is lost, and the next run puts all in order.

Each kill is a forked child that carries out the operation and is killed from outside at a random moment, or kills itself
at every single call that changes something. RECOLLECT_SOAK=1 kills 10,000 times per operation.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.kills import KILLS, Child, Tell, kill_at_random, pause
from tests.faults.operations import ON_TWO_DISKS, OPERATIONS, Operation
from tests.faults.oracle import Reference, append_works, next_run, reference, whole_lines
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import SESSION, Scene, Tree, differences

from recollect.errors import StoreBusy

__all__ = ["quick_folder"]


@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "append with a writer"])
def test_killed_at_a_random_moment(quick_folder: Path, name: str) -> None:
    scene, operation = Scene(quick_folder), OPERATIONS[name]
    known = reference(scene, operation)
    outcomes: Counter[str] = Counter()

    def judge(acknowledged: bool) -> None:
        outcomes[_judge(scene, known, acknowledged)] += 1

    kills = max(int(KILLS * operation.share), 1)
    kill_at_random(name, known.seconds * 1.5, scene.reset, partial(operation.perform, scene), judge, kills)
    assert sum(outcomes.values()) == kills
    assert outcomes["killed before the end"] > kills / 10, outcomes


def _judge(scene: Scene, known: Reference, acknowledged: bool) -> str:
    known.touches_only_its_own(scene.photograph())
    if known.judged % 4 == 1:
        _append_first(scene)
    outcome = known.outcome(next_run(scene))
    assert outcome == "new" or not acknowledged, f"{known.operation.name}: acknowledged, then lost"
    if SOAK or known.judged % 4 == 0:
        append_works(scene)
    known.judged += 1
    return "acknowledged" if acknowledged else "killed before the end"


def _append_first(scene: Scene) -> None:
    """The next run may be a writer: it, too, puts everything in order first. Its line is taken away again."""
    try:
        append_works(scene)
    except StoreBusy:  # the session stood where the rolled back change had moved it
        return
    scene.journal.undo(scene.journal.record(), scene.home)


@pytest.mark.parametrize("name", OPERATIONS)
def test_killed_at_every_call(quick_folder: Path, name: str) -> None:
    _die_at_every_call(Scene(quick_folder), name)


@pytest.mark.parametrize("name", ON_TWO_DISKS)
def test_killed_at_every_call_with_the_journal_on_another_disk(quick_folder: Path, name: str) -> None:
    scene = Scene(quick_folder)
    _die_at_every_call(scene, name, apart=(scene.root, scene.data))


def _die_at_every_call(scene: Scene, name: str, apart: tuple[Path, Path] | None = None) -> None:
    operation = OPERATIONS[name]
    known = reference(scene, operation)
    kinds = ("die", "die half way", "die after")
    at = deaths = 0
    dies = True
    while dies:
        at += 1
        for kind in kinds if SOAK else (kinds[at % 3],):
            scene.reset()
            child = Child(partial(_perform_faulty, scene, operation, Fault(at, kind, apart=apart)))
            acknowledged = bool(child.end())
            dies = child.status == signal.SIGKILL
            deaths += dies
            _judge(scene, known, acknowledged)
    assert deaths > 15


def _perform_faulty(scene: Scene, operation: Operation, fault: Fault, tell: Tell) -> None:
    with faulty_disk(fault):
        operation.perform(scene)
    tell(b"done")
    os._exit(0)


@pytest.mark.timeout(7200 if SOAK else 300)
def test_killed_while_appending_lines_of_any_size(quick_folder: Path) -> None:
    """Every acknowledged line is there, whole and in order; what was in the making is isolated from the next line."""
    scene = Scene(quick_folder)
    scene.remember()
    chance = random.Random(20)
    torn = 0
    for round_ in range(KILLS):
        scene.reset()
        before = scene.photograph()
        seed = chance.random()
        child = Child(partial(_append_until_killed, scene, random.Random(seed)))
        child.hear()
        if round_ % 4:  # so that the kill comes within some line, not within the first journal entry
            child.hear()
        pause(chance.uniform(0, 0.01))
        acknowledged = [line.decode() for line in child.kill()]
        torn += _check_lines(scene, before, acknowledged)
        append_works(scene, SESSION)
    if SOAK:
        assert torn > 10, "kills tear lines; if none did, this test tests nothing"


def _append_until_killed(scene: Scene, chance: random.Random, tell: Tell) -> None:
    with scene.writer() as writer:
        while True:
            size = int(math.exp(chance.uniform(math.log(200), math.log(3_000_000))))
            tell(writer.append_message(chance.choice(["user", "assistant"]), "x" * size).encode())


def _check_lines(scene: Scene, before: Tree, acknowledged: list[str]) -> bool:
    path = scene.transcript()
    name = str(path.relative_to(scene.root))
    assert set(differences(before, scene.photograph())) <= {name}
    old = before[name].content or b""
    assert path.read_bytes().startswith(old)
    lines, rest = whole_lines(path, len(old))
    found = [line["uuid"] for line in lines]
    assert found[: len(acknowledged)] == acknowledged
    assert len(found) <= len(acknowledged) + 1
    chain = [json.loads(old.splitlines()[-1])["uuid"], *found]
    assert len(set(chain)) == len(chain)
    assert [line["parentUuid"] for line in lines[1:]] == found[:-1]
    return bool(rest)
