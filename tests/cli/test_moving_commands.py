"""`recollect move`, `split` and `delete` on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from tests.edit.moving_scene import NEW, OLD, Scene, everything, tree

from recollect.cli.command_run import CommandRun
from recollect.cli.commands.delete import delete
from recollect.cli.commands.move import move
from recollect.cli.commands.split import split
from recollect.errors import NotFound, Refused
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.testing import HomeBuilder


@pytest.fixture
def scene(tmp_path: Path, own_home: Path) -> Scene:
    return everything(tmp_path / "claude", own_home / "recollect" / "data")


def run(command: click.Command, home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command, ["--home", str(home), *arguments], obj=CommandRun())


def data_of(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def test_move_shows_its_plan(scene: Scene) -> None:
    before = tree(scene.home.root)
    result = run(move, scene.home.root, OLD, NEW, "--dry-run")
    assert result.exit_code == 0
    assert f"would: Move {OLD} to {NEW}" in result.stdout
    assert f"move {scene.folder(OLD)} to {scene.folder(NEW)}" in result.stdout
    assert "note: settings.json names the old path" in result.stderr
    assert tree(scene.home.root) == before


def test_move_and_undo(scene: Scene) -> None:
    before = tree(scene.home.root)
    told = data_of(run(move, scene.home.root, OLD, NEW, "--json", "--yes"))
    assert [OLD, NEW] in told["config_projects"] and len(told["sessions"]) == 5 and told["dry_run"] is False
    assert scene.path(scene.main, NEW).is_file()
    journal = Journal(scene.journal.folder.parent)
    journal.undo(journal.record(told["change"]), scene.home)
    assert tree(scene.home.root) == before


def test_relative_paths_and_links_are_resolved(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client names a project by the path behind all links."""
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session(str(tmp_path / "here" / "old"), modified="2026-01-01T00:00Z")
    session.user("x")
    root = builder.write()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    told = data_of(run(move, root, "old", "../link/new", "--json", "--yes"))
    assert told["pairs"] == [[str(tmp_path / "here" / "old"), str(real / "new")]]


def test_maps_alone(scene: Scene) -> None:
    told = data_of(run(move, scene.home.root, "--map", "/w/old=/srv/w", "--json", "-n"))
    assert ["/w/old", "/srv/w"] in told["pairs"] and len(told["sessions"]) == 6 and told["change"] is None


@pytest.mark.parametrize("arguments", [(), (OLD,), (OLD, NEW, "more"), ("--merge",)])
def test_move_needs_two_paths(scene: Scene, arguments: tuple[str, ...]) -> None:
    assert run(move, scene.home.root, *arguments).exit_code == 2


def test_several_homes_must_be_told_apart(scene: Scene, tmp_path: Path) -> None:
    other = HomeBuilder(tmp_path / "other")
    other.session(OLD).user("x")
    other.write()
    result = run(move, scene.home.root, "--home", str(tmp_path / "other"), OLD, NEW)
    assert isinstance(result.exception, Refused) and result.exception.slug == "several-homes"


def test_delete_sessions(scene: Scene) -> None:
    before = tree(scene.home.root)
    result = run(delete, scene.home.root, scene.main.session_id[:8], scene.plain.session_id, "--yes")
    assert result.exit_code == 0 and "deleted" in result.stdout
    assert not scene.path(scene.main, OLD).exists() and not scene.path(scene.plain, OLD).exists()
    journal = Journal(scene.journal.folder.parent)
    journal.undo(journal.record(), scene.home)
    assert tree(scene.home.root) == before


def test_delete_a_project(scene: Scene) -> None:
    told = data_of(run(delete, scene.home.root, "--project", OLD, "--json", "--yes"))
    assert len(told["sessions"]) == 5 and told["history_lines"] == 4
    assert not scene.folder(OLD).exists()


@pytest.mark.parametrize("arguments", [(), ("last", "--project", OLD)])
def test_delete_needs_one_or_the_other(scene: Scene, arguments: tuple[str, ...]) -> None:
    assert run(delete, scene.home.root, *arguments).exit_code == 2


def test_delete_what_is_not_there(scene: Scene) -> None:
    assert isinstance(run(delete, scene.home.root, "00000000").exception, NotFound)


def test_split_lists_and_parts(tmp_path: Path, own_home: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    for cwd in ("/w/a-b", "/w-a/b"):
        builder.session(cwd, folder="-w-a-b", modified="2026-01-01T00:00Z").user("x")
    root = builder.write()
    rows = data_of(run(split, root, "--json"))["rows"]
    assert [(row["folder"], row["project"], row["sessions"]) for row in rows] == [
        ("-w-a-b", "/w-a/b", 1), ("-w-a-b", "/w/a-b", 1),
    ]  # fmt: skip
    told = data_of(run(split, root, "-w-a-b", "--project", "/w-a/b", "--name", "b", "--json", "--yes"))
    assert told["folders"] == [["-w-a-b", "b"]]
    assert len(os.listdir(Home(root).projects / "b")) == 1
    assert run(split, root, "./-w-a-b", "--project", "/w/a-b").exit_code == 2
    assert "no folder is shared" in run(split, root).stderr
