"""Repairs and migrations while others write. What kills and failing calls do to them: see the other files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.operations import OPERATIONS
from tests.faults.scene import SESSION, TORN, Scene

from recollect.edit.migrate import plan_migrate
from recollect.edit.repair.plan import plan_repair
from recollect.errors import NotFound, StoreBusy
from recollect.journal.changes import Change
from recollect.library.library import Library


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def planned_repair(scene: Scene) -> Change:
    return plan_repair(scene.journal, scene.session_file(TORN))[0]


def planned_migration(scene: Scene) -> Change:
    prepare = OPERATIONS["migrate"].prepare
    assert prepare is not None
    prepare(scene)
    return plan_migrate(scene.journal, Library([scene.home]).session(SESSION).file)[0]


PLANS: dict[str, tuple[str, Callable[[Scene], Change]]] = {
    "repair": (TORN, planned_repair),
    "migrate": (SESSION, planned_migration),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_a_client_appends_after_the_plan_is_not_lost(name: str, scene: Scene) -> None:
    session, plan = PLANS[name]
    change = plan(scene)
    path = scene.transcript(session)
    with path.open("ab") as stream:
        stream.write(b'\n{"type":"user","uuid":"new"}\n')
    data = path.read_bytes()
    with change, pytest.raises(StoreBusy):
        change.commit()
    assert path.read_bytes() == data
    assert scene.journal.records() == []


@pytest.mark.parametrize("name", PLANS)
def test_a_session_that_a_client_has_open_is_refused(name: str, scene: Scene) -> None:
    session, plan = PLANS[name]
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        (scene.root / "sessions").mkdir(exist_ok=True)
        running = {"pid": client.pid, "sessionId": session, "cwd": "/work/notes"}
        (scene.root / "sessions" / f"{client.pid}.json").write_text(json.dumps(running))
        with pytest.raises(StoreBusy):
            plan(scene)
    finally:
        client.communicate(b"\n")


def test_a_subagent_that_disappears_ends_the_plan(scene: Scene) -> None:
    file = scene.session_file(SESSION)
    file.subagents[0].path.unlink()
    with pytest.raises(NotFound):
        plan_repair(scene.journal, file)
    assert not list(scene.journal.staging.glob("*"))


def test_fragments_are_for_nobody_else_to_read(scene: Scene) -> None:
    change, result = plan_repair(scene.journal, scene.session_file(TORN))
    with change:
        change.commit()
    assert result.side_file is not None
    assert result.side_file.stat().st_mode & 0o777 == 0o600
    assert os.stat(result.side_file.parent).st_mode & 0o777 == 0o700
