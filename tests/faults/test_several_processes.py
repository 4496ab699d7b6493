"""Several Recollect processes at once: they wait for each other, and nothing is lost."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.faults.places import quick_folder
from tests.faults.scene import BYSTANDER, SESSION, Scene, build_home

from recollect.errors import StoreBusy
from recollect.format.encode import custom_title, encode_line
from recollect.graph.thread import find_thread
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.store.read import read_transcript

__all__ = ["quick_folder"]
PROCESSES, APPENDS = 4, 50


def _fork(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


def _wait(pids: list[int]) -> None:
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * len(pids)


@pytest.mark.parametrize("one_writer_each", [True, False], ids=["one writer each", "a new writer for each line"])
def test_one_chain_whoever_writes(quick_folder: Path, one_writer_each: bool) -> None:
    scene = Scene(quick_folder)
    path = scene.transcript(BYSTANDER)
    old = path.read_bytes()

    def append(process: int) -> None:
        if one_writer_each:
            with scene.writer(BYSTANDER) as writer:
                for number in range(APPENDS):
                    writer.append_message("user", f"{process} {number}")
        else:
            for number in range(APPENDS):
                with scene.writer(BYSTANDER) as writer:
                    writer.append_message("user", f"{process} {number}")

    _wait([_fork(partial(append, process)) for process in range(PROCESSES)])

    assert path.read_bytes().startswith(old)
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    new = rows[-PROCESSES * APPENDS :]
    said = [row["message"]["content"] for row in new]
    assert sorted(said) == sorted(f"{process} {number}" for process in range(PROCESSES) for number in range(APPENDS))
    for process in range(PROCESSES):
        own = [text for text in said if text.startswith(f"{process} ")]
        assert own == [f"{process} {number}" for number in range(APPENDS)]
    messages = [row for row in rows if "uuid" in row]
    assert [row["parentUuid"] for row in messages[1:]] == [row["uuid"] for row in messages[:-1]], "one chain, one leaf"
    times = [row["timestamp"] for row in messages]
    assert times == sorted(set(times))
    chain = find_thread(read_transcript(path, scene.home)).chain
    assert [row.uuid for row in chain][-len(new) :] == [row["uuid"] for row in new]


def test_changes_of_two_homes_have_numbers_of_their_own(quick_folder: Path) -> None:
    """One journal, one numbering, whichever home a change belongs to."""
    scene = Scene(quick_folder)
    second = Home(quick_folder / "second")
    build_home(second.root)

    def rename(home: Home) -> None:
        path = home.projects / "-work-notes" / f"{SESSION}.jsonl"
        for number in range(20):
            with Journal(scene.data).change(home, "rename", "rename") as change:
                change.append(path, encode_line(custom_title(SESSION, str(number))))
                change.commit()

    _wait([_fork(partial(rename, home)) for home in (scene.home, second)])
    records = scene.journal.records()
    assert [record.number for record in records] == list(range(40, 0, -1))
    assert {record.state for record in records} == {"done"}


def test_who_waits_too_long_is_told(quick_folder: Path) -> None:
    scene = Scene(quick_folder)
    ready, go = os.pipe()

    def hold() -> None:
        with scene.journal.locked(scene.home):
            os.write(go, b"x")
            time.sleep(60)

    pid = _fork(hold)
    try:
        os.read(ready, 1)
        journal = Journal(scene.data, lock_seconds=0.1)
        with pytest.raises(StoreBusy) as caught, journal.change(scene.home, "rename", "rename") as change:
            change.append(scene.transcript(), encode_line(custom_title(SESSION, "late")))
            change.commit()
        assert caught.value.exit_code == 5
        assert caught.value.slug == "locked"
        assert caught.value.hint
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    with journal.change(scene.home, "rename", "rename") as change:  # a killed process leaves no lock behind
        change.append(scene.transcript(), encode_line(custom_title(SESSION, "late")))
        change.commit()


def test_a_plan_is_not_carried_out_on_a_file_that_changed(quick_folder: Path) -> None:
    scene = Scene(quick_folder)
    with scene.journal.change(scene.home, "write", "write") as change:
        change.rely_on(scene.transcript())
        change.write(scene.root / "new.txt", [b"x"])
        with open(scene.transcript(), "ab") as stream:
            stream.write(b"{}\n")
        with pytest.raises(StoreBusy) as caught:
            change.commit()
    assert caught.value.slug == "changed-meanwhile"
    assert not (scene.root / "new.txt").exists()
    assert not scene.litter(scene.photograph())


def test_a_line_follows_what_came_after_the_plan(quick_folder: Path) -> None:
    """A title does not depend on what a session holds: it goes behind whatever the client wrote since."""
    scene = Scene(quick_folder)
    path = scene.transcript()
    old = path.read_bytes()
    line = encode_line(custom_title(SESSION, "late"))
    with scene.journal.change(scene.home, "rename", "rename") as change:
        change.append(path, line)
        with open(path, "ab") as stream:
            stream.write(b'{"cut')
        os.utime(path, (1_600_000_000, 1_600_000_000))  # else an undo would wait for the client
        change.commit()
    assert path.read_bytes() == old + b'{"cut\n' + line
    scene.journal.undo(scene.journal.record(), scene.home)
    assert path.read_bytes() == old + b'{"cut'


def test_a_session_that_was_removed_is_not_made_again(quick_folder: Path) -> None:
    scene = Scene(quick_folder)
    with pytest.raises(StoreBusy) as caught, scene.writer() as writer:
        with scene.journal.change(scene.home, "delete", "delete") as change:
            change.remove(scene.transcript())
            change.commit()
        writer.append_message("user", "to whom?")
    assert caught.value.slug == "changed-meanwhile"
    assert not scene.transcript().exists()
