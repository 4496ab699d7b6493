"""Checking every session of a store by all rules, against plain decoding of the same lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import BenchFailed, function, interleave
from bench.read_session import decode_with_msgspec
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "check"
GOAL = 5.0


def rows(quick: bool) -> Iterator[Row]:
    name = "small" if quick else "medium"
    home = generated_home(name, "--preset", name)
    files = sorted(home.glob("projects/**/*.jsonl"))
    floor, check = interleave(
        [function("msgspec", decode_with_msgspec, *files), function("check", check_store, home)], 3
    )
    if not isinstance(check.result, int) or check.result < 1:
        raise BenchFailed("no session was checked")
    ratio = check.ratio_to(floor)
    size = sum(Path(path).stat().st_size for path in files)
    words = f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
    goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
    yield Row(ABILITY, f"{words}, all rules", check.cpu_seconds, check.peak_mb, "msgspec, every line", ratio, goal)
    yield Row(ABILITY, f"{words}, msgspec, every line", floor.cpu_seconds, floor.peak_mb)


def check_store(home: str) -> Callable[[], object]:
    from recollect.library.library import open_library

    def work() -> int:
        return open_library([home]).check().checked

    return work
