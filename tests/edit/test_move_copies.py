"""A session that two folders have: both copies share what is named by its id, and a move serves them both."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.edit.moving_scene import NEW, OLD, Bare, carry_out, tree

from recollect.format.file_history import hash_of_path
from recollect.testing import HomeBuilder, uuid_from

SESSION = uuid_from("a session with two copies")
FILE = f"{OLD}/list.md"


def home_with_copies(folder: Path, *projects: str) -> Bare:
    builder = HomeBuilder(folder / "claude")
    for cwd in projects:
        session = builder.session(cwd, session_id=SESSION)
        session.file_history_snapshot(session.user("Write the list."), {FILE: 1})
        session.assistant("Written.")
    builder.backup(SESSION, FILE, 1, "milk\n")
    return Bare(builder)


def backups(bare: Bare) -> list[str]:
    return sorted(path.name for path in (bare.home.root / "file-history" / SESSION).iterdir())


@pytest.mark.parametrize("projects", [(OLD,), (OLD, f"{OLD}/below")])
def test_a_backup_that_several_files_name_is_renamed_once(tmp_path: Path, projects: tuple[str, ...]) -> None:
    bare = home_with_copies(tmp_path, *projects)
    before = tree(bare.home.root)
    result = carry_out(bare)
    assert result.backups_renamed == 1
    assert backups(bare) == [f"{hash_of_path(f'{NEW}/list.md')}@v1"]
    bare.journal.undo(bare.journal.record(), bare.home)
    assert tree(bare.home.root) == before


def test_a_copy_that_stays_keeps_its_backups(tmp_path: Path) -> None:
    bare = home_with_copies(tmp_path, OLD, "/w/elsewhere")
    before = tree(bare.home.root)
    carry_out(bare)
    assert backups(bare) == sorted(f"{hash_of_path(path)}@v1" for path in (FILE, f"{NEW}/list.md"))
    bare.journal.undo(bare.journal.record(), bare.home)
    assert tree(bare.home.root) == before
