"""The Nth call that changes something fails while keeping: reported, nothing kept is lost, and the next capture ends it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.places import SOAK, quick_folder
from tests.faults.test_nth_call_fails import KINDS
from tests.faults.vault_scene import VaultScene

from recollect.errors import RecollectError

__all__ = ["quick_folder"]


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_nothing_kept_is_lost_and_no_failure_is_silent(quick_folder: Path, lasting: bool) -> None:
    scene = VaultScene(quick_folder)
    outcomes: Counter[str] = Counter()
    at, struck = 0, True
    while struck:
        at += 1
        struck = False
        for kind in KINDS if SOAK else (KINDS[at % len(KINDS)], KINDS[(at + 3) % len(KINDS)]):
            scene.reset()
            fault = Fault(at, kind, lasting)
            problem: RecollectError | None = None
            with faulty_disk(fault):
                try:
                    scene.keep()
                except RecollectError as caught:
                    problem = caught
            if not fault.hit:
                assert problem is None
                continue
            struck = True
            story = f"call {at} ({fault.hit[0]}): {kind}: {problem}"
            try:
                outcomes["reported" if problem else "survived"] += 1
                scene.judge(acknowledged=problem is None)
            except AssertionError as failure:
                raise AssertionError(story) from failure
    assert outcomes["reported"] > 8, outcomes
