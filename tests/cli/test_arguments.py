"""Arguments that are no text or far too long, folders of our own in a home, and files for their owner alone."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator

import click
import pytest
from tests.cli.every_command import ENDLESS, SESSION, Everything
from tests.running import run, tree_state

from recollect.cli.main import COMMANDS, cli
from recollect.export.terminal_text import harmless_cell

BAD = {
    "bytes that are no text": "x\udcff\udcfe",
    "5,000 characters": "y" * 5000,
    "a path of 6,000": "/" + "/".join(["z" * 200] * 30),
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everything]:
    made = Everything(tmp_path_factory.mktemp("everything"))
    yield made
    shutil.rmtree(made.root)


@pytest.fixture
def scene(everything: Everything, monkeypatch: pytest.MonkeyPatch) -> Everything:
    monkeypatch.chdir(everything.root)
    for name, value in everything.environment.items():
        monkeypatch.setenv(name, value)
    return everything


def bad_lines(everything: Everything, name: str, value: str) -> Iterator[list[str]]:
    """The command's line with each of its words, and each option that takes a text, given that value."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    line = everything.line(name)
    for place in range(1, len(line)):
        if not line[place].startswith("--"):
            yield [*line[:place], value, *line[place + 1 :]]
    for option in command.params:
        takes_text = (
            isinstance(option, click.Option) and not option.is_flag and not isinstance(option.type, click.Choice)
        )
        if takes_text and option.name != "home":
            yield [*line, option.opts[-1], value]


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ENDLESS])
def test_no_argument_is_taken_for_a_bug(
    scene: Everything, name: str, kind: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    from recollect.cli.main import main

    for line in [["--home", BAD[kind], *scene.line(name)], *bad_lines(scene, name, BAD[kind])]:
        code = main(line)
        said = capsysbinary.readouterr().err
        assert code != 70, ascii((line, said))
    scene.reset()


def test_what_is_said_of_them(scene: Everything, capsys: pytest.CaptureFixture[str]) -> None:
    long = run(capsys, None, "--home", "y" * 5000, "list")
    assert (long.code, "longer than the system allows [path-too-long]" in long.err) == (3, True)
    before = (scene.own / "data" / "bookmarks.json").exists()
    bad = run(capsys, None, "bookmark", "add", SESSION, "--note", "x\udcff")
    assert (bad.code, "not UTF-8 text [argument-not-text]" in bad.err) == (6, True)
    assert (scene.own / "data" / "bookmarks.json").exists() == before
    assert "x" not in run(capsys, None, "bookmark").out


@pytest.mark.parametrize("kind", ["DATA", "CONFIG", "CACHE"])
@pytest.mark.parametrize("named", [False, True], ids=["by the environment", "by --home"])
@pytest.mark.parametrize("words", ["keep", "search x", "usage --json", "list"])
def test_own_folders_inside_a_home_are_refused(
    scene: Everything,
    kind: str,
    named: bool,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene.reset()
    link = scene.now / "link"
    link.symlink_to(scene.home)
    monkeypatch.setenv(f"RECOLLECT_{kind}_DIR", str(link / "recollect"))
    if named:
        monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    before = tree_state(scene.home)
    ran = run(capsys, scene.home if named else None, *words.split())
    assert (ran.code, "own-folder-in-home" in ran.err) == (6, True)
    assert tree_state(scene.home) == before


def test_files_that_hold_answers_are_for_their_owner_alone(
    scene: Everything, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in {
        "a.parquet": ["sql", "SELECT 1 AS one", "--parquet"],
        "a.svg": ["usage", "--plot"],
    }.items():
        target = scene.now / name
        for _ in range(2):  # in the place of one that others could read
            assert run(capsys, None, *line, str(target)).code == 0
            assert stat.S_IMODE(target.stat().st_mode) == 0o600
            target.chmod(0o644)


@pytest.mark.parametrize(
    "text",
    ["=1", "|calc", "＝1", "＋1", "－1", "＠x", "｜x", "\t=1", "\rx", "\nx", "  =1", "\u3000＝1", "\u00a0@x", "−1"],
)
def test_a_cell_is_no_formula(text: str) -> None:
    assert harmless_cell(text).startswith("'")


@pytest.mark.parametrize("text", ["plain", "a=b", "1|2", "", " ", "'=1", "#x"])
def test_a_cell_of_text_stays(text: str) -> None:
    assert harmless_cell(text) == text
