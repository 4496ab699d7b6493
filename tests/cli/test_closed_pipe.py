"""`recollect ... | head -1`: a question ends quietly, a change is carried out though nobody reads what is said about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.scene import SESSION, TORN, Scene
from tests.running import tree_state

from recollect.vault.capture import capture
from recollect.vault.vault import Vault


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def run_unread(scene: Scene, *arguments: str, both: bool = False) -> tuple[int, str]:
    """Its exit code and stderr, with stdout (and with `both` stderr) going into a pipe that nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "recollect", "--home", str(scene.home.root), *arguments]
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing if both else subprocess.PIPE, check=False,
            env={**os.environ, "RECOLLECT_DATA_DIR": str(scene.data)},
        )  # fmt: skip
    finally:
        os.close(writing)
    return ran.returncode, (ran.stderr or b"").decode()


def done(scene: Scene) -> list[str]:
    return [record.state for record in scene.journal.records()]


CHANGES = {
    "repair": ["repair", TORN, "--apply", "--yes"],
    "repair as json": ["repair", TORN, "--apply", "--yes", "--json"],
    "repair into a fork": ["repair", TORN, "--fork", "--apply", "--jsonl"],
    "rename": ["rename", SESSION, "A new title"],
    "fork": ["fork", SESSION],
    "delete": ["delete", SESSION, "--yes"],
    "prune": ["prune", "--larger", "1", "--apply", "--yes"],
}


@pytest.mark.parametrize("both", [False, True], ids=["stdout", "stdout and stderr"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_made_though_nobody_reads(scene: Scene, name: str, both: bool) -> None:
    if name == "prune":
        capture(Vault(scene.data / "vault"), scene.home)
    before = tree_state(scene.home.root)
    code, said = run_unread(scene, *CHANGES[name], both=both)
    assert (code, "Traceback" in said, "Exception ignored" in said) == (0, False, False), said
    assert done(scene) == ["done"] if name != "prune" else tree_state(scene.home.root) != before
    assert tree_state(scene.home.root) != before


@pytest.mark.parametrize(
    "words", [["repair", TORN], ["list"], ["list", "--json"], ["show", SESSION], ["check", "--all"]]
)
def test_a_question_ends_quietly(scene: Scene, words: list[str]) -> None:
    before = tree_state(scene.home.root)
    code, said = run_unread(scene, *words)
    assert code == 0
    assert "Traceback" not in said and "BrokenPipe" not in said and "Exception ignored" not in said
    assert tree_state(scene.home.root) == before
    assert done(scene) == []
