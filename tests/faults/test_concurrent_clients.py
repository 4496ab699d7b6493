"""A client that knows nothing of us appends to the same session, in three ways, while we append, rename and undo.

Its lines stay whole and in order, and ours are all there. Linux grants this with file leases (`journal/locks.py`). A
client that opens, writes and closes is never interrupted, in however many pieces it writes a line; behind one that keeps
the file open a line is written only when it rests after a whole line, and nothing is undone.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.faults.kills import Child, Tell
from tests.faults.places import SOAK, quick_folder
from tests.faults.scene import SESSION, Scene

from recollect.errors import RecollectError, Refused, StoreBusy
from recollect.format.encode import custom_title, encode_line
from recollect.journal import guard

SECONDS = 20.0
REST = 1 if SOAK else 5
"""How long everybody rests between two lines, in their own measure: files grow less, and there is room for other tests."""
CHUNK = 64 << 10
Client = Callable[[Path, float], None]
__all__ = ["quick_folder"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell whether somebody has a file open")


def _foreign_line(number: int, size: int) -> bytes:
    entry = {
        "type": "system",
        "subtype": "foreign",
        "sessionId": SESSION,
        "number": number,
        "pad": "f" * size,
        "size": size,
    }
    return json.dumps(entry).encode() + b"\n"


def single_writes(path: Path, until: float) -> None:
    """Open, one write a line, close: as the client does."""
    chance = random.Random(1)
    number = 0
    while time.monotonic() < until:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, _foreign_line(number, chance.randrange(200, 100_000)))
        os.close(fd)
        number += 1
        time.sleep(REST * chance.uniform(0, 0.002))


def chunks(path: Path, until: float) -> None:
    """Open, a line in pieces of 64 KiB, close: as a client may do with long lines."""
    chance = random.Random(2)
    number = 0
    while time.monotonic() < until:
        line = _foreign_line(number, chance.randrange(200, 400_000))
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        for start in range(0, len(line), CHUNK):
            os.write(fd, line[start : start + CHUNK])
            time.sleep(chance.uniform(0, 0.001))
        os.close(fd)
        number += 1
        time.sleep(REST * chance.uniform(0, 0.005))


def buffered(path: Path, until: float) -> None:
    """Keeps the file open, and writes when its buffer is full, wherever in a line that is; now and then it rests."""
    chance = random.Random(3)
    number = 0
    with open(path, "ab", buffering=8192) as stream:
        while time.monotonic() < until:
            for _ in range(chance.randrange(1, 30)):
                stream.write(_foreign_line(number, chance.randrange(200, 5_000)))
                number += 1
                time.sleep(chance.uniform(0, 0.002))
            if chance.random() < 0.7:
                stream.flush()
            time.sleep(chance.choice([0, 0.01, 0.3]))


def test_nobody_loses_a_line(quick_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three clients at the same time, each in a home of its own with a process that works beside it."""
    monkeypatch.setattr(guard, "RECENT_SECONDS", 0.0)  # else no undo is even tried beside a client
    beside = {}
    for client in (single_writes, chunks, buffered):
        folder = quick_folder / client.__name__
        folder.mkdir()
        beside[client] = Child(partial(_work_beside, client, folder))
    for client, child in beside.items():
        assert child.end() == [b"all is there"], client.__name__
        assert child.status == 0, client.__name__


def _work_beside(client: Client, folder: Path, tell: Tell) -> None:
    scene = Scene(folder)
    path = scene.transcript()
    old = path.read_bytes()
    until = time.monotonic() + SECONDS
    pid = os.fork()
    if pid == 0:
        try:
            client(path, until)
        finally:
            os._exit(0)
    try:
        ours, said = _work_beside_it(scene, until)
    finally:
        os.waitpid(pid, 0)
    assert path.read_bytes().startswith(old)
    foreign, found = [], []
    for line in _lines(path.read_bytes()[len(old) :]):
        if line.get("subtype") == "foreign":
            assert len(str(line["pad"])) == line["size"]
            foreign.append(line["number"])
        else:
            found.append(str(line.get("uuid") or line["customTitle"]))
    assert foreign == list(range(len(foreign)))
    assert len(foreign) > 20
    assert found == ours
    assert said["appended"] > 0, said
    if client is not buffered:
        assert said["renamed"] > 0 and said["undone"] > 0, said
    tell(b"all is there")
    os._exit(0)


