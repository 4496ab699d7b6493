"""Restoring and unbundling write into a home: killed or failing at any call, everything is old or new."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.kills import KILLS, Child, kill_at_random
from tests.faults.operations import Operation
from tests.faults.oracle import Reference, next_run, reference
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import SESSION, Scene
from tests.faults.test_kill import _perform_faulty
from tests.faults.test_nth_call_fails import KINDS

from recollect.edit.delete import plan_delete
from recollect.edit.restore_files import plan_restore
from recollect.errors import RecollectError
from recollect.library.bundling import Unbundling, write_bundle
from recollect.library.session import Session
from recollect.vault.capture import capture
from recollect.vault.restore import Footprints, files_to_restore
from recollect.vault.vault import Vault

__all__ = ["quick_folder"]


def _vault(scene: Scene) -> Vault:
    return Vault(scene.data / "vault")


def _keep_and_delete(scene: Scene) -> None:
    capture(_vault(scene), scene.home)
    change, _ = plan_delete(scene.journal, scene.home, [scene.session_file()])
    with change:
        change.commit()


def _restore(scene: Scene) -> None:
    vault = _vault(scene)
    footprints = Footprints(vault, 1)
    session = footprints.sessions[("-work-notes", SESSION)]
    items = files_to_restore(vault, footprints.complete(session))
    change, _ = plan_restore(scene.journal, scene.home, items, title="Restore")
    with change:
        change.commit()


def _bundle_and_delete(scene: Scene) -> None:
    write_bundle([Session(scene.session_file())], scene.data / "talk.recollect")
    change, _ = plan_delete(scene.journal, scene.home, [scene.session_file()])
    with change:
        change.commit()


def _unbundle(scene: Scene) -> None:
    with Unbundling(scene.journal, scene.data / "talk.recollect") as bundle:
        change, _ = bundle.plan(scene.home)
        with change:
            change.commit()


OPERATIONS = (
    Operation("restore", _restore, _keep_and_delete),
    Operation("unbundle", _unbundle, _bundle_and_delete),
)


def _judged(scene: Scene, known: Reference, acknowledged: bool) -> None:
    known.touches_only_its_own(scene.photograph())
    outcome = known.outcome(next_run(scene))
    assert outcome == "new" or not acknowledged, f"{known.operation.name}: acknowledged, then lost"


@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_killed_at_a_random_moment(quick_folder: Path, operation: Operation) -> None:
    scene = Scene(quick_folder)
    known = reference(scene, operation)
    cut_off = 0

    def judge(acknowledged: bool) -> None:
        nonlocal cut_off
        _judged(scene, known, acknowledged)
        cut_off += not acknowledged

    kill_at_random(operation.name, known.seconds * 1.5, scene.reset, partial(operation.perform, scene), judge)
    assert cut_off > KILLS / 10


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_killed_at_every_call(quick_folder: Path, operation: Operation) -> None:
    scene = Scene(quick_folder)
    known = reference(scene, operation)
    at, dies = 0, True
    while dies:
        at += 1
        for kind in ("die", "die half way", "die after") if SOAK else (("die", "die half way", "die after")[at % 3],):
            scene.reset()
            child = Child(partial(_perform_faulty, scene, operation, Fault(at, kind)))
            acknowledged = bool(child.end())
            dies = child.status == signal.SIGKILL
            _judged(scene, known, acknowledged)
    assert at > 20


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_call_fails(quick_folder: Path, operation: Operation, lasting: bool) -> None:
    scene = Scene(quick_folder)
    known = reference(scene, operation)
    at, struck = 0, True
    while struck:
        at += 1
        struck = False
        for kind in KINDS if SOAK else (KINDS[at % len(KINDS)],):
            scene.reset()
            fault = Fault(at, kind, lasting)
            problem: RecollectError | None = None
            with faulty_disk(fault):
                try:
                    operation.perform(scene)
                except RecollectError as caught:
                    problem = caught
            struck |= bool(fault.hit)
            if not lasting and problem is not None:
                assert known.outcome(scene.photograph()) in ("old", "new")
            _judged(scene, known, acknowledged=problem is None)
    assert at > 20


def test_the_restored_session_is_the_one_that_was_there(quick_folder: Path) -> None:
    scene = Scene(quick_folder)
    before = scene.photograph()
    _keep_and_delete(scene)
    assert scene.photograph() != before
    _restore(scene)
    assert scene.photograph() == before
