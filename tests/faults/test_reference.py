"""What the operations do without any fault: the other tests here compare with it, so it is held to the facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.faults.operations import OPERATIONS
from tests.faults.oracle import reference
from tests.faults.places import quick_folder
from tests.faults.scene import SESSION, TORN, Scene, differences

__all__ = ["quick_folder"]
TRANSCRIPT = f"projects/-work-notes/{SESSION}.jsonl"


@pytest.mark.parametrize("name", ["rename", "tag", "rewind"])
def test_a_state_line_is_appended_and_the_file_keeps_its_time(quick_folder: Path, name: str) -> None:
    known = reference(Scene(quick_folder), OPERATIONS[name])
    assert known.touched == {TRANSCRIPT}
    before, after = known.before[TRANSCRIPT], known.after[TRANSCRIPT]
    assert before.content is not None and after.content is not None
    assert after.content.startswith(before.content)
    assert json.loads(after.content[len(before.content) :])["sessionId"] == SESSION
    assert after.mtime_ns == before.mtime_ns


def test_a_line_without_an_end_stays_alone(quick_folder: Path) -> None:
    known = reference(Scene(quick_folder), OPERATIONS["append behind a torn line"])
    name = f"projects/-work-notes/{TORN}.jsonl"
    before, after = known.before[name].content, known.after[name].content
    assert before is not None and after is not None
    assert after.startswith(before + b"\n{")
    assert after.endswith(b"}\n")


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.prepare is None])
def test_undo_gives_everything_back(quick_folder: Path, name: str) -> None:
    """Also by a process that knows nothing but the journal, and only once."""
    scene = Scene(quick_folder)
    before = scene.photograph()
    OPERATIONS[name].perform(scene)
    assert differences(before, scene.photograph())
    scene.journal.undo(scene.journal.record(), scene.home)
    assert not differences(before, scene.photograph())
    assert [record.state for record in scene.journal.records()] == ["undone"]


@pytest.mark.parametrize("name", ["replace", "delete", "many files", "restore a file"])
def test_undo_with_the_journal_on_another_file_system(quick_folder: Path, tmp_path: Path, name: str) -> None:
    if quick_folder.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system to write to")
    scene = Scene(quick_folder, tmp_path / "data")
    before = scene.photograph()
    OPERATIONS[name].perform(scene)
    after = scene.photograph()
    assert differences(before, after)
    assert not scene.litter(after)
    scene.journal.undo(scene.journal.record(), scene.home)
    assert not differences(before, scene.photograph())
