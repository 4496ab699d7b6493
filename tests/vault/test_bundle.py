"""Bundles that are lies, bombs or traps: refused while they are read, with nothing left behind."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vault.scene import CWD, SESSION, Scene

from recollect.errors import DamagedData, NotFound, RecollectError, Refused
from recollect.format.path_text import project_key
from recollect.library.bundling import Unbundling, write_bundle
from recollect.library.session import Session
from recollect.store.home import Home
from recollect.store.scan import scan_home
from recollect.vault.blocks import DATA, RECORDS, compress, encode_block
from recollect.vault.bundle import (
    BundledFile,
    BundleEnd,
    BundleHead,
    BundleLimits,
    BundleReader,
    FileToBundle,
    encode_bundle,
    magic,
    why_refused,
)
from recollect.vault.writer import encode_records

GOOD = f"projects/-p/{SESSION}.jsonl"


def files_of(data: bytes, limits: BundleLimits | None = None) -> dict[str, bytes]:
    reader = BundleReader(io.BytesIO(data), limits)
    return {file.path: b"".join(chunks) for file, chunks in reader.files()}


def told(path: str = GOOD, data: bytes = b"x" * 100, size: int | None = None) -> BundledFile:
    return BundledFile(path, len(data) if size is None else size, 0, hashlib.sha256(data).digest())


def crafted(files: list[BundledFile], *payloads: bytes, end: bool = True) -> bytes:
    """A bundle with right hashes, whatever it says."""
    head = msgspec.json.encode(BundleHead("/home/ann/.claude", 0.0, [], files))
    parts = [magic(), encode_block(RECORDS, encode_records(head))]
    parts += [encode_block(DATA, payload) for payload in payloads]
    if end:
        parts.append(encode_block(RECORDS, encode_records(msgspec.json.encode(BundleEnd(True)))))
    return b"".join(parts)


def payload(raw: bytes, length: int | None = None) -> bytes:
    return (len(raw) if length is None else length).to_bytes(8, "big") + compress(raw)


@given(
    st.dictionaries(st.integers(0, 99).map(lambda n: f"tasks/{SESSION}/{n}.json"), st.binary(max_size=5000), max_size=6)
)
def test_what_goes_in_comes_out(files: dict[str, bytes]) -> None:
    listed = [FileToBundle(path, 7, lambda data=data: iter([data])) for path, data in files.items()]  # type: ignore[misc]
    assert files_of(b"".join(encode_bundle("/r", 0.0, [], listed))) == files


def test_long_files_are_cut_into_blocks() -> None:
    data = os.urandom(5_000_000)
    listed = [FileToBundle(GOOD, 7, lambda: iter([data[:3_000_000], data[3_000_000:]]))]
    assert files_of(b"".join(encode_bundle("/r", 0.0, [], listed))) == {GOOD: data}


TRAPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "no bundle": (lambda: b"PK\x03\x04 something else", "no-bundle"),
    "empty": (lambda: b"", "no-bundle"),
    "from the future": (lambda: magic(2) + b"anything", "bundle-from-the-future"),
    "twice the same name": (lambda: crafted([told(), told()], payload(b"x" * 200)), "bundle-refused"),
    "the same name in other letters": (
        lambda: crafted([told(), told(GOOD.replace("projects/-p", "projects/-P"))], payload(b"x" * 200)),
        "bundle-refused",
    ),
    "a file below a file": (lambda: crafted([told(), told(GOOD + "/x")], payload(b"x" * 200)), "bundle-refused"),
    "a bomb by its word": (lambda: crafted([told(size=1 << 40)], payload(b"x")), "bundle-refused"),
    "a negative size": (lambda: crafted([told(size=-5)], payload(b"x" * 100)), "bundle-refused"),
    "more bytes than files": (lambda: crafted([told()], payload(b"x" * 101)), "bundle-refused"),
    "another block more": (lambda: crafted([told()], payload(b"x" * 100), payload(b"y")), "bundle-refused"),
    "a block too long": (lambda: crafted([told(size=9 << 20)], payload(b"\0" * (9 << 20))), "bundle-refused"),
    "a block that unpacks to more than it says": (
        lambda: crafted([told()], payload(b"x" * (3 << 20), 100)),
        "bundle-damaged",
    ),
    "a block that says too much": (lambda: crafted([told()], payload(b"x" * 100, 1 << 50)), "bundle-refused"),
    "a ratio beyond all that text has": (
        lambda: crafted([told(size=4 << 20)], payload(b"\0" * (4 << 20))),
        "bundle-refused",
    ),
    "an empty block": (lambda: crafted([told()], payload(b"")), "bundle-refused"),
    "no zstd": (lambda: crafted([told()], (100).to_bytes(8, "big") + b"not packed"), "bundle-damaged"),
    "too few bytes": (lambda: crafted([told(size=200)], payload(b"x" * 100)), "bundle-refused"),
    "other bytes than it says": (lambda: crafted([told()], payload(b"y" * 100)), "bundle-damaged"),
    "no end": (lambda: crafted([told()], payload(b"x" * 100), end=False), "bundle-damaged"),
    "something behind the end": (lambda: crafted([told()], payload(b"x" * 100)) + b"x", "bundle-refused"),
    "a head of another kind": (
        lambda: magic() + encode_block(RECORDS, encode_records(b'{"files":17}')),
        "bundle-damaged",
    ),
    "a head that is nested deeply": (
        lambda: magic() + encode_block(RECORDS, encode_records(b"[" * 100_000)),
        "bundle-damaged",
    ),
    "a head that is a bomb": (
        lambda: magic() + encode_block(RECORDS, encode_records(b" " * (80 << 20))),
        "bundle-refused",
    ),
    "the same name with its accent apart": (
        lambda: crafted(
            [told(f"tasks/{SESSION}/\u00e9.json"), told(f"tasks/{SESSION}/e\u0301.json")], payload(b"x" * 200)
        ),
        "bundle-refused",
    ),
    "a second frame behind the first": (
        lambda: crafted([told()], (100).to_bytes(8, "big") + compress(b"x" * 100) + compress(b"y" * 100)),
        "bundle-damaged",
    ),
    "a frame that breaks off": (
        lambda: crafted([told()], (100).to_bytes(8, "big") + compress(os.urandom(100))[:-9]),
        "bundle-damaged",
    ),
    "a payload without its length": (lambda: crafted([told()], b"xyz"), "bundle-refused"),
    "two heads": (
        lambda: crafted([told()], end=False) + crafted([told()], payload(b"x" * 100))[len(magic()) :],
        "bundle-refused",
    ),
    "files in another order than their bytes": (
        lambda: crafted(
            [told(), told(f"tasks/{SESSION}/1.json", b"y" * 100)], payload(b"y" * 100), payload(b"x" * 100)
        ),
        "bundle-damaged",
    ),
    "a time beyond all times": (
        lambda: crafted([BundledFile(GOOD, 100, 1 << 62, hashlib.sha256(b"x" * 100).digest())], payload(b"x" * 100)),
        "bundle-refused",
    ),
    "sizes that add up to more than anybody has": (
        lambda: crafted([told(f"tasks/{SESSION}/{n}.json", size=1 << 62) for n in range(4)]),
        "bundle-refused",
    ),
    "a secret of the home": (
        lambda: crafted([told("projects/-p/.credentials.json")], payload(b"x" * 100)),
        "bundle-refused",
    ),
    "a bomb of many blocks": (
        lambda: crafted([told(size=1 << 35)], *[payload(b"\0" * (1 << 20))] * 3),
        "bundle-refused",
    ),
    "a million files": (
        lambda: crafted([told(f"tasks/{SESSION}/{number}.json", b"") for number in range(100_001)]),
        "bundle-refused",
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_traps_are_refused(tmp_path: Path, name: str) -> None:
    scene = Scene(tmp_path)
    before = {path: path.lstat().st_mtime_ns for path in scene.home.root.rglob("*")}
    make, slug = TRAPS[name]
    path = tmp_path / "trap.recollect"
    path.write_bytes(make())
    with pytest.raises(RecollectError) as caught:
        scene.journal.staging.parent.mkdir(exist_ok=True)
        with Unbundling(scene.journal, path):
            pass
    assert caught.value.slug == slug, caught.value
    assert {path: path.lstat().st_mtime_ns for path in scene.home.root.rglob("*")} == before
    assert not any(scene.journal.staging.iterdir()), "nothing is left of it"


@pytest.mark.parametrize("place", ["folder of the project"])
def test_a_link_that_stands_in_the_home_leads_nothing_out_of_it(tmp_path: Path, place: str) -> None:
    """The bundle is fine; the home it is to go into has a trap."""
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "there"
    root.mkdir()
    if place == "projects":
        (root / "tasks").symlink_to(outside)
    else:
        (root / "tasks").mkdir()
        (root / "tasks" / SESSION).symlink_to(outside)
    path = tmp_path / "good.recollect"
    path.write_bytes(crafted([told(f"tasks/{SESSION}/1.json")], payload(b"x" * 100)))
    scene = Scene(tmp_path / "scene")
    scene.data.mkdir()
    with Unbundling(scene.journal, path) as bundle:
        change, result = bundle.plan(Home(root))
        with change:
            if result.files:
                change.commit()
    assert list(outside.iterdir()) == []
    assert (result.files, len(result.left)) == ([], 1)


@pytest.mark.parametrize(
    "path",
    [
        "../outside.jsonl", "projects/../../outside", "/etc/passwd", "projects//x.jsonl", "projects/./x.jsonl", "",
        "projects/-p/..", "projects\\-p\\x.jsonl", "projects/-p/x\x00.jsonl", "projects/-p/x\n.jsonl", "C:/projects/x",
        "projects/C:x/y.jsonl", "projects/-p/x.jsonl.", "projects/-p/ x.jsonl", "settings.json", ".claude.json",
        ".credentials.json", "projects/.credentials.json", "sessions/1.key", "projects/-p/x.key", "history.jsonl",
        "hooks/run.sh", "commands/x.md", "CLAUDE.md", "plugins/x", "projects/-p/" + "x" * 300, "projects/" + "x/" * 600,
        "projects/-p/\u202egpj.jsonl", "session-env/x/y", "backups/.claude.json.backup",
    ],
)  # fmt: skip
def test_places_that_no_session_has(path: str) -> None:
    assert why_refused(path) is not None
    if "\udcff" not in path:
        with pytest.raises(Refused):
            files_of(crafted([told(path)], payload(b"x" * 100)))


def test_every_cut_and_every_flipped_byte_is_found() -> None:
    good = crafted([told(), told(f"tasks/{SESSION}/1.json", b"{}")], payload(b"x" * 100 + b"{}"))
    assert files_of(good) == {GOOD: b"x" * 100, f"tasks/{SESSION}/1.json": b"{}"}
    for length in range(len(good)):
        with pytest.raises((Refused, DamagedData)):
            files_of(good[:length])
    for position in range(len(good)):
        flipped = bytearray(good)
        flipped[position] ^= 1 << position % 8
        with pytest.raises((Refused, DamagedData)):
            files_of(bytes(flipped))


@given(st.binary(max_size=2000))
def test_noise_is_never_a_bundle(noise: bytes) -> None:
    with pytest.raises((Refused, DamagedData)):
        files_of(magic() + noise)


# --- whole sessions ---------------------------------------------------------------------------------------------------


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "here")


def bundled(scene: Scene) -> Path:
    file = next(item for item in scan_home(scene.home).sessions if item.session_id == SESSION)
    target = scene.folder / "talk.recollect"
    write_bundle([Session(file)], target)
    return target


def unbundle(scene: Scene, root: Path, *maps: tuple[str, str]) -> Home:
    home = Home(root)
    with Unbundling(scene.journal, bundled(scene)) as bundle:
        change, result = bundle.plan(home, maps)
        with change:
            change.commit()
    assert result.sessions == [SESSION]
    return home


def test_a_session_arrives_with_all_that_belongs_to_it(scene: Scene, tmp_path: Path) -> None:
    home = unbundle(scene, tmp_path / "there")
    found = {
        path.relative_to(home.root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in home.root.rglob("*")
        if path.is_file()
    }
    expected = {
        name: (data, (scene.home.root / name).stat().st_mtime_ns)
        for name, data in scene.files().items()
        if SESSION in name
    }
    assert found == expected
    assert len(found) == 6


def test_paths_become_others(scene: Scene, tmp_path: Path) -> None:
    home = unbundle(scene, tmp_path / "there", (CWD, "/home/ann/notes"))
    session = scan_home(home).sessions[0]
    assert session.folder == project_key("/home/ann/notes")
    assert Session(session).summary.project == "/home/ann/notes"
    assert session.path.stat().st_mtime_ns == scene.path().stat().st_mtime_ns
    for path in home.root.rglob("*.jsonl"):
        assert b"bundle-" not in path.read_bytes(), "nothing speaks of the place where it was unpacked"


def test_a_map_that_is_about_nothing(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        unbundle(scene, tmp_path / "there", ("/somewhere/else", "/home/ann"))
    assert (caught.value.slug, caught.value.nearest) == ("no-such-project", (CWD,))
    assert not (tmp_path / "there").exists()
    assert not any(scene.journal.staging.iterdir())


def test_what_stands_there_and_is_newer_stays(scene: Scene, tmp_path: Path) -> None:
    root = tmp_path / "there"
    place = root / scene.path().relative_to(scene.home.root)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"newer\n")
    with Unbundling(scene.journal, bundled(scene)) as bundle:
        change, result = bundle.plan(Home(root))
        with change:
            change.commit()
    assert place.read_bytes() == b"newer\n"
    assert [item["why"] for item in result.left] == ["a newer one stands there"]


def test_an_existing_file_is_not_overwritten(scene: Scene) -> None:
    (scene.folder / "talk.recollect").write_bytes(b"mine")
    with pytest.raises(Refused) as caught:
        bundled(scene)
    assert caught.value.slug == "exists"
    assert (scene.folder / "talk.recollect").read_bytes() == b"mine"
