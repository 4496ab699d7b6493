"""Appending messages, each synced before the next, against the bare loop: one O_APPEND write and one fsync a line.

Both wait for the disk most of the time, so lines per second of wall time are compared. The writer also takes the lock, looks
whether somebody else wrote, builds the row, and appends only where nobody is in the middle of a line.

What a writer does once, beginning and completing its entry in the journal, is four syncs and has a row of its own: a message
alone, against a file that is opened, written, synced and closed for it.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Series, function, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "append messages"
GOAL = 0.7
LINES = 2000
WORDS = "A message of ordinary length, as people write them. " * 6


def rows(quick: bool) -> Iterator[Row]:
    # Where the generated homes are: on the disk that all benchmarks use, not in memory.
    place = generated_home("tiny", "--preset", "tiny").parent
    lines = 100 if quick else LINES
    bare, synced, unsynced = interleave(
        [
            function("write and fsync", append_bare, place, lines),
            function("append", append_with_writer, place, lines, "sync"),
            function("append, not synced", append_with_writer, place, lines, ""),
        ],
        rounds=5 if quick else 11,
    )
    ratio = _speed_ratio(synced, bare)
    # The table knows upper bounds only: what must be at least 0.7 times as fast takes at most 1 / 0.7 of the time.
    goal = Goal(f">= {GOAL:g} of its speed", 1 / GOAL, 1 / ratio)
    against = "`write` and `fsync` a line (lines per second)"
    each = f"{lines} messages of {len(WORDS)} bytes"
    yield Row(
        ABILITY, f"{each}, synced, {_speed(synced, lines)}", synced.cpu_seconds, synced.peak_mb, against, ratio, goal
    )
    yield Row(ABILITY, f"{each}, not synced, {_speed(unsynced, lines)}", unsynced.cpu_seconds, unsynced.peak_mb)
    yield Row(ABILITY, f"{lines} times `write` and `fsync`, {_speed(bare, lines)}", bare.cpu_seconds, bare.peak_mb)
    alone, bare_alone = interleave(
        [
            function("one message", append_with_writer, place, 1, "sync"),
            function("one line", append_bare, place, 1),
        ],
        rounds=5 if quick else 11,
    )
    ratio = statistics.median(
        mine.wall_seconds / theirs.wall_seconds for mine, theirs in zip(alone.runs, bare_alone.runs, strict=True)
    )
    against = f"a file with one line, synced: {_milliseconds(bare_alone)} (wall time)"
    yield Row(ABILITY, f"one message with a writer of its own, {_milliseconds(alone)}", alone.cpu_seconds, alone.peak_mb,
              against, ratio)  # fmt: skip


def _speed(series: Series, lines: int) -> str:
    return f"{lines / statistics.median(run.wall_seconds for run in series.runs):,.0f}/s"


def _milliseconds(series: Series) -> str:
    return f"{1000 * statistics.median(run.wall_seconds for run in series.runs):.1f} ms"


def _speed_ratio(series: Series, other: Series) -> float:
    pairs = zip(series.runs, other.runs, strict=True)
    return statistics.median(theirs.wall_seconds / mine.wall_seconds for mine, theirs in pairs)


def _scratch(place: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="append-", dir=place))
    atexit.register(shutil.rmtree, folder)
    return folder


def append_bare(place: str, lines: str) -> Callable[[], object]:
    path = _scratch(place) / "bare.jsonl"
    # About as long as the row that the writer makes of these words.
    line = json.dumps({"words": WORDS, "other": "x" * 330}).encode() + b"\n"

    def work() -> int:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            for _ in range(int(lines)):
                os.write(fd, line)
                os.fsync(fd)
        finally:
            os.close(fd)
        return path.stat().st_size

    return work


def append_with_writer(place: str, lines: str, sync: str) -> Callable[[], object]:
    from recollect.edit.append import SessionWriter
    from recollect.format.encode import RowContext
    from recollect.journal.changes import Journal
    from recollect.store.home import Home

    folder = _scratch(place)
    session = "0f0e0d0c-0b0a-4908-8706-050403020100"
    path = folder / "claude" / "projects" / "-work-app" / f"{session}.jsonl"
    path.parent.mkdir(parents=True)
    home, journal = Home(folder / "claude"), Journal(folder / "data")

    def work() -> int:
        with SessionWriter(journal, home, path, RowContext(session, "/work/app"), sync=bool(sync)) as writer:
            for _ in range(int(lines)):
                writer.append_message("user", WORDS)
        return path.stat().st_size

    return work