def _lines(data: bytes) -> Iterator[dict[str, object]]:
    assert data.endswith(b"\n")
    for line in data.splitlines():
        yield json.loads(line)


def _work_beside_it(scene: Scene, until: float) -> tuple[list[str], Counter[str]]:
    """Append, rename and undo until the time is up. What must be in the file then, in order, and how often each succeeded."""
    ours: list[str] = []
    said: Counter[str] = Counter()
    title = 0
    while time.monotonic() < until:
        try:
            with scene.writer() as writer:
                ours.append(writer.append_message("user", "ours " * 50))
            said["appended"] += 1
            _undo(scene, ours, said)
            title += 1
            with scene.journal.change(scene.home, "rename", "rename") as change:
                change.append(scene.transcript(), encode_line(custom_title(SESSION, f"title {title}")), keep_mtime=True)
                change.commit()
            ours.append(f"title {title}")
            said["renamed"] += 1
            _undo(scene, ours, said)
        except StoreBusy:
            said["busy"] += 1
        time.sleep(REST * 0.001)
    return ours, said


def _undo(scene: Scene, ours: list[str], said: Counter[str]) -> None:
    journal = scene.journal
    try:
        journal.undo(journal.record(), scene.home)
    except Refused:  # the client has written behind it
        said["refused"] += 1
        return
    ours.pop()
    said["undone"] += 1


def test_a_session_that_is_written_all_the_time_is_left_alone(quick_folder: Path) -> None:
    """In the middle of somebody's line nothing is written, not even by force."""
    scene = Scene(quick_folder)
    path = scene.transcript()
    with open(path, "ab") as stream:
        stream.write(b'{"type":"user","half of a li')
        stream.flush()
        before = path.read_bytes()
        with pytest.raises(StoreBusy) as caught, scene.writer() as writer:
            writer.append_message("user", "in between?")
        assert caught.value.exit_code == 5
        assert path.read_bytes() == before
    with scene.writer() as writer:  # nobody has it open any more: the line was left by a crash
        writer.append_message("user", "after it")
    assert path.read_bytes().startswith(before + b"\n{")


def test_a_file_that_somebody_writes_is_not_cut(quick_folder: Path) -> None:
    scene = Scene(quick_folder)
    path = scene.transcript()
    with scene.writer() as writer:
        writer.append_message("user", "to be undone")
    before = path.read_bytes()
    record = scene.journal.record()
    with open(path, "ab"), pytest.raises(StoreBusy):
        scene.journal.undo(record, scene.home)
    assert path.read_bytes() == before
    with open(path, "rb"):  # who reads does not matter
        scene.journal.undo(scene.journal.record(), scene.home)
    assert len(path.read_bytes()) < len(before)


def test_a_write_into_a_file_at_the_moment_it_is_replaced_is_kept(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.journal import disk

    scene = Scene(quick_folder)
    path = scene.root / "settings.json"
    real = disk.put_in_place

    def write_first(*arguments: Path) -> None:
        with open(path, "ab") as stream:
            stream.write(b" ")
        real(*arguments)

    monkeypatch.setattr(disk, "put_in_place", write_first)
    with pytest.raises(RecollectError), scene.journal.change(scene.home, "write", "write") as change:
        change.write(path, [b"{}"], replace=True)
        change.commit()
    assert path.read_bytes() == b'{"model":"opus"} '


@pytest.mark.parametrize("call", ["link_or_copy", "replace"])
def test_a_write_into_a_file_at_the_moment_its_change_is_undone_is_kept(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    from recollect.journal import disk

    scene = Scene(quick_folder)
    path = scene.root / "settings.json"
    with scene.journal.change(scene.home, "write", "write") as change:
        change.write(path, [b"{}"], replace=True)
        change.commit()
    real = getattr(disk, call)

    def write_first(source: Path, target: Path) -> None:
        if path in (source, target):
            with open(path, "ab") as stream:
                stream.write(b" ")
        real(source, target)

    monkeypatch.setattr(disk, call, write_first)
    with pytest.raises(StoreBusy):
        scene.journal.undo(scene.journal.record(), scene.home)
    assert path.read_bytes() == b"{} "
    assert scene.journal.record().state == "done"
