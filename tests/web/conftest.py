"""Scenes for the tests of the pages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.web.scene import Scene, scene

from recollect.testing import build_demo_home


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "claude"
    build_demo_home(root)
    return root


@pytest.fixture
def demo(demo_home: Path, tmp_path: Path) -> Scene:
    """A copy of the demo home, served."""
    root = tmp_path / "home" / "claude"
    shutil.copytree(demo_home, root, symlinks=True)
    return scene(root, tmp_path / "own")
