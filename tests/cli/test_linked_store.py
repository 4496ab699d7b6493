"""A store of which `projects/`, a project's folder or a session's file is a link: everything reads and writes through it."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.store.scan import scan_home
from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"
OTHER = "aaaa0000-0000-4000-8000-000000000002"
LINKS = ("projects", "folder", "file", "folder and file")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "plain" / "claude", version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("find the walrus")
    t.subagent("look for it").finish("no walrus here")
    t.assistant("it left")
    builder.session("/w/other", session_id=OTHER, modified="2026-03-01T10:00Z").user("another penguin")
    return builder.write()


def linked(plain: Path, tmp_path: Path, kind: str) -> Path:
    """A copy of the home in which something is a link to a place outside of it."""
    root, outside = tmp_path / "linked" / "claude", tmp_path / "disk"
    shutil.copytree(plain, root)
    outside.mkdir()
    places = {
        "projects": [root / "projects"],
        "folder": [root / "projects" / "-w-app"],
        "file": [root / "projects" / "-w-app" / f"{S}.jsonl"],
        "folder and file": [root / "projects" / "-w-app" / f"{S}.jsonl", root / "projects" / "-w-app"],
    }
    for place in places[kind]:
        place.rename(outside / place.name)
        place.symlink_to(outside / place.name)
    return root


@pytest.fixture(params=LINKS)
def root(request: pytest.FixtureRequest, plain: Path, tmp_path: Path) -> Path:
    return linked(plain, tmp_path, request.param)


READING = (
    ("list", "--json"), ("show", S), ("show", S, "--json"), ("cat", S), ("subagents", S, "--json"), ("thread", S, "--json"),
    ("search", "walrus", "--json"), ("search", "--regex", "wal.us", "--json"), ("usage", "--json"), ("check", S, "--json"),
    ("sql", "select session_id, title from sessions order by 1", "--json"), ("overview", "--json"), ("tree", S),
    ("keep", "--json"),
)  # fmt: skip


def test_every_reader_says_the_same_as_of_a_plain_store(
    root: Path, plain: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = tree_state(tmp_path / "disk")
    told: dict[str, list[list[str]]] = {}
    for home in (plain, root):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / f"data-{home.parent.name}"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache-{home.parent.name}"))
        for words in READING:
            ran = run(capsys, home, *words)
            assert ran.code == 0, (words, ran.err)
            told.setdefault(" ".join(words), []).append(_without_moments(ran.out.replace(str(home), "HOME")))
    for command, (of_plain, of_linked) in told.items():
        assert of_linked == of_plain, command
    assert tree_state(tmp_path / "disk") == before


def _without_moments(text: str) -> list[str]:
    """Without what differs from run to run."""
    return [
        line
        for line in text.splitlines()
        if not any(f'"{name}' in line for name in ("took", "stored", "seconds", "score"))
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("rename", S, "A new name"), ("tag", S, "tagged"), ("append", S, "--role", "user", "more words"),
        ("fork", S), ("delete", S, "--yes"), ("archive", S),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_changes_are_made_where_the_link_leads_and_undone(
    root: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for path in (tmp_path / "disk").rglob("*.jsonl"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    before = files_in(tmp_path / "disk"), files_in(root)
    links = [path for path in root.rglob("*") if path.is_symlink()]
    done = run(capsys, root, *words)
    assert done.code == 0, done.err
    assert (files_in(tmp_path / "disk"), files_in(root)) != before
    assert all(link.is_symlink() for link in links if words[0] != "delete")
    assert run(capsys, root, "undo", "--yes").code == 0
    assert (files_in(tmp_path / "disk"), files_in(root)) == before


def files_in(folder: Path) -> dict[str, tuple[str, int, int]]:
    """As `tree_state`, without the times of folders."""
    return {name: state for name, state in tree_state(folder).items() if not stat.S_ISDIR(state[1])}


def test_deleting_a_session_that_is_a_link_takes_the_link_and_says_so(
    plain: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = linked(plain, tmp_path, "file")
    os.utime(tmp_path / "disk" / f"{S}.jsonl", (1_700_000_000, 1_700_000_000))
    before = tree_state(tmp_path / "disk")
    done = run(capsys, root, "delete", S, "--yes", "--json")
    assert done.code == 0
    assert any("only the link" in note for note in done.data["notes"])
    assert not os.path.lexists(root / "projects" / "-w-app" / f"{S}.jsonl")
    assert tree_state(tmp_path / "disk") == before


def test_what_is_kept_comes_back_through_the_link(
    root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = root / "projects" / "-w-app" / f"{S}.jsonl"
    data = path.read_bytes()
    assert run(capsys, root, "keep").code == 0
    assert "2 of 2 sessions" in run(capsys, root, "keep", "--status").out
    os.unlink(os.path.realpath(path))
    if path.is_symlink():
        path.unlink()
    assert run(capsys, root, "restore", "--all", "--yes").code == 0
    assert path.read_bytes() == data


@pytest.mark.parametrize("kind", ["folder", "projects"])
def test_a_bundle_comes_into_a_home_whose_folder_is_a_link(
    plain: Path, kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = linked(plain, tmp_path, kind)
    bundle = tmp_path / "one.bundle"
    assert run(capsys, root, "bundle", S, "--output", str(bundle)).code == 0
    path = root / "projects" / "-w-app" / f"{S}.jsonl"
    data = path.read_bytes()
    path.unlink()
    shutil.rmtree(path.with_suffix(""))
    told = run(capsys, root, "unbundle", str(bundle), "--yes", "--json")
    assert told.code == 0, told.err
    assert path.read_bytes() == data and (root / "projects" / "-w-app").resolve().is_relative_to(tmp_path / "disk")


class TestLeftOut:
    @pytest.mark.parametrize(
        ("place", "target", "why"),
        [
            ("projects/-loop", ".", "in a circle"),
            ("projects/-up", "..", "in a circle"),
            ("projects/-root", "/", "in a circle"),
            ("projects/-gone", "/nowhere/at/all", "to nothing"),
            ("projects/-dev", "/dev/null", "not a folder"),
            (f"projects/-w-app/{OTHER}.jsonl", "/dev/zero", "not a regular file"),
            (f"projects/-w-app/{OTHER}.jsonl", "/etc/passwd", "not named .jsonl"),
            (f"projects/-w-app/{OTHER}.jsonl", f"{OTHER}.jsonl", "in a circle"),
        ],
    )
    def test_links_that_are_not_followed_are_told_everywhere(
        self, plain: Path, place: str, target: str, why: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (plain / place).symlink_to(target)
        for words in (("list",), ("overview",), ("doctor",)):
            ran = run(capsys, plain, *words)
            said = ran.out + ran.err
            assert Path(place).name in said and why in said, words
        assert any(why in item["why"] for item in run(capsys, plain, "list", "--json").data["left_out"])
        assert len(scan_home(Home(plain)).sessions) == 2
        kept = run(capsys, plain, "keep", "--json")
        assert kept.code == 0 and why in kept.out

    def test_a_pipe_behind_a_link_is_not_waited_for(
        self, plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.mkfifo(tmp_path / "pipe.jsonl")
        (plain / "projects" / "-w-app" / f"{OTHER}.jsonl").symlink_to(tmp_path / "pipe.jsonl")
        assert "not a regular file" in run(capsys, plain, "list").err

    def test_what_a_transcript_names_is_not_read_elsewhere(self, plain: Path, tmp_path: Path) -> None:
        """A link of the store makes its target part of the home, and nothing beside that."""
        from recollect.store.home import is_inside

        root = linked(plain, tmp_path, "folder")
        (tmp_path / "disk" / "secret.txt").write_text("secret")
        home = Home(root)
        assert is_inside(home, tmp_path / "disk" / "-w-app" / S / "tool-results" / "x.txt")
        assert not is_inside(home, tmp_path / "disk" / "secret.txt")
        assert not is_inside(home, root / "projects" / "-w-app" / ".." / "secret.txt")
        planted = root / "projects" / "-w-app" / S / "tool-results"
        planted.mkdir()
        (planted / "x.txt").symlink_to(tmp_path / "disk" / "secret.txt")
        assert not is_inside(home, planted / "x.txt")


def test_the_journal_takes_our_own_lines_for_ours(plain: Path, tmp_path: Path) -> None:
    """Two changes in a row: the second must not mistake the first for a stranger's."""
    from recollect.edit.state_lines import plan_rename

    root = linked(plain, tmp_path, "file")
    (file,) = [item for item in scan_home(Home(root)).sessions if item.session_id == S]
    os.utime(file.path, (1_700_000_000, 1_700_000_000))
    for title in ("one", "two"):
        with plan_rename(Journal(tmp_path / "own"), file, title) as change:
            change.commit()
    assert b'"two"' in file.path.read_bytes()
