"""Which files of a home are kept: through links of the store, and without secrets, pipes and folders nobody can read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.home import Home
from recollect.vault.selection import is_kept_path, walk_home

NAME = "11111111-2222-4333-8444-555555555555.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "claude"
    write(root / "projects" / "-p" / NAME)
    return root


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n")
    return path


def found(root: Path) -> tuple[set[str], list[str]]:
    walk = walk_home(Home(root))
    return set(walk.files), walk.skipped


def test_a_file_is_told_with_its_size_times_and_inode(root: Path) -> None:
    info = (root / "projects" / "-p" / NAME).stat()
    stamp = (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
    assert walk_home(Home(root)).files == {f"projects/-p/{NAME}": stamp}


def test_links_of_the_store_are_followed(root: Path, tmp_path: Path) -> None:
    """A folder of the home, a project's folder and a session's file may lie on another disk."""
    write(tmp_path / "disk" / "todos" / "a.json")
    (root / "todos").symlink_to(tmp_path / "disk" / "todos")
    write(tmp_path / "disk" / "q" / "b" / "c.txt")
    (root / "projects" / "-q").symlink_to(tmp_path / "disk" / "q")
    elsewhere = write(tmp_path / "disk" / "d.jsonl")
    (root / "projects" / "-p" / "d.jsonl").symlink_to(elsewhere)
    files, skipped = found(root)
    assert files == {f"projects/-p/{NAME}", "projects/-p/d.jsonl", "projects/-q/b/c.txt", "todos/a.json"}
    assert skipped == []
    assert walk_home(Home(root)).files["projects/-p/d.jsonl"][3] == elsewhere.stat().st_ino


def test_links_that_lead_nowhere_are_told(root: Path, tmp_path: Path) -> None:
    (root / "todos").symlink_to(tmp_path / "missing")
    (root / "plans").symlink_to(write(tmp_path / "a-file"))
    (root / "projects" / "-q").symlink_to(root)
    files, skipped = found(root)
    assert files == {f"projects/-p/{NAME}"}
    assert sorted(skipped) == [
        "plans: a link to something that is not a folder",
        "projects/-q: a link that leads in a circle",
        "todos: a link that leads to nothing",
    ]


@pytest.mark.parametrize("is_link", [False, True])
def test_the_history_is_kept_unless_it_is_a_link(root: Path, tmp_path: Path, is_link: bool) -> None:
    if is_link:
        (root / "history.jsonl").symlink_to(write(tmp_path / "history.jsonl"))
    else:
        write(root / "history.jsonl")
    assert ("history.jsonl" in found(root)[0]) is not is_link


def test_secrets_stay_where_they_are(root: Path) -> None:
    write(root / "projects" / "-p" / ".credentials.json")
    write(root / ".credentials.json")
    write(root / "settings.json")
    assert found(root) == ({f"projects/-p/{NAME}"}, [])


def test_folders_without_end_are_walked_to_a_depth(root: Path) -> None:
    folder = root / "projects" / "-p"
    for number in range(40):
        folder = folder / "d"
        write(folder / f"{number}.txt")
    files, _ = found(root)
    assert f"projects/-p/{'d/' * 20}19.txt" in files
    assert f"projects/-p/{'d/' * 40}39.txt" not in files


def test_a_folder_that_cannot_be_read_is_told_and_the_rest_is_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root / "projects" / "-q" / NAME)
    scandir = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path.endswith("-q"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found(root) == ({f"projects/-p/{NAME}"}, ["projects/-q/: Permission denied"])


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (f"projects/-p/{NAME}", True), ("history.jsonl", True), ("todos/x.json", True), ("", False), ("projects", False),
        ("settings.json", False), ("projects/-p/.credentials.json", False), ("sessions/1.key", False),
        ("plugins/history.jsonl", False),
    ],
)  # fmt: skip
def test_paths_that_may_be_put_into_a_home_again(path: str, kept: bool) -> None:
    assert is_kept_path(path.split("/") if path else []) is kept
