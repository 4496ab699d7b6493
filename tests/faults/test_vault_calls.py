"""The Nth call that changes something fails while keeping: reported, nothing kept is lost, and the next capture ends it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.kills import fail_every_call
from tests.faults.places import quick_folder
from tests.faults.vault_scene import VaultScene

__all__ = ["quick_folder"]


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_nothing_kept_is_lost_and_no_failure_is_silent(quick_folder: Path, lasting: bool) -> None:
    scene = VaultScene(quick_folder)
    outcomes = fail_every_call(lasting, scene.reset, scene.keep, scene.judge)
    assert outcomes["reported"] > 8, outcomes
