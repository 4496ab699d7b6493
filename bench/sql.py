"""A question in SQL, from process start to the printed answer, against DuckDB on the raw JSONL of the same store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.measure import RECOLLECT, BenchFailed, Contestant, interleave
from bench.stores import CACHE, generated_home
from bench.table import Goal, Row

ABILITY = "SQL aggregate"
GOAL = 0.25
QUERY = (
    "SELECT model, count(*) AS answers, sum(input_tokens) AS input, sum(output_tokens) AS output, "
    "sum(cache_read_tokens) AS cache_read FROM responses GROUP BY model ORDER BY model"
)
COUNTS = ("input", "output", "cache_read")


def rows(quick: bool) -> Iterator[Row]:
    preset, size = ("small", "20 MB") if quick else ("medium", "1 GB")
    home = generated_home(preset, "--preset", preset)
    index = CACHE / f"sql-index-{preset}"
    command = (*RECOLLECT, "--home", str(home), "sql", "--json", QUERY)
    environment = {
        "RECOLLECT_CACHE_DIR": str(index),
        "RECOLLECT_CONFIG_DIR": str(index),
        "RECOLLECT_DATA_DIR": str(index),
    }
    _check(home, command, environment)
    ours, peer = interleave(
        [
            Contestant("recollect sql", command, environment),
            Contestant("duckdb", (sys.executable, "-c", _RAW_PROGRAM, str(home / "projects"))),
        ],
        3 if quick else 7,
    )
    ratio = ours.ratio_to(peer)
    case = f"{size}, tokens by model, process start included"
    goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
    yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, "DuckDB on the raw JSONL", ratio, goal)
    yield Row(ABILITY, f"{size}, DuckDB on the raw JSONL", peer.cpu_seconds, peer.peak_mb)


def _check(home: Path, command: tuple[str, ...], environment: dict[str, str]) -> None:
    """Bring the index up to date, unmeasured, and see that the answer is the truth."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "PYTHONPATH") if name in os.environ}
    ran = subprocess.run(command, env={**kept, "HOME": str(CACHE), **environment}, capture_output=True, check=False)
    if ran.returncode != 0:
        raise BenchFailed(f"recollect sql ended with {ran.returncode}: {ran.stderr.decode(errors='replace')[-500:]}")
    found = {row["model"]: {name: row[name] for name in COUNTS} for row in json.loads(ran.stdout)["rows"]}
    truth: dict[str, Counter[str]] = {}
    for key, numbers in json.loads((home.parent / "truth.json").read_text())["daily"].items():
        truth.setdefault(key.partition("|")[2], Counter()).update({name: numbers[name] for name in COUNTS})
    if found != {model: dict(counts) for model, counts in truth.items()}:
        raise BenchFailed("the answer is not what the generator wrote")


# The quickest that DuckDB can do on the files as they are: only the fields of the question, and bad lines left out. It counts
# every line of an answer, and copies as well, so its numbers are not right.
_RAW_PROGRAM = """
import sys
import duckdb
usage = "STRUCT(input_tokens BIGINT, output_tokens BIGINT, cache_read_input_tokens BIGINT)"
print(duckdb.sql(f'''
    SELECT message.model AS model, count(*), sum(message.usage.input_tokens), sum(message.usage.output_tokens),
           sum(message.usage.cache_read_input_tokens)
    FROM read_json('{sys.argv[1]}/**/*.jsonl', format = 'newline_delimited', ignore_errors = true,
                   maximum_object_size = 268435456,
                   columns = {{type: 'VARCHAR', message: 'STRUCT(model VARCHAR, usage {usage})'}})
    WHERE type = 'assistant' GROUP BY ALL ORDER BY ALL
''').fetchall())
"""
