"""The short way of `keep` says what the command says, and leaves everything else to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.running import run
from tests.vault.scene import Scene

from recollect.cli import lean_keep
from recollect.cli.lean_keep import try_keep
from recollect.cli.main import main
from recollect.library import keeping
from recollect.store.opening import FileStamp
from recollect.vault import selection
from recollect.vault.selection import SeenFiles
from recollect.vault.vault import format_mark

LONG_AGO = (1_700_000_000, 1_700_000_000)


@pytest.fixture
def scene(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> Scene:
    """A home that was kept, and in which nothing is new."""
    scene = Scene(tmp_path)
    scene.data = own_home / "recollect" / "data"
    scene.cache = own_home / "recollect" / "cache" / "vault"
    scene.keep()
    _settle(scene)
    return scene


def _settle(scene: Scene) -> None:
    """As if the files had been written long ago: what was written just now is compared once more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recollect.vault.capture._SETTLED_SECONDS", -1000.0)
        scene.keep()


@pytest.mark.parametrize("words", [["keep"], ["keep", "-q"], ["keep", "--quiet"]])
def test_the_same_bytes(scene: Scene, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    slow = run(capsys, scene.home.root, *words)
    assert try_keep(["--home", str(scene.home.root), *words]) == slow.code == 0
    assert capsys.readouterr().out == slow.out


def test_the_same_words_for_several_names_of_a_home(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / "another name"
    link.symlink_to(scene.home.root)
    slow = run(capsys, link, "--home", str(scene.home.root), "keep")
    assert try_keep(["--home", f"{link}/", "--home", str(scene.home.root), "keep"]) == 0
    assert capsys.readouterr().out == slow.out


def test_it_needs_neither_click_nor_typing(scene: Scene, own_home: Path) -> None:
    code = "import sys; sys.argv = ['recollect', '--home', sys.argv[1], 'keep']; from recollect.cli.entry import run\n"
    code += "try: run()\nexcept SystemExit as end: print(end.code, *sorted(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code, str(scene.home.root)], capture_output=True, text=True, check=True
    )
    said, modules = ran.stdout.splitlines()
    assert "nothing new in" in said
    assert modules.split()[0] == "0"
    assert not {"click", "typing", "pathlib", "dataclasses", "msgspec", "hashlib"} & set(modules.split())


def count_walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders of homes that are walked through from now on, once for each walk."""
    walked: list[str] = []
    walk = selection.walk_root

    def counted(root: str) -> selection.Walk:
        walked.append(root)
        return walk(root)

    for module in (selection, keeping):
        monkeypatch.setattr(module, "walk_root", counted)
    return walked


@pytest.mark.parametrize("quiet", [True, False])
def test_a_keep_with_something_new_walks_the_home_once_and_reads_once_what_was_seen(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    with open(scene.path(), "ab") as stream:
        stream.write(b"{}\n")
    walked = count_walks(monkeypatch)
    compared: list[object] = []
    is_all = SeenFiles.is_all

    def counted(self: SeenFiles, files: dict[str, FileStamp]) -> bool:
        compared.append(self)
        return is_all(self, files)

    monkeypatch.setattr(SeenFiles, "is_all", counted)
    walks: dict[str, selection.Walk] = {}
    monkeypatch.setattr(lean_keep, "WALKS", walks)
    words = ["--home", str(scene.home.root), "keep", *(["--quiet"] if quiet else [])]
    code = try_keep(words, walks)
    if not quiet:
        assert code is None
        code = main(words)
        assert "1 grown" in capsys.readouterr().out
    assert (code, len(walked), len(compared)) == (0, 1, 1)
    assert scene.kept_bytes(scene.path()) == scene.path().read_bytes()


def test_quietly_it_says_what_was_lost_and_stored_again(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    for pack in (scene.data / "vault" / "packs").iterdir():
        pack.unlink()
    assert try_keep(["--home", str(scene.home.root), "keep", "--quiet"]) == 0
    said = capsys.readouterr()
    assert (said.out, "the vault had lost part of" in said.err) == ("", True)
    assert scene.kept_bytes(scene.path()) == scene.path().read_bytes()


def test_quietly_what_is_wrong_is_left_to_the_command(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(scene.path(), "ab") as stream:
        stream.write(b"{}\n")
    (scene.data / "vault" / "format").write_bytes(format_mark(99))
    assert try_keep(["--home", str(scene.home.root), "keep", "--quiet"]) is None


@pytest.mark.parametrize("change", ["new", "grown", "touched", "gone", "vault", "link", "seen", "no projects"])
def test_whatever_is_not_as_it_was_is_left_to_the_command(scene: Scene, change: str) -> None:
    path = scene.path()
    match change:
        case "new":
            (path.parent / "new.jsonl").write_bytes(b"{}\n")
        case "grown":
            with open(path, "ab") as stream:
                stream.write(b"{}\n")
        case "touched":
            os.utime(path, LONG_AGO)
        case "gone":
            path.unlink()
        case "vault":
            with open(scene.vault.manifest_path, "ab") as stream:
                stream.write(b"x")
        case "link":
            (path.parent / "link.jsonl").symlink_to(path)
        case "seen":
            next(scene.cache.glob("seen-*")).write_bytes(b"")
        case "no projects":
            scene.home.projects.rename(scene.home.root / "elsewhere")
    assert try_keep(["--home", str(scene.home.root), "keep"]) is None


@pytest.mark.parametrize(
    "words",
    [["keep", "--full"], ["keep", "--compact"], ["keep", "--home"], ["keep", "keep"], ["-q"], ["keep", "--json"]],
)
def test_other_forms_are_left_to_the_command(scene: Scene, words: list[str]) -> None:
    assert try_keep(["--home", str(scene.home.root), *words]) is None


def test_a_vault_elsewhere_is_another_one(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "another"))
    assert try_keep(["--home", str(scene.home.root), "keep"]) is None
