"""Faults: killed writers, torn tails, several writers at once, system calls that fail. Nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.store_kinds import KEY, LASTING, SUBAGENT, Kind, everything_in, loaded, row, transcript

from recollect.errors import RecollectError, Refused
from recollect.stores.folder import FolderSessionStore
from recollect.stores.sqlite import SqliteSessionStore

REPOSITORY = Path(__file__).resolve().parents[2]
APPENDER = [sys.executable, "-m", "tests.contracts.appender"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
@pytest.mark.parametrize(
    ("kind", "kills"), [("folder", 15), ("folder-unsynced", 40), ("sqlite", 15), ("sqlite-unsynced", 40)]
)
def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path, kind: str, kills: int) -> None:
    command = [*APPENDER, "kill", kind, str(tmp_path / "store"), str(kills), "7"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kills"] == kills


@pytest.mark.parametrize("kind", LASTING)
def test_two_processes_append_at_the_same_time(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "store"
    running = [
        subprocess.Popen([*APPENDER, "append", kind, str(place), name, "500"], cwd=REPOSITORY)
        for name in ("one", "two")
    ]
    assert [process.wait() for process in running] == [0, 0]

    async def use() -> list[Any]:
        return await loaded(Kind(kind, place).open()) or []

    entries = asyncio.run(use())
    assert len(entries) == 1000
    for name in ("one", "two"):
        assert [entry["n"] for entry in entries if entry["writer"] == name] == list(range(500))
    if kind != "sqlite":
        lines = transcript(place).read_bytes().split(b"\n")
        assert lines.pop() == b""
        assert [json.loads(line) for line in lines] == entries


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        (b'{"type":"user","uuid":"torn","message":{"content":"half a sen', []),
        (b'{"type":"user","uuid":"row-7","n":7}', [row(7)]),
        (b"\x00" * 512, []),
        (b'{"type":"user","uuid":"to\xe4', []),
    ],
    ids=["torn", "whole but for the line feed", "nul bytes", "cut inside a character"],
)
def test_a_torn_tail_is_closed_before_the_next_entry(tmp_path: Path, tail: bytes, kept: list[Any]) -> None:
    async def use() -> None:
        store = FolderSessionStore(tmp_path)
        await store.append(KEY, [row(1)])
        before = transcript(tmp_path).read_bytes()
        with transcript(tmp_path).open("ab") as stream:
            stream.write(tail)
        assert await loaded(store) == [row(1), *kept]
        await FolderSessionStore(tmp_path).append(KEY, [row(2)])
        assert await loaded(store) == [row(1), *kept, row(2)]
        written = transcript(tmp_path).read_bytes()
        assert written == before + tail + b"\n" + json.dumps(row(2), separators=(",", ":")).encode() + b"\n"

    asyncio.run(use())


class Failing:
    """Stands in for a system call; the Nth one fails."""

    def __init__(self, name: str, nth: int, fault: int | None) -> None:
        self.real: Callable[..., Any] = getattr(os, name)
        self.left = nth
        self.fault = fault

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left != 0:
            return self.real(*arguments, **named)
        if self.fault is not None:
            raise OSError(self.fault, os.strerror(self.fault))
        fd, data = arguments  # a short write, and the disk is full for the rest
        self.left, self.fault = 1, errno.ENOSPC
        return self.real(fd, bytes(data)[: len(data) // 2])


@pytest.mark.parametrize(
    ("call", "fault"),
    [("write", None), ("write", errno.ENOSPC), ("write", errno.EIO), ("fsync", errno.EIO), ("fsync", errno.ENOSPC),
     ("open", errno.EACCES), ("open", errno.EMFILE), ("mkdir", errno.EROFS), ("mkdir", errno.ENOSPC),
     ("read", errno.EIO), ("stat", errno.EIO), ("replace", errno.EIO), ("unlink", errno.EIO)],
)  # fmt: skip
def test_whichever_call_fails_the_batch_can_be_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, fault: int | None
) -> None:
    async def attempt(nth: int) -> bool:
        """Whether the batch got through although the Nth call failed."""
        root = tmp_path / str(nth)
        store = FolderSessionStore(root)
        await store.append(SUBAGENT, [row(0)])
        beside = everything_in(root)
        failing = Failing(call, nth, fault)
        error: RecollectError | None = None
        with monkeypatch.context() as patched:
            patched.setattr(os, call, failing)
            try:
                await store.append(KEY, [row(1), row(2)])
            except RecollectError as problem:
                error = problem
        if error is None:
            assert await loaded(FolderSessionStore(root)) == [row(1), row(2)]
        await store.append(KEY, [row(1), row(2)])
        await store.append(KEY, [row(3)])
        assert await loaded(store) == [row(1), row(2), row(3)]
        (summary,) = await store.list_session_summaries("-p")
        assert summary["data"] == {"is_sidechain": False}
        now = everything_in(root)
        assert all(now[path] == data for path, data in beside.items())
        assert not [path for path in now if path.endswith(".new")]
        return failing.left > 0  # not reached: the append has fewer calls of this kind

    for nth in range(1, 60):
        if asyncio.run(attempt(nth)):
            return
    pytest.fail("an append makes more calls than this test expected")


def test_what_a_failed_sync_left_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> None:
        store = FolderSessionStore(tmp_path)
        await store.append(KEY, [row(1)])
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", Failing("fsync", 1, errno.EIO))
            with pytest.raises(RecollectError):
                await store.append(KEY, [row(2)])
        await store.append(KEY, [row(1), row(2)])
        # The system may have thrown the first copy away after it failed to write it: only a new one counts.
        lines = [json.loads(line)["n"] for line in transcript(tmp_path).read_bytes().splitlines()]
        assert lines == [1, 2, 2]
        assert await loaded(store) == [row(1), row(2)]

    asyncio.run(use())


def test_a_full_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    async def use() -> None:
        store = SqliteSessionStore(tmp_path / "store.db")
        await store.append(KEY, [row(1)])
        with store._writing.use() as database:
            (pages,) = database.execute("PRAGMA page_count").fetchone()
            database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(Refused, match="no room"):
            await store.append(KEY, [row(2), row(3, text="x" * 100_000)])
        assert await loaded(store) == [row(1)]
        store.close()
        await store.append(KEY, [row(2), row(3)])
        assert await loaded(store) == [row(1), row(2), row(3)]

    asyncio.run(use())
