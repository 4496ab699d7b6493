"""A session that lies in two project folders: one keeps the id, the other gets one of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.edit.repair.repairing import files_state
from tests.running import run

from recollect.edit.repair.plan import RepairResult, plan_repair
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.store.layout import is_session_id
from recollect.testing import HomeBuilder, TranscriptBuilder
from recollect.testing.toolcalls import bash

CWD = "/home/dev/orchard"
LONG_AGO = 1_750_000_000


class Twice:
    """A home with a session in its own folder and in another."""

    def __init__(self, folder: Path, *, subagents: bool = False) -> None:
        builder = HomeBuilder(folder / "claude")
        self.t: TranscriptBuilder = builder.session(CWD)
        self.t.user("one")
        if subagents:
            subagent = self.t.subagent("Find it.")
            subagent.call(bash("ls", "a\n"))
            subagent.finish("Found.")
        self.t.title("Orchard")
        self.root = builder.write()
        self.own = builder.session_path(self.t)
        self.other = self.root / "projects" / "-elsewhere" / self.own.name
        self.other.parent.mkdir()
        self.other.write_bytes(self.own.read_bytes())
        if subagents:
            shutil.copytree(self.own.with_suffix(""), self.other.with_suffix(""))
        self.touch()
        self.journal = Journal(folder / "data")

    def touch(self, *, newer: Path | None = None) -> None:
        for path in self.root.rglob("*"):
            os.utime(path, (LONG_AGO, LONG_AGO))
        if newer is not None:
            os.utime(newer, (LONG_AGO + 60, LONG_AGO + 60))

    def plans(self, *, commit: bool = False) -> dict[Path, RepairResult]:
        found = {}
        for file in open_library([self.root]).files():
            change, result = plan_repair(self.journal, file)
            with change:
                if result.changes_something:
                    found[file.path] = result
                    if commit:
                        change.commit()
        return found


@pytest.mark.parametrize("newer", ["own", "other"])
def test_the_one_in_its_projects_folder_keeps_the_id(newer: str, tmp_path: Path) -> None:
    home = Twice(tmp_path)
    home.touch(newer=getattr(home, newer))
    plans = home.plans()
    assert list(plans) == [home.other]
    result = plans[home.other]
    assert [item.fix for item in result.fixes] == ["name"]
    assert result.target.parent == home.other.parent
    assert is_session_id(result.target.stem)
    assert result.target.stem != home.t.session_id


def test_of_two_that_belong_nowhere_the_newest_keeps_it(tmp_path: Path) -> None:
    home = Twice(tmp_path)
    third = home.root / "projects" / "-far-away" / home.own.name
    third.parent.mkdir()
    home.own.rename(third)
    home.touch(newer=home.other)
    assert list(home.plans()) == [third]


def test_nothing_is_lost_and_undo_puts_it_back(tmp_path: Path) -> None:
    home = Twice(tmp_path, subagents=True)
    before, words = files_state(home.root), home.other.read_text()
    result = home.plans(commit=True)[home.other]
    assert home.own.read_text() == words
    assert not home.other.exists()
    assert not home.other.with_suffix("").exists()
    new = result.target.stem
    assert result.target.read_text() == words.replace(home.t.session_id, new)
    assert result.target.stat().st_mtime == LONG_AGO
    library = open_library([home.root])
    assert sorted(file.session_id for file in library.files()) == sorted([home.t.session_id, new])
    assert [len(file.subagents) for file in library.files()] == [1, 1]
    assert home.plans() == {}
    home.journal.undo(home.journal.record(), open_library([home.root]).homes[0])
    assert files_state(home.root) == before


def test_one_file_under_two_names_is_no_copy(tmp_path: Path) -> None:
    home = Twice(tmp_path)
    home.other.unlink()
    os.link(home.own, home.other)
    assert home.plans() == {}


@pytest.mark.parametrize("arguments", [["ID"], ["--all"], ["ID", "--rule", "session-id-twice"]])
def test_the_command_finds_the_copy_whichever_is_newer(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Twice(tmp_path)
    home.touch(newer=home.own)
    given = [home.t.session_id if item == "ID" else item for item in arguments]
    rows = run(capsys, home.root, "repair", *given, "--json").data["rows"]
    assert [row["path"] for row in rows if row["fixes"]] == [str(home.other)]
    assert run(capsys, home.root, "repair", *given, "--apply", "--yes").code == 0
    rows = run(capsys, home.root, "check", "--rule", "session-id-twice", "--json").data["rows"]
    assert rows == []
