"""Run commands on the home of a vault's scene."""

from __future__ import annotations

import pytest
from tests.running import Ran, run
from tests.vault.scene import Scene


class Ask:
    """Run a command on the home of a scene, and hold it to its exit code."""

    def __init__(self, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
        self.scene, self.capsys = scene, capsys

    def __call__(self, *arguments: str, code: int = 0) -> Ran:
        ran = run(self.capsys, self.scene.home.root, *arguments)
        assert ran.code == code, ran
        return ran

    def states(self) -> list[tuple[int, str]]:
        """List the changes of the home, oldest first: number and state."""
        rows = self("changes", "--json").data["rows"]
        return [(row["number"], row["state"]) for row in reversed(rows)]
