"""Clocks that go backwards and files that grow while they are read: nothing is missed, nothing half kept is called whole."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.places import SOAK
from tests.vault.scene import OTHER, SESSION, Scene

from recollect.cli.lean_keep import try_keep
from recollect.vault import capture as capturing
from recollect.vault.verify import verify

YEAR = 365 * 86_400.0
JUMPS = [-10 * YEAR, -3600.0, -1.0, 3600.0, 10 * YEAR]
if SOAK:
    JUMPS += [random.Random(seed).uniform(-1, 1) * 10.0 ** (seed % 10) for seed in range(200)]


@pytest.fixture
def scene(tmp_path: Path, own_home: Path) -> Scene:
    scene = Scene(tmp_path)
    scene.data = own_home / "recollect" / "data"
    scene.cache = own_home / "recollect" / "cache" / "vault"
    return scene


@pytest.mark.parametrize("jump", JUMPS)
def test_what_is_new_is_kept_whatever_the_clock_says(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    scene.keep()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    for turn in range(3):
        path = scene.path((SESSION, OTHER, SESSION)[turn])
        before = path.stat()
        with open(path, "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % turn)
        if turn == 1:  # as a writer with a clock of its own leaves it
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert scene.keep().grown == 1
        assert scene.all_kept() == scene.files()
    data = scene.path().read_bytes()
    scene.path().write_bytes(data[:10] + b"X" + data[11:])
    assert scene.keep().rewritten == 1
    assert scene.all_kept() == scene.files()
    assert verify(scene.vault, deep=True, homes=[scene.home]).findings == []


def test_files_of_the_future_do_not_make_every_keep_slow(scene: Scene) -> None:
    """Times of another clock settle a file as well as those of this one: whoever writes it again leaves another one."""
    for path in scene.home.root.rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() + YEAR,) * 2)
    with pytest.MonkeyPatch.context() as patch:
        real = time.time
        patch.setattr(time, "time", lambda: real() + 3600)  # long after the files came
        scene.keep()
        os.utime(scene.data / "vault" / "checked", (real() + 3600,) * 2)
        assert try_keep(["--home", str(scene.home.root), "keep", "-q"]) == 0
        with open(scene.path(), "ab") as stream:
            stream.write(b"more\n")
        assert try_keep(["--home", str(scene.home.root), "keep"]) is None


def test_a_date_finds_what_was_kept_by_then_also_when_the_clock_went_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    scene.keep()
    first = scene.path().read_bytes()
    monkeypatch.setattr(time, "time", lambda: real() - YEAR)
    with open(scene.path(), "ab") as stream:
        stream.write(b"kept by a clock that is a year behind\n")
    scene.keep()
    monkeypatch.undo()
    file = next(file for file in scene.vault.contents.files.values() if file.path.endswith(f"{SESSION}.jsonl"))
    assert [look.time for look in file.looks] != sorted(look.time for look in file.looks)
    for moment in (None, real(), real() - YEAR / 2, real() + YEAR):
        look = file.at(moment)
        assert look is not None
        assert b"".join(scene.vault.chunks(file, look)).startswith(first)
    assert file.at(real() - 2 * YEAR) is None


def test_a_file_that_grows_while_it_is_read_is_kept_as_it_began(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each read finds more behind; what is kept is a beginning of the file, and the next keep has the rest."""
    path = scene.path()
    reading = capturing._read

    def growing(stream: Any, count: int) -> bytes:
        data = reading(stream, count)
        with open(path, "ab") as more:
            more.write(b'{"type":"tag","tag":"meanwhile"}\n')
        return data

    monkeypatch.setattr(capturing, "_read", growing)
    for _ in range(3):
        scene.keep()
        kept = scene.kept_bytes(path)
        assert path.read_bytes().startswith(kept)
        assert kept.endswith(b"\n")
        assert len(kept) < path.stat().st_size
    monkeypatch.undo()
    scene.keep()
    assert scene.all_kept() == scene.files()
    assert verify(scene.vault, deep=True).findings == []


@pytest.mark.parametrize("how", ["cut", "rewritten", "removed", "replaced"])
def test_a_file_that_changes_while_it_is_read(scene: Scene, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    path = scene.path()
    path.write_bytes(b'{"type":"tag","tag":"a"}\n' * 100_000)
    reading = capturing._read
    calls = 0

    def changing(stream: Any, count: int) -> bytes:
        nonlocal calls
        data = reading(stream, count)
        calls += 1
        if calls == 1:
            if how == "cut":
                os.truncate(path, 1000)
            elif how == "removed":
                path.unlink()
            elif how == "replaced":
                fresh = path.with_name("fresh")
                fresh.write_bytes(b'{"type":"tag","tag":"c"}\n' * 50)
                os.replace(fresh, path)
            else:
                path.write_bytes(b'{"type":"tag","tag":"b"}\n' * 100_000)
        return data

    monkeypatch.setattr(capturing, "_read", changing)
    scene.keep()
    monkeypatch.undo()
    assert calls > 0
    scene.keep()
    kept = scene.all_kept()
    assert {name: kept[name] for name in scene.files()} == scene.files()
    assert verify(scene.vault, deep=True, homes=[scene.home]).is_sound


def test_a_writer_that_never_rests(scene: Scene) -> None:
    """Keeps beside a writer that appends all the time: every kept state is whole lines, and in the end nothing is missing."""
    path = scene.path()
    stop = threading.Event()

    def write() -> None:
        with open(path, "ab", buffering=0) as stream:
            number = 0
            while not stop.is_set():
                stream.write(b'{"type":"tag","tag":"%d"}\n' % number)
                number += 1
                time.sleep(0.0005)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(15):
            scene.keep()
            kept = scene.kept_bytes(path)
            assert kept.endswith(b"\n")
            with open(path, "rb") as stream:
                assert stream.read(len(kept)) == kept
    finally:
        stop.set()
        writer.join()
    scene.keep()
    assert scene.all_kept() == scene.files()
    assert verify(scene.vault, deep=True).findings == []
