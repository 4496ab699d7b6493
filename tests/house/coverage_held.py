"""Branch coverage of the rooms that must never be wrong, each by its own tests alone: measured, and held.

    python -m tests.house.coverage_held            all rooms (`make coverage`)
    python -m tests.house.coverage_held format     one of them

Lines and branches count together, as coverage.py adds them up, over every file of the room: one that no test imports counts as
not covered. A room below its floor fails; a floor only rises.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = "src/recollect"
NOT_TRACED: Final = "not takes_no_time and not test_linear"
"""Tests that prove how work grows with a million rows: traced line by line they would take minutes and show no more."""


@dataclass(frozen=True)
class Room:
    """A room of the package by its folder, the tests that are its own, and the share that these must reach."""

    folder: str
    tests: tuple[str, ...]
    floor: float
    """Percent."""


ROOMS: Final[dict[str, Room]] = {
    "format": Room("format", ("tests/format", "tests/properties/test_lossless.py"), 97.0),
    "graph": Room("graph", ("tests/graph", "tests/properties/test_thread_properties.py"), 97.0),
    "journal": Room("journal", ("tests/journal", "tests/edit", "tests/faults/test_undo_anything.py"), 96.0),
    "edit": Room("edit", ("tests/edit", "tests/properties/test_fork_properties.py"), 95.0),
    "vault": Room("vault", ("tests/vault", "tests/faults/test_vault_restore.py"), 98.0),
}


def measure(room: Room) -> tuple[float, dict[str, float]]:
    """Run a room's tests and return its share of lines and branches in percent, and that of each of its files."""
    with tempfile.TemporaryDirectory(prefix="recollect-coverage-") as folder:
        data, report = f"--data-file={folder}/data", Path(folder) / "report.json"
        pytest = [
            "-m",
            "pytest",
            "-q",
            "-x",
            "-m",
            "not compat and not browser and not corpus",
            "-k",
            NOT_TRACED,
            *room.tests,
        ]
        _run("run", "--branch", data, f"--source={SOURCE}/{room.folder}", *pytest)
        _run("json", "-q", data, "-o", str(report))
        found = json.loads(report.read_text("utf-8"))
    files = {name: float(told["summary"]["percent_covered"]) for name, told in found["files"].items()}
    return float(found["totals"]["percent_covered"]), files


def _run(*arguments: str) -> None:
    if subprocess.run([sys.executable, "-m", "coverage", *arguments], cwd=REPOSITORY).returncode:
        raise SystemExit(f"coverage {arguments[0]} failed")


def main(names: list[str]) -> int:
    """Measure the named rooms, or all of them; 1 where one is below its floor."""
    below = 0
    for name in names or ROOMS:
        share, files = measure(ROOMS[name])
        print(f"{name}: {share:.1f} % (floor {ROOMS[name].floor} %)")
        for file, part in sorted(files.items(), key=lambda pair: pair[1])[:8]:
            print(f"    {part:5.1f} %  {file}")
        below += share < ROOMS[name].floor
    return min(below, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
