"""What tests of writers and of the provider share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """A project that is there: sessions are only begun in one."""
    (tmp_path / "app").mkdir()
    return tmp_path / "app"
