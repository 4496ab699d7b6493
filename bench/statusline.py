"""The status line, from the start of the process: over a store that is counted, and over one that never was.

The goal of 150 ms is told as a multiple of what Python itself takes to start, so that it holds for any machine: where the goal
was set, that is a little below eleven milliseconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.measure import RECOLLECT, BenchFailed, Contestant, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY: Final = "status line"
GOAL: Final = 14.0


def rows(quick: bool) -> Iterator[Row]:
    name = "small" if quick else "medium"
    size = "20 MB" if quick else "1 GB"
    home = generated_home(name, "--preset", name)
    session = sorted(home.glob("projects/*/*.jsonl"))[0].stem
    with tempfile.TemporaryDirectory(prefix="recollect-bench-statusline-") as scratch:
        given = Path(scratch) / "given.json"
        given.write_text(json.dumps({"session_id": session, "model": {"display_name": "Opus"}}))
        command = ("sh", "-c", f'exec "$0" "$@" < {given}', *RECOLLECT, "statusline")
        counted = {"CLAUDE_CONFIG_DIR": str(home), "RECOLLECT_CACHE_DIR": str(Path(scratch) / "counted")}
        subprocess.run(
            [*RECOLLECT, "usage", "--json"], check=True, env={**os.environ, **counted}, stdout=subprocess.DEVNULL
        )
        told = subprocess.run(
            command, check=True, env={**os.environ, **counted}, stdout=subprocess.PIPE, text=True
        ).stdout
        if not told.startswith("Opus | session $"):
            raise BenchFailed(f"the status line does not know its session: {told.strip()}")
        floor, *measured = interleave(
            [
                Contestant("python", (sys.executable, "-c", "pass")),
                Contestant(f"everything counted, {size}", command, counted),
                Contestant(f"never counted, {size}", command, {"CLAUDE_CONFIG_DIR": str(home)}),
            ],
            5 if quick else 21,
        )
    for series in measured:
        ratio = series.ratio_to(floor)
        goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
        yield Row(ABILITY, series.contestant.name, series.cpu_seconds, series.peak_mb, "`python -c pass`", ratio, goal)
    yield Row(ABILITY, "`python -c pass`", floor.cpu_seconds)
