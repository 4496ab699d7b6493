"""Tokens and money of a gigabyte: a first report, one over an unchanged store, one after a session grew by ten lines.

Compared with ccusage's own binary (npm, offline), which reads everything every time. Both must give the generator's
truth for every day and model before anything is measured.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from bench import ccusage
from bench.measure import RECOLLECT, BenchFailed, Contestant, Series, function, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ASK: Final = ("usage", "--json", "--timezone", "UTC")
_FIELDS: Final = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")


def rows(quick: bool) -> Iterator[Row]:
    name = "small" if quick else "medium"
    home = generated_home(name, "--preset", name)
    truth = json.loads((home.parent / "truth.json").read_text())
    binary = ccusage.binary()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-usage-") as scratch:
        kept = Path(scratch) / "kept"
        _hold(_ours(home, kept), truth, "recollect")
        _hold(_theirs(home, binary), truth, "ccusage", joined=True)
        grown = _linked(home, Path(scratch) / "grown")
        grown_cache = Path(scratch) / "grown-cache"
        _ours(grown, grown_cache)
        rounds = 1 if quick else 9
        rival = Contestant(f"ccusage {ccusage.VERSION}", (binary, *ccusage.DAILY),
                           {"CLAUDE_CONFIG_DIR": str(home)}, reads=home)  # fmt: skip
        measured = interleave(
            [
                Contestant("first report", (*RECOLLECT, "--home", str(home), *ASK), reads=home),
                Contestant(
                    "unchanged store", (*RECOLLECT, "--home", str(home), *ASK), {"RECOLLECT_CACHE_DIR": str(kept)}
                ),
                function("ten lines more", grows, grown, environment={"RECOLLECT_CACHE_DIR": str(grown_cache)}),
                rival,
            ],
            rounds,
        )
        yield from _report(measured, "20 MB" if quick else "1 GB")


def _report(measured: list[Series], size: str) -> Iterator[Row]:
    *ours, theirs = measured
    for series, limit in zip(ours, (0.6, 0.06, 0.08), strict=True):
        ratio = series.ratio_to(theirs)
        yield Row(
            "usage", f"{series.contestant.name}, {size}", series.cpu_seconds, series.peak_mb, theirs.contestant.name, ratio,
            Goal(f"≤ {limit}", limit, ratio),
        )  # fmt: skip
    yield Row("usage", f"{theirs.contestant.name}, {size}", theirs.cpu_seconds, theirs.peak_mb)


def grows(home: str) -> Callable[[], object]:
    """Append ten lines to a session (not measured), then report."""
    path = sorted(Path(home).glob("projects/*/*.jsonl"))[0]
    lines = [line for line in path.read_bytes().split(b"\n") if b'"output_tokens"' in line]
    fresh = os.urandom(4).hex().encode()  # calls that were not there before, in every round
    added = b"".join(
        line.replace(b'"msg_01', b'"msg_%s%02x' % (fresh, number)) + b"\n"
        for number, line in zip(range(10), itertools.cycle(lines), strict=False)
    )
    with path.open("ab") as stream:
        stream.write(added)

    def report() -> object:
        return len(subprocess.run([*RECOLLECT, "--home", home, *ASK], check=True, stdout=subprocess.PIPE).stdout)

    return report


def _linked(home: Path, target: Path) -> Path:
    """A store of hard links; the session that will grow is a file of its own."""
    shutil.copytree(home, target, copy_function=_link)
    first = sorted(target.glob("projects/*/*.jsonl"))[0]
    data = first.read_bytes()
    first.unlink()
    first.write_bytes(data if data.endswith(b"\n") else data + b"\n")
    return target


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
    return target


def _ours(home: Path, cache: Path) -> dict[str, tuple[int, ...]]:
    command = [*RECOLLECT, "--home", str(home), *ASK]
    environment = {**os.environ, "RECOLLECT_CACHE_DIR": str(cache)}
    told = json.loads(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout)
    return {
        f"{row['day']}|{part['model']}": tuple(part[name] for name in _FIELDS)
        for row in told["rows"]
        for part in row["models"]
    }


def _theirs(home: Path, binary: str) -> dict[str, tuple[int, ...]]:
    return {key: ccusage.four_counts(part) for key, part in ccusage.daily(home, binary).items()}


def _hold(found: dict[str, tuple[int, ...]], truth: dict[str, Any], who: str, *, joined: bool = False) -> None:
    """Every day and model must be what the generator wrote; ccusage does not tell the two kinds of cache writes apart."""
    wanted = {}
    for key, row in truth["daily"].items():
        counts = tuple(row[name] for name in _FIELDS)
        wanted[key] = (counts[0], counts[1], counts[2] + counts[3], counts[4]) if joined else counts
    if found != wanted:
        wrong = [key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key)]
        raise BenchFailed(
            f"{who} is wrong for {len(wrong)} of {len(wanted)} days and models, such as {sorted(wrong)[0]}"
        )
