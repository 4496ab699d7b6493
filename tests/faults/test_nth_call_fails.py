"""The Nth call that changes something fails, for every N, of every operation: old or new, reported, and the next run works.

Every call that fails once meets every kind of error. Where the trouble lasts, or the journal is on another disk,
the kinds take turns from call to call, so that every operation meets each of them; RECOLLECT_SOAK=1
tries all of them everywhere.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.operations import ON_TWO_DISKS, OPERATIONS
from tests.faults.oracle import Reference, append_works, done_changes, next_run, reference
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import Scene

from recollect.errors import RecollectError

KINDS = ("ENOSPC", "EIO", "EACCES", "EROFS", "EINTR", "EDQUOT", "short")
__all__ = ["quick_folder"]


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_old_or_new_and_never_silent(quick_folder: Path, name: str, lasting: bool) -> None:
    _try_every_call(Scene(quick_folder), name, lasting)


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("name", ON_TWO_DISKS)
def test_with_the_journal_on_another_disk(quick_folder: Path, name: str, lasting: bool) -> None:
    scene = Scene(quick_folder)
    _try_every_call(scene, name, lasting, apart=(scene.root, scene.data))


def _try_every_call(scene: Scene, name: str, lasting: bool, apart: tuple[Path, Path] | None = None) -> None:
    known = reference(scene, OPERATIONS[name])
    at, struck = 0, True
    met: set[str] = set()
    while struck:
        at += 1
        struck = False
        in_turn = (KINDS[(at + 3 * lasting) % len(KINDS)],)
        for kind in KINDS if SOAK or not (lasting or apart) else in_turn:
            fault = Fault(at, kind, lasting, apart)
            if _try(scene, known, fault):
                struck = True
                met.add(kind)
            if fault.hit[:1] != ["write"] and kind == KINDS[-2]:
                break  # a short write of what is no write is a full disk, which was tried
    assert met == set(KINDS)


def _try(scene: Scene, known: Reference, fault: Fault) -> bool:
    """Whether there were as many calls."""
    scene.reset()
    problem: RecollectError | None = None
    with faulty_disk(fault):
        try:
            known.operation.perform(scene)
        except RecollectError as caught:
            problem = caught
    if not fault.hit:
        assert problem is None
        return False
    story = f"{known.operation.name}, call {fault.at} ({fault.hit[0]}): {fault.kind}: {problem}"
    now = scene.photograph()
    known.touches_only_its_own(now)
    if problem is None:
        assert fault.hit[0] != "fsync", f"success after a failed sync: {story}"
    elif not fault.lasting and not known.operation.ends_later:
        assert known.outcome(now) != "torn", story
    outcome = known.outcome(next_run(scene))
    assert outcome == "new" or problem is not None, f"success, and nothing happened: {story}"
    if outcome == "old" and not known.operation.grows:  # of a writer that wrote nothing, an empty change may stay
        assert done_changes(scene) == known.done_before, story
    if outcome == "new":
        assert done_changes(scene) == known.done_after, story
    if SOAK or fault.at % 4 == 0:
        append_works(scene)
    return True


def test_every_fault_is_tried_somewhere(quick_folder: Path) -> None:
    """The injection itself works: a call that fails is seen, and without one nothing is."""
    scene = Scene(quick_folder)
    with faulty_disk(Fault(1, "EIO")) as fault, pytest.raises(RecollectError):
        OPERATIONS["rename"].perform(scene)
    assert fault.hit
    with faulty_disk(Fault(10_000, "EIO")) as fault:
        OPERATIONS["rename"].perform(scene)
    assert not fault.hit
    assert fault.calls > 20
    assert "flock" in fault.seen, "taking a lock is among them"
