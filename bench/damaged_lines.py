"""Reading a file in which every line is cut in half, against reading the same bytes while they were whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import function, interleave
from bench.stores import CACHE, generated_home
from bench.table import Goal, Row

ABILITY = "read damaged lines"
GOAL = 15.0
"""So many times the processor time of the whole lines, byte for byte: these are read at hundreds of MB/s."""


def rows(quick: bool) -> Iterator[Row]:
    home = generated_home("session-1mb", "--sessions", "1", "--bytes", "1e6", seed=5)
    whole = max(home.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    lines = whole.read_bytes().splitlines()
    torn = CACHE / "torn-lines.jsonl"
    torn.write_bytes(b"".join(line[: len(line) // 2] + b"\n" + line[: len(line) // 2] + b"\n" for line in lines))
    healthy, damaged = interleave(
        [function("whole", read_all, whole, repeat=5), function("torn", read_all, torn, repeat=5)], 3 if quick else 7
    )
    ratio = damaged.ratio_to(healthy)
    goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
    yield Row(ABILITY, "1 MB, each line torn", damaged.cpu_seconds, damaged.peak_mb, "whole lines", ratio, goal)


def read_all(path: str) -> Callable[[], int]:
    from recollect.format.decode import file_row_entries

    def read() -> int:
        with Path(path).open("rb") as stream:
            return sum(1 for _ in file_row_entries(stream, []))

    return read
