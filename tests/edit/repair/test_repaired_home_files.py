"""The global config and the client's lists of sessions, restored."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.repair.home_files import HomeRepair, newest_whole_backup, plan_home_repair
from recollect.errors import StoreBusy
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.testing import HomeBuilder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    home = HomeBuilder(tmp_path / "claude")
    for number in range(3):
        t = home.session("/w/app")
        t.user(f"Question {number}")
        t.assistant("Answer")
    root = home.write()
    (root / "backups").mkdir(exist_ok=True)
    return root


def repair(root: Path, data: Path, **options: Any) -> HomeRepair:
    ((home, scan),) = open_library([root]).scans
    change, plan = plan_home_repair(Journal(data), home, scan, **options)
    with change:
        if change.steps:
            change.commit()
    return plan


def backup(root: Path, number: int, text: str) -> None:
    (root / "backups" / f".claude.json.backup.{1_770_000_000_000 + number}").write_text(text)


OLD = {"numStartups": 1, "projects": {"/w/old": {"allowedTools": []}, "/w/app": {"lastCost": 1}}}
NEW = {"numStartups": 2, "projects": {"/w/app": {"lastCost": 2}}}


def test_the_newest_whole_backup_and_what_the_broken_file_still_says(root: Path, tmp_path: Path) -> None:
    backup(root, 1, json.dumps(OLD))
    backup(root, 2, json.dumps(NEW))
    backup(root, 3, json.dumps(NEW)[:-9])  # the newest of all is broken, too
    broken = '{"numStartups": 7, "theme": "dark", "projects": {"/w/new"'
    (root / ".claude.json").write_text(broken)
    plan = repair(root, tmp_path / "data")
    assert json.loads((root / ".claude.json").read_text()) == NEW | {"numStartups": 7, "theme": "dark"}
    assert len(plan.done) == 1
    journal = Journal(tmp_path / "data")
    journal.undo(journal.record(), open_library([root]).homes[0])
    assert (root / ".claude.json").read_text() == broken


def test_projects_are_merged_one_by_one(root: Path, tmp_path: Path) -> None:
    backup(root, 1, json.dumps(OLD))
    (root / ".claude.json").write_text('{"projects": {"/w/app": {"lastCost": 3}}, "numStartups": 9, "x')
    repair(root, tmp_path / "data")
    found = json.loads((root / ".claude.json").read_text())
    assert found["projects"] == {"/w/old": {"allowedTools": []}, "/w/app": {"lastCost": 3}}


def test_without_a_whole_backup_nothing_is_done(root: Path, tmp_path: Path) -> None:
    backup(root, 1, "{")
    (root / ".claude.json").write_text("{")
    plan = repair(root, tmp_path / "data")
    assert plan.done == []
    assert "no whole backup" in plan.left[0]
    assert (root / ".claude.json").read_text() == "{"
    assert newest_whole_backup(open_library([root]).homes[0]) is None


def test_a_whole_config_is_left_alone(root: Path, tmp_path: Path) -> None:
    (root / ".claude.json").write_text("{}")
    backup(root, 1, json.dumps(OLD))
    assert repair(root, tmp_path / "data") == HomeRepair()


def test_while_clients_run_only_by_force(root: Path, tmp_path: Path) -> None:
    backup(root, 1, json.dumps(OLD))
    (root / ".claude.json").write_text("{")
    (root / "sessions").mkdir(exist_ok=True)
    running = {"pid": os.getpid(), "sessionId": "5c0f5a52-0000-4000-8000-000000000000", "cwd": "/w/app"}
    (root / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(running))
    with pytest.raises(StoreBusy):
        repair(root, tmp_path / "data")
    assert repair(root, tmp_path / "data", force=True).done


def test_the_list_of_sessions_is_written_anew(root: Path, tmp_path: Path) -> None:
    files = open_library([root]).files()
    path = files[0].path.with_name("sessions-index.json")
    known = {"sessionId": files[0].session_id, "fileMtime": int(files[0].mtime * 1000), "extra": "kept"}
    path.write_text(json.dumps({"version": 1, "entries": [known, {"sessionId": "gone"}], "own": 5}))
    repair(root, tmp_path / "data")
    found = json.loads(path.read_text())
    assert found["own"] == 5
    assert {entry["sessionId"] for entry in found["entries"]} == {file.session_id for file in files}
    assert known in found["entries"]
    made = next(entry for entry in found["entries"] if entry["sessionId"] == files[1].session_id)
    assert made["messageCount"] == 2
    assert made["projectPath"] == "/w/app"
    assert repair(root, tmp_path / "data").done == []
