"""Usage of a session that only the vault has, by whatever names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.running import run

from recollect.testing.demo import build_demo_home

SESSION, TITLE = "6d9e2e53", "Shopping list across recipes"


def test_a_kept_session_is_known_by_its_title(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "claude"
    build_demo_home(home)
    assert run(capsys, home, "keep").code == 0
    before = run(capsys, home, "usage", "--session", SESSION, "--json").data
    assert run(capsys, home, "delete", SESSION, "--yes").code == 0
    for name in (SESSION, TITLE, TITLE.lower()):
        ran = run(capsys, home, "usage", "--session", name, "--json")
        assert ran.code == 0, ran.err
        assert ran.data["totals"] == before["totals"]
    assert run(capsys, home, "usage", "--session", TITLE, "--more", "context", "--json").code == 0
    assert run(capsys, home, "expensive", "--session", TITLE, "--json").code == 0
