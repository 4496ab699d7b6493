"""`recollect new` in a home whose `projects` is no folder: said before anything is done, and by the dry run too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.running import run

from recollect.testing import build_demo_home


@pytest.mark.parametrize("kind", ["a file", "links that lead to each other"])
def test_no_folder_for_projects(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_demo_home(tmp_path / "claude")
    projects = tmp_path / "claude" / "projects"
    shutil.rmtree(projects)
    if kind == "a file":
        projects.write_text("not a folder")
    else:
        projects.symlink_to(projects)
    for more in ([], ["--dry-run"]):
        ran = run(capsys, tmp_path / "claude", "new", "--project", str(tmp_path), *more)
        assert ran.code == 6, ran.err
        assert "projects" in ran.err
    assert not (tmp_path / "data" / "changes").exists()
