"""Budgets, bookmarks and saved queries: many processes at once lose nothing, nor does a full disk, and damage is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.running import run

from recollect.environment import own_folder
from recollect.errors import DamagedData, RecollectError
from recollect.library.bookmarks import add_bookmark, read_bookmarks, remove_bookmark
from recollect.library.budgets import Budgets
from recollect.library.questions import SavedQueries

Add = Callable[[Path, str], object]
Names = Callable[[Path], set[str]]

KINDS: dict[str, tuple[Add, Names, str]] = {
    "budgets": (
        lambda folder, name: Budgets(folder).set("5/month", f"/{name}"),
        lambda folder: {(item.project or "").strip("/") for item in Budgets(folder).all()},
        "budgets.json",
    ),
    "bookmarks": (
        lambda folder, name: add_bookmark(folder, name, None, "", ""),
        lambda folder: {item.session_id for item in read_bookmarks(folder)},
        "bookmarks.json",
    ),
    "queries": (
        lambda folder, name: SavedQueries(folder).save(name, f"SELECT '{name}'"),
        lambda folder: {item.name for item in SavedQueries(folder).all()},
        "p0.sql",
    ),
}

_MANY = """
import sys
from pathlib import Path
from tests.library.test_own_list import KINDS
for number in range(4):
    KINDS[sys.argv[1]][0](Path(sys.argv[2]), f"p{sys.argv[3]}-{number}")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_many_processes_lose_nothing(kind: str, tmp_path: Path) -> None:
    started = [subprocess.Popen([sys.executable, "-c", _MANY, kind, str(tmp_path), str(number)]) for number in range(4)]
    assert [process.wait(120) for process in started] == [0] * 4
    assert KINDS[kind][1](tmp_path) == {f"p{process}-{number}" for process in range(4) for number in range(4)}


def test_twelve_budgets_set_at_once_are_all_there() -> None:
    command = [sys.executable, "-m", "recollect", "budget", "set", "5/month", "--project"]
    started = [subprocess.Popen([*command, f"/p{number}"], stderr=subprocess.PIPE) for number in range(12)]
    for process in started:
        process.communicate(timeout=240)
    assert [process.returncode for process in started] == [0] * 12
    assert {item.project for item in Budgets(own_folder("config")).all()} == {f"/p{number}" for number in range(12)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ["ENOSPC", "EACCES", "EIO", "short"])
def test_a_change_that_fails_at_any_call_loses_nothing(kind: str, error: str, tmp_path: Path) -> None:
    add, names, _ = KINDS[kind]
    add(tmp_path, "p0")
    for at in range(1, 40):
        with faulty_disk(Fault(at, error, lasting=error == "ENOSPC")) as fault:
            try:
                add(tmp_path, f"new{at}")
                failed = False
            except RecollectError:
                failed = True
        assert "p0" in names(tmp_path)
        assert failed or f"new{at}" in names(tmp_path)
        if not fault.hit:
            return
    pytest.fail("the fault never lay behind the last call")


def test_a_full_disk_is_a_clean_error_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, None, "budget", "set", "5/month").code == 0
    with faulty_disk(Fault(2, "ENOSPC", lasting=True)):
        ran = run(capsys, None, "budget", "set", "9/day")
    assert (ran.code, ran.out) == (6, "")
    assert "no room to write" in ran.err
    assert [item.period for item in Budgets(own_folder("config")).all()] == ["month"]


@pytest.mark.parametrize("kind", ["budgets", "bookmarks"])
@pytest.mark.parametrize("damage", [b"", b"{", b"[{}]", b"[1]", b"\xff\xfe", b"[" * 100_000, b'[{"session_id":1}]'])
def test_a_damaged_list_is_told_and_not_overwritten(kind: str, damage: bytes, tmp_path: Path) -> None:
    add, names, file = KINDS[kind]
    (tmp_path / file).write_bytes(damage)
    changes: tuple[Callable[[], object], ...] = (
        lambda: add(tmp_path, "p0"),
        lambda: names(tmp_path),
        lambda: Budgets(tmp_path).remove() if kind == "budgets" else remove_bookmark(tmp_path, "p0", None),
    )
    for change in changes:
        with pytest.raises(DamagedData, match=file):
            change()
    assert (tmp_path / file).read_bytes() == damage


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_of_the_list_stays_one(kind: str, tmp_path: Path) -> None:
    add, names, file = KINDS[kind]
    real, folder = tmp_path / "dotfiles", tmp_path / "config"
    real.mkdir()
    folder.mkdir()
    add(real, "p0")
    (folder / file).symlink_to(real / file)
    add(folder, "p0")
    add(folder, "p1")
    assert (folder / file).is_symlink()
    assert names(folder) == {"p0", "p1"}


def test_a_saved_query_that_is_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "p0.sql").mkdir()
    with pytest.raises(DamagedData, match="p0"):
        SavedQueries(tmp_path).get("p0")
    with pytest.raises(RecollectError):
        SavedQueries(tmp_path).save("p0", "SELECT 1")
