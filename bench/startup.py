"""How long `recollect` takes to say anything at all, and what it imports to do so."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import RECOLLECT, REPOSITORY, Contestant, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "start"
GOAL = 4.0
# Each costs more to import than a whole listing should take.
HEAVY = (
    "rich", "pygments", "markdown_it", "duckdb", "tantivy", "apsw", "mcp", "pydantic", "starlette", "uvicorn",
    "jinja2", "watchfiles", "asyncio", "multiprocessing", "http", "ssl", "unittest", "pydoc",
)  # fmt: skip


def rows(quick: bool) -> Iterator[Row]:
    home = generated_home("tiny", "--preset", "tiny")
    commands = {"--help": ("--help",), "list --json": ("--home", str(home), "list", "--json")}
    rounds = 11 if quick else 31
    floor, *measured = interleave(
        [
            Contestant("python", (sys.executable, "-c", "pass")),
            *(Contestant(name, (*RECOLLECT, *arguments)) for name, arguments in commands.items()),
        ],
        rounds,
    )
    for series in measured:
        ratio = series.ratio_to(floor)
        name = series.contestant.name
        goal = Goal(f"<= {GOAL:g}", GOAL, ratio) if name == "--help" else None
        yield Row(ABILITY, f"`recollect {name}`", series.cpu_seconds, None, "`python -c pass`", ratio, goal)
    yield Row(ABILITY, "`python -c pass`", floor.cpu_seconds)
    for name, arguments in commands.items():
        modules = imported_modules(*arguments)
        heavy = sorted(modules & set(HEAVY))
        goal = Goal("none heavy", 0, len(heavy))
        case = f"`recollect {name}`, {len(modules)} modules, heavy: {', '.join(heavy) or 'none'}"
        yield Row(ABILITY, case, goal=goal)


def imported_modules(*arguments: str) -> set[str]:
    """Names of all modules that one call of the command imports."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as scratch:
        finished = subprocess.run(
            [RECOLLECT[0], "-X", "importtime", *RECOLLECT[1:], *arguments],
            cwd=REPOSITORY,
            env={"HOME": scratch, "CLAUDE_CONFIG_DIR": str(Path(scratch) / ".claude"), "NO_COLOR": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    lines = (line for line in finished.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines} - {"imported package"}
