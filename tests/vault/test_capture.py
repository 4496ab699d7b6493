"""Keeping: everything once, what is new by byte range, and every generation of what was rewritten."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vault.scene import SESSION, Scene

from recollect.store.home import Home, open_inside
from recollect.vault import capture as capturing
from recollect.vault.capture import capture, session_of
from recollect.vault.verify import verify
from recollect.vault.writer import BLOCK


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def generations(scene: Scene, path: Path) -> dict[int, bytes]:
    vault = scene.vault
    file = next(file for file in vault.contents.files.values() if path == scene.home.root / file.path)
    found = {}
    for look in file.looks:
        found[look.generation] = b"".join(vault.chunks(file, look))
    return found


def test_everything_is_kept_and_nothing_secret(scene: Scene) -> None:
    report = scene.keep()
    assert report.new == report.files == len(scene.files())
    assert scene.all_kept() == scene.files()
    assert not any(b"secret" in data for data in scene.all_kept().values())
    assert verify(scene.vault, deep=True, homes=[scene.home]).findings == []


def test_nothing_new_costs_no_byte(scene: Scene) -> None:
    scene.keep()
    before = {path: path.stat() for path in scene.data.rglob("*") if path.is_file()}
    report = scene.keep()
    assert (report.changed, report.bytes, report.stored) == (0, 0, 0)
    assert {path: path.stat() for path in scene.data.rglob("*") if path.is_file()} == before


def test_nothing_new_without_the_cache_either(scene: Scene) -> None:
    scene.keep()
    report = capture(scene.vault, scene.home)
    assert (report.changed, report.stored) == (0, 0)


def test_a_file_that_grew_is_kept_from_where_it_ended(scene: Scene) -> None:
    big = scene.path()
    big.write_bytes(os.urandom(4 * BLOCK))
    scene.keep()
    with open(big, "ab") as stream:
        stream.write(b"one more line\n")
    report = scene.keep()
    assert (report.grown, report.rewritten, report.bytes) == (1, 0, len(b"one more line\n"))
    assert report.sessions == {SESSION}
    assert scene.kept_bytes(big) == big.read_bytes()
    assert generations(scene, big).keys() == {1}


def test_many_small_steps_become_few_pieces(scene: Scene) -> None:
    path = scene.path()
    stored = 0
    for number in range(100):
        with open(path, "ab") as stream:
            stream.write(b'{"line":%d,"words":"%s"}\n' % (number, b"again and again " * 20))
        stored += scene.keep().stored
    vault = scene.vault
    file = next(file for file in vault.contents.files.values() if file.path.endswith(f"{SESSION}.jsonl"))
    assert len(file.generations[1].pieces) < 20
    assert scene.kept_bytes(path) == path.read_bytes()
    pieces = [piece for commit, _ in vault.manifest.commits for record in commit.files for piece in record.pieces]
    again = sum(piece.length for piece in pieces) / path.stat().st_size
    assert 1 < again < 4, "no byte is stored again more than a few times"
    assert stored < path.stat().st_size * 8


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data[:-100], id="shrunk"),
        pytest.param(lambda data: b"X" + data[1:], id="first byte"),
        pytest.param(lambda data: data[:-1] + b"X", id="last byte"),
        pytest.param(lambda data: b"other\n" + data, id="grown in front"),
        pytest.param(lambda data: data[:0], id="emptied"),
    ],
)
def test_a_rewritten_file_keeps_its_old_generation(scene: Scene, change: object) -> None:
    path = scene.path()
    scene.keep()
    old = path.read_bytes()
    new = change(old)  # type: ignore[operator]
    path.write_bytes(new)
    assert scene.keep().rewritten == 1
    assert generations(scene, path) == {1: old, 2: new}
    assert verify(scene.vault, deep=True).findings == []


def test_the_same_size_and_time_deceive_nobody(scene: Scene) -> None:
    """An editor that sets the time back cannot set back the time at which it did so."""
    path = scene.path()
    scene.keep()
    before, old = path.stat(), path.read_bytes()
    path.write_bytes(b"X" + old[1:])
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    scene.keep()
    assert generations(scene, path) == {1: old, 2: b"X" + old[1:]}


def test_a_change_in_the_middle_of_a_long_file_that_also_grew(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of long files only beginning and end are compared; `--full` compares all."""
    monkeypatch.setattr(capturing, "COMPARE_ALL", BLOCK)
    path = scene.path()
    old = os.urandom(6 * BLOCK)
    path.write_bytes(old)
    scene.keep()
    new = old[: 2 * BLOCK] + bytes([old[2 * BLOCK] ^ 1]) + old[2 * BLOCK + 1 :] + b"more"
    with open(path, "r+b") as stream:
        stream.write(new)
    scene.keep(full=True)
    assert generations(scene, path) == {1: old, 2: new}


