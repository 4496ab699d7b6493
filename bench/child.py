"""The child side of a measurement: `python -m bench.child MODULE:PREPARE REPEAT ARGUMENT...`.

`PREPARE(*arguments)` imports and opens what the work needs and returns the work; only the work is measured.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path


def _cpu_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    target, repeat, *arguments = sys.argv[1:]
    module, _, name = target.partition(":")
    work = getattr(importlib.import_module(module), name)(*arguments)
    times = int(repeat)
    cpu, wall = _cpu_seconds(), time.perf_counter()
    for _ in range(times):
        result = work()
    cpu, wall = _cpu_seconds() - cpu, time.perf_counter() - wall
    report = {"cpu_seconds": cpu / times, "wall_seconds": wall / times, "result": result}
    Path(os.environ["BENCH_REPORT"]).write_text(json.dumps(report))


if __name__ == "__main__":
    main()
