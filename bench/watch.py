"""From the moment a line is complete on disk until a watch hands it on, while another process writes as a client does.

The writer is a process of its own; both sides read the clock that the whole machine shares. Homes of 3,000 and of 100,000
transcripts, with changes told by the system and without. Beside the delay: how long the start took, and what memory.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.measure import Series, function, interleave
from bench.stores import cached_folder
from bench.table import Goal, Row

ABILITY = "watch"
GOAL_SECONDS = 0.2
FOLDERS = 100
_WRITER = """
import json, os, random, sys, time
path, lines, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
chance, moments = random.Random(1), {}
fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for number in range(lines):
    time.sleep(chance.uniform(0.01, 0.1))
    words = "x" * chance.choice([100, 1000, 20_000])
    entry = {"type": "user", "uuid": str(number), "timestamp": "2026-01-01T00:00:00.000Z",
             "message": {"role": "user", "content": words}}
    data = json.dumps(entry).encode() + b"\\n"
    if number % 4 == 0:  # half a line first
        os.write(fd, data[:50])
        data = data[50:]
    os.write(fd, data)
    moments[str(number)] = time.monotonic_ns()
with open(out, "w") as stream:
    json.dump(moments, stream)
"""


def rows(quick: bool) -> Iterator[Row]:
    lines = 60 if quick else 300
    for files in (3_000,) if quick else (3_000, 100_000):
        home = cached_folder(f"watch-{files}", partial(_make, count=files), [Path(__file__)])
        native, polling = interleave(
            [
                function("told by the system", watch, home, lines, ""),
                function("looking in turn", watch, home, lines, "polling"),
            ],
            rounds=1 if quick else 3,
        )
        for series in (native, polling):
            yield _row(series, files, lines)


def _row(series: Series, files: int, lines: int) -> Row:
    results = [run.result for run in series.runs if isinstance(run.result, dict)]
    p50, p95, start = (statistics.median(item[name] for item in results) for name in ("p50", "p95", "start"))
    case = (
        f"{files:,} transcripts, {lines} lines, {series.contestant.name}: p50 {p50 * 1000:.0f} ms, "
        f"p95 {p95 * 1000:.0f} ms, started in {start * 1000:.0f} ms"
    )
    goal = Goal(f"p95 <= {GOAL_SECONDS * 1000:.0f} ms", GOAL_SECONDS, p95)
    return Row(ABILITY, case, series.cpu_seconds, series.peak_mb, goal=goal)


def _make(folder: Path, count: int) -> None:
    for number in range(count):
        place = folder / "projects" / f"-work-{number % FOLDERS}"
        place.mkdir(parents=True, exist_ok=True)
        entry = {
            "type": "user",
            "uuid": str(number),
            "timestamp": "2025-01-01T00:00:00.000Z",
            "message": {"content": "x"},
        }
        path = place / f"{uuid.UUID(int=number + 1)}.jsonl"
        path.write_text(json.dumps(entry) + "\n")
        os.utime(path, (1_735_700_000, 1_735_700_000))


def watch(home: str, lines: str, polling: str) -> Callable[[], object]:
    """Watch a home while a child writes into a new session of it; the delays of all lines."""
    from recollect.library.library import open_library
    from recollect.library.watching import MessageAdded

    folder = Path(home) / "projects" / f"-bench-{os.getpid()}"
    path, out = folder / f"{uuid.uuid4()}.jsonl", folder / "moments.json"

    def work() -> dict[str, float]:
        delivered: dict[str, int] = {}
        folder.mkdir()
        try:
            begun = time.perf_counter()
            with open_library([home]).watch(polling=bool(polling)) as events:
                start = time.perf_counter() - begun
                writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path), lines, str(out)])
                for event in events:
                    if isinstance(event, MessageAdded) and event.uuid is not None:
                        delivered[event.uuid] = time.monotonic_ns()
                        if len(delivered) == int(lines):
                            break
                writer.wait()
            written = json.loads(out.read_text())
        finally:
            shutil.rmtree(folder)
        delays = sorted((delivered[name] - moment) / 1e9 for name, moment in written.items())
        return {"p50": statistics.median(delays), "p95": delays[int(len(delays) * 0.95)], "start": start}

    return work
