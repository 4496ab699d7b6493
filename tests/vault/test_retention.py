"""The guard: what the client will delete soon, and whether it is kept."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from tests.vault.scene import ELSEWHERE, OTHER, SESSION, Scene

from recollect.store.scan import scan_home
from recollect.vault.retention import Guard, guard

DAY = 86_400.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    now = time.time()
    for session, days in ((SESSION, 1), (OTHER, 25), (ELSEWHERE, 40)):
        os.utime(scene.path(session), (now - days * DAY,) * 2)
    return scene


def look(scene: Scene) -> Guard:
    return guard(scene.vault, scene.home, scan_home(scene.home).sessions, now=time.time())


def test_before_anything_is_kept(scene: Scene) -> None:
    found = look(scene)
    assert found.expiring == found.expiring_not_kept == [ELSEWHERE, OTHER]
    assert (found.sessions, found.kept, found.cleanup_days, len(found.behind)) == (3, 0, 30, 3)


def test_afterwards(scene: Scene) -> None:
    scene.keep()
    found = look(scene)
    assert (found.expiring, found.expiring_not_kept, found.kept, found.behind) == ([ELSEWHERE, OTHER], [], 3, [])


def test_a_session_that_went_on_is_not_kept_any_more(scene: Scene) -> None:
    scene.keep()
    before = scene.path(OTHER).stat().st_mtime_ns
    with open(scene.path(OTHER), "ab") as stream:
        stream.write(b"more\n")
    os.utime(scene.path(OTHER), ns=(before, before))
    found = look(scene)
    assert found.behind == found.expiring_not_kept == [OTHER]


def test_the_settings_say_how_long(scene: Scene) -> None:
    (scene.home.root / "settings.json").write_text(json.dumps({"cleanupPeriodDays": 3650}))
    assert look(scene).expiring == []
    (scene.home.root / "settings.json").write_text(json.dumps({"cleanupPeriodDays": 5}))
    assert look(scene).expiring == [ELSEWHERE, OTHER, SESSION]


def test_what_the_client_deleted_is_still_there(scene: Scene) -> None:
    scene.keep()
    scene.path(ELSEWHERE).unlink()
    found = look(scene)
    assert (found.sessions, found.lost) == (2, 1)
