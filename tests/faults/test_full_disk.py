"""A real file system that is full, or read-only: what is there can be read, and nothing is changed by what cannot be."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.operations import OPERATIONS
from tests.faults.oracle import append_works, next_run
from tests.faults.scene import Scene

from recollect.errors import Refused
from recollect.graph.thread import find_thread
from recollect.store.read import read_transcript

MEGABYTE = 1 << 20


@pytest.fixture(params=["tmpfs", "ext4"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system of 20 MB of its own."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a file system needs root on Linux")
    place = tmp_path / "disk"
    place.mkdir()
    if request.param == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(place)]
    else:
        image = tmp_path / "image"
        if shutil.which("mkfs.ext4") is None:
            pytest.skip("no mkfs.ext4 here")
        with open(image, "wb") as stream:
            stream.truncate(20 * MEGABYTE)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
        command = ["mount", "-o", "loop", str(image), str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def _fill(disk: Path) -> Path:
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as stream:
        for size in (MEGABYTE, 4096, 1):
            with contextlib.suppress(OSError):
                while stream.write(b"x" * size) == size:
                    pass
        os.fsync(stream.fileno())
    return filler


def _refuses(scene: Scene, perform: Callable[[Scene], None], slug: str) -> None:
    before = scene.photograph()
    with pytest.raises(Refused) as caught:
        perform(scene)
    assert caught.value.slug == slug
    assert scene.photograph() == before
    assert find_thread(read_transcript(scene.transcript(), scene.home)).found


def _append_a_long_line(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "x" * MEGABYTE)


NAMES = ["append with a writer", "create with a writer", "replace", "many files"]


@pytest.mark.parametrize("name", NAMES)
def test_home_and_journal_on_a_full_disk(small_disk: Path, name: str) -> None:
    scene = Scene(small_disk)
    filler = _fill(small_disk)
    _refuses(scene, OPERATIONS[name].perform, "disk-full")
    filler.unlink()
    next_run(scene)
    OPERATIONS[name].perform(scene)
    append_works(scene)


def test_only_the_home_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """The write itself comes out short; the line is taken away again."""
    scene = Scene(small_disk, tmp_path / "data")
    filler = _fill(small_disk)
    os.truncate(filler, filler.stat().st_size - 200_000)
    _refuses(scene, _append_a_long_line, "disk-full")
    _refuses(scene, OPERATIONS["replace"].perform, "disk-full")
    next_run(scene)
    filler.unlink()
    _append_a_long_line(scene)
    append_works(scene)


def test_an_undo_needs_hardly_any_room(small_disk: Path, tmp_path: Path) -> None:
    scene = Scene(small_disk, tmp_path / "data")
    before = scene.photograph()
    OPERATIONS["append as a change"].perform(scene)
    _fill(small_disk)
    scene.journal.undo(scene.journal.record(), scene.home)
    after = scene.photograph()
    assert after == before


@pytest.mark.parametrize("name", NAMES)
def test_a_read_only_home(small_disk: Path, tmp_path: Path, name: str) -> None:
    scene = Scene(small_disk, tmp_path / "data")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        _refuses(scene, OPERATIONS[name].perform, "read-only")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    next_run(scene)
    append_works(scene)


@pytest.mark.parametrize("name", ["replace", "many files", "fork"])
def test_it_is_the_full_disk_that_is_named(small_disk: Path, tmp_path: Path, name: str) -> None:
    scene = Scene(small_disk, tmp_path / "data")
    _fill(small_disk)
    with pytest.raises(Refused) as caught:
        OPERATIONS[name].perform(scene)
    assert caught.value.slug == "disk-full"
    assert str(small_disk) in caught.value.message
    assert str(scene.data) not in caught.value.message