def test_another_time_alone_is_noted(scene: Scene) -> None:
    path = scene.path()
    scene.keep()
    os.utime(path, ns=(1_500_000_000 * 10**9,) * 2)
    report = scene.keep()
    assert (report.changed, report.bytes) == (0, 0)
    file = next(file for file in scene.vault.contents.files.values() if scene.home.root / file.path == path)
    assert file.last.mtime_ns == 1_500_000_000 * 10**9


def test_a_moved_file_is_not_stored_again(scene: Scene) -> None:
    path = scene.path()
    path.write_bytes(os.urandom(3 * BLOCK))
    scene.keep()
    target = scene.home.projects / "-work-elsewhere" / path.name
    target.parent.mkdir()
    path.rename(target)
    assert scene.keep().stored < 4000
    assert scene.kept_bytes(target) == target.read_bytes() == scene.kept_bytes(path)


def test_the_same_bytes_are_stored_once(scene: Scene) -> None:
    scene.keep()
    data = os.urandom(50_000)
    for name in ("one", "two", "three"):
        (scene.home.root / "file-history" / SESSION / f"{name}@v1").write_bytes(data)
    assert 50_000 < scene.keep().stored < 60_000


def test_a_half_written_line_is_completed_later(scene: Scene) -> None:
    path = scene.path()
    with open(path, "ab") as stream:
        stream.write(b'{"half')
    scene.keep()
    with open(path, "ab") as stream:
        stream.write(b'":1}\n')
    assert scene.keep().rewritten == 0
    assert scene.kept_bytes(path) == path.read_bytes()


def test_pipes_and_links_not_of_the_store_are_told_and_not_followed(scene: Scene, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"not ours")
    (scene.path().parent / "link.jsonl").symlink_to(outside)
    (scene.path().with_suffix("") / "tool-results").mkdir(parents=True, exist_ok=True)
    (scene.path().with_suffix("") / "tool-results" / "link.txt").symlink_to(outside)
    os.mkfifo(scene.path().parent / "pipe.jsonl")
    report = scene.keep()
    assert sorted(text.rpartition("/")[2] for text in report.skipped) == [
        "link.jsonl: a link out of the home to a file that is not named .jsonl",
        "link.txt: a link",
        "pipe.jsonl: not a regular file",
    ]
    assert b"not ours" not in scene.all_kept().values()


def test_an_unreadable_file_keeps_nothing_else_from_being_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(home: Home, path: Path, **options: int) -> object:
        if path.name == f"{SESSION}.jsonl":
            raise FileNotFoundError(path)
        return open_inside(home, path, **options)

    monkeypatch.setattr("recollect.vault.capture.open_inside", refuse)
    assert len(scene.keep().skipped) == 1
    monkeypatch.undo()
    assert scene.keep().new == 1
    assert scene.all_kept() == scene.files()


