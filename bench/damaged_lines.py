"""Reading files in which every line is damaged, or every object goes over several lines, against the same lines whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import function, interleave
from bench.stores import CACHE, generated_home
from bench.table import Goal, Row

ABILITY = "read damaged lines"
SECONDS_PER_MB = 0.05
"""20 MB/s: whole lines are read at hundreds of them."""
_REPEAT = 5
_SIZE = 1_000_000

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "torn": lambda line: line[: len(line) // 2],
    "NUL-filled": lambda line: line[: len(line) // 2] + b"\0" * (len(line) // 2),
    "behind NULs": lambda line: b"\0" * 64 + line,
    "glued": lambda line: line + line,
    "torn and glued": lambda line: line[: len(line) // 2] + line,
    "without its start": lambda line: line[len(line) // 2 :],
    "no JSON": lambda line: line.translate(bytes.maketrans(b'{}[]":', b"abcdef")),
    "with a control character": lambda line: (
        line[:-2] + b"\x01" + line[-2:] if line.endswith(b'"}') else line + b"\x01"
    ),
    "with NaN": lambda line: line[:-1] + b',"n":NaN}',
    "with invalid UTF-8": lambda line: line[:-2] + b"\xff" + line[-2:] if line.endswith(b'"}') else line + b"\xff",
    "over several lines": lambda line: json.dumps(json.loads(line), indent=2, ensure_ascii=False).encode(),
}
"""What is done to every line."""


def rows(quick: bool) -> Iterator[Row]:
    home = generated_home("session-1mb", "--sessions", "1", "--bytes", "1e6", seed=5)
    whole = max(home.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    lines = whole.read_bytes().splitlines()
    damaged = {}
    for name, spoil in DAMAGES.items():
        damaged[name] = CACHE / f"damaged-{name.replace(' ', '-')}.jsonl"
        spoiled = b"".join(spoil(line) + b"\n" for line in lines)
        damaged[name].write_bytes(spoiled * max(1, round(_SIZE / len(spoiled))))
    contestants = [function(name, read_all, path, repeat=_REPEAT) for name, path in {"whole": whole, **damaged}.items()]
    healthy, *series = interleave(contestants, 3 if quick else 7)
    for (name, path), measured in zip(damaged.items(), series, strict=True):
        megabytes = path.stat().st_size / 1e6
        per_megabyte = measured.cpu_seconds / megabytes
        ratio = measured.ratio_to(healthy) * whole.stat().st_size / path.stat().st_size
        case = f"{megabytes:.1f} MB, every line {name}"
        goal = Goal(">= 20 MB/s", SECONDS_PER_MB, per_megabyte)
        yield Row(ABILITY, case, measured.cpu_seconds, measured.peak_mb, "whole lines", ratio, goal)


def read_all(path: str) -> Callable[[], int]:
    from recollect.format.decode import file_row_entries

    def read() -> int:
        with Path(path).open("rb") as stream:
            return sum(1 for _ in file_row_entries(stream, []))

    return read