def test_a_file_that_cannot_be_read_to_its_end(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad sector of the home's disk is told; everything else is kept."""

    class Torn(io.FileIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    def tear(home: Home, path: Path, **options: int) -> object:
        return Torn(path) if path.name == f"{SESSION}.jsonl" else open_inside(home, path, **options)

    monkeypatch.setattr("recollect.vault.capture.open_inside", tear)
    report = scene.keep()
    assert [text.partition(": ")[2] for text in report.skipped] == ["cannot be read: Input/output error"]
    monkeypatch.undo()
    assert len(scene.all_kept()) == len(scene.files()) - 1
    scene.keep()
    assert scene.all_kept() == scene.files()


def test_names_of_any_bytes(scene: Scene) -> None:
    folder = os.fsencode(scene.home.root / "file-history" / SESSION)
    with open(folder + b"/\xff\xfe caf\xc3\xa9@v1", "wb") as stream:
        stream.write(b"odd name")
    scene.keep()
    assert scene.all_kept() == scene.files()


def test_folders_and_files_are_private(scene: Scene) -> None:
    scene.keep()
    for path in [scene.data / "vault", *(scene.data / "vault").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_two_homes_with_the_same_session(scene: Scene, tmp_path: Path) -> None:
    second = Scene(tmp_path / "second")
    second.path().write_bytes(b"another story\n")
    scene.keep()
    capture(scene.vault, second.home, cache=scene.cache)
    contents = scene.vault.contents
    assert sorted(contents.homes.values()) == sorted([scene.home.real_root, second.home.real_root])
    name = scene.path().relative_to(scene.home.root).as_posix()
    kept = {b"".join(scene.vault.chunks(file)) for (_, path), file in contents.files.items() if path == name}
    assert kept == {scene.path().read_bytes(), b"another story\n"}


def test_a_commit_within_a_long_file(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.vault.writer.COMMIT", 2 * BLOCK)
    monkeypatch.setattr("recollect.vault.writer.PACK", 3 * BLOCK)
    path = scene.path()
    path.write_bytes(os.urandom(7 * BLOCK + 12345))
    scene.keep()
    assert len(list((scene.data / "vault" / "packs").iterdir())) > 1
    assert scene.kept_bytes(path) == path.read_bytes()
    assert generations(scene, path).keys() == {1}
    assert verify(scene.vault, deep=True, homes=[scene.home]).findings == []


ACTIONS = ["append", "rewrite", "cut", "touch", "remove"]


@settings(max_examples=40)
@given(steps=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 1 << 16)), max_size=8))
def test_every_state_that_was_kept_comes_back(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("states")
    home = Home(folder / "claude")
    path = home.projects / "-p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{}\n")
    scene = Scene.__new__(Scene)
    scene.home, scene.data, scene.cache = home, folder / "data", folder / "cache"
    states: list[bytes] = []
    for action, number in [("touch", 0), *steps]:
        old = path.read_bytes() if path.exists() else b""
        if action == "append":
            path.write_bytes(old + b"%d line\n" % number * (number % 500))
        elif action == "rewrite":
            path.write_bytes(b"%d other\n" % number * (number % 700))
        elif action == "cut":
            path.write_bytes(old[: number % (len(old) + 1)])
        elif action == "remove":
            path.unlink(missing_ok=True)
        scene.keep()
        if path.exists() and (not states or states[-1] != path.read_bytes()):
            states.append(path.read_bytes())
    vault = scene.vault
    file = next(iter(vault.contents.files.values()))
    seen: list[bytes] = []
    for look in file.looks:
        data = b"".join(vault.chunks(file, look))
        if not seen or seen[-1] != data:
            seen.append(data)
    assert seen == states
    assert verify(vault, deep=True).findings == []


@pytest.mark.parametrize(
    ("path", "session"),
    [
        (f"projects/-p/{SESSION}.jsonl", SESSION),
        (f"projects/-p/{SESSION}/tool-results/x.txt", SESSION),
        ("projects/-p/agent-1234567.jsonl", None),
        ("projects/-p/memory/MEMORY.md", None),
        ("history.jsonl", None),
    ],
)
def test_whose_a_path_is(path: str, session: str | None) -> None:
    assert session_of(path) == session
