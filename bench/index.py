"""The first index of a store, words included; its size; and how soon a running process finds lines that were appended."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import agentsview
from bench.measure import BenchFailed, Series, function, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "first index, words included"
WALL_GOAL, SIZE_GOAL, FOUND_GOAL = 0.3, 0.25, 0.150
APPENDS, LINES = 100, 10


def rows(quick: bool) -> Iterator[Row]:
    name = "small" if quick else "medium"
    home = generated_home(name, "--preset", name)
    agentsview.program()
    ours, peer = interleave(
        [function("ours", first_index, home), function("agentsview", first_sync, home)], 1 if quick else 3
    )
    told = ours.result
    if not isinstance(told, dict):
        raise BenchFailed("the index told nothing")
    case = f"{told['sessions']} sessions, {told['source'] / 1e6:,.0f} MB"
    wall = _wall_ratio(ours, peer)
    yield Row(
        ABILITY, f"{case}, wall time", _wall(ours), ours.peak_mb, f"{agentsview.NAME}, wall time", wall,
        Goal(f"<= {WALL_GOAL:g}", WALL_GOAL, wall),
    )  # fmt: skip
    yield Row(ABILITY, case, ours.cpu_seconds, ours.peak_mb, agentsview.NAME, ours.ratio_to(peer))
    yield Row(ABILITY, f"{case}, agentsview", peer.cpu_seconds)
    share = told["index"] / told["source"]
    yield Row(
        "index on disk", f"{told['index'] / 1e6:,.0f} MB for {told['source'] / 1e6:,.0f} MB", compared_with="the transcripts",
        ratio=share, goal=Goal(f"<= {SIZE_GOAL:g}", SIZE_GOAL, share),
    )  # fmt: skip
    (series,) = interleave([function("appended", found_again, home)], 1)
    p95 = float(str(series.result))
    yield Row(
        f"{LINES} appended lines found", f"{case}, p95 of {APPENDS}", p95, series.peak_mb,
        goal=Goal(f"<= {FOUND_GOAL * 1000:.0f} ms", FOUND_GOAL, p95),
    )  # fmt: skip


def _wall(series: Series) -> float:
    return statistics.median(run.wall_seconds for run in series.runs)


def _wall_ratio(ours: Series, peer: Series) -> float:
    pairs = zip(ours.runs, peer.runs, strict=True)
    return statistics.median(mine.wall_seconds / theirs.wall_seconds for mine, theirs in pairs)


def first_index(home: str) -> Callable[[], object]:
    from recollect.index.catalogue.catalogue import Catalogue
    from recollect.index.catalogue.sync import bring_up_to_date
    from recollect.store.home import Home

    def work() -> object:
        with tempfile.TemporaryDirectory() as scratch, Catalogue.open(Path(scratch) / "index") as catalogue:
            report = bring_up_to_date(catalogue, [Home(Path(home))], ("calls", "entries", "words"))
            sessions = catalogue.connection.execute("SELECT count(*) FROM sessions").get
            size = sum(path.stat().st_size for path in catalogue.folder.rglob("*") if not path.name.endswith("-wal"))
            return {"sessions": sessions, "source": report.bytes, "index": size}

    return work


def first_sync(home: str) -> Callable[[], object]:
    def work() -> object:
        with tempfile.TemporaryDirectory() as data:
            agentsview.sync(home, data)
        return None

    return work


def found_again(home: str) -> Callable[[], object]:
    """A library that stays open: lines come to a session, and a search for a word in them follows at once."""
    import recollect

    scratch = Path(tempfile.mkdtemp())
    os.environ["RECOLLECT_CACHE_DIR"] = str(scratch / "cache")
    copy = scratch / "claude"
    shutil.copytree(home, copy)
    library = recollect.open(copy)
    library.search("error")
    paths = sorted((copy / "projects").glob("*/*.jsonl"))[:APPENDS]

    def work() -> object:
        took = []
        for number, path in enumerate(paths):
            word = f"appended{number:05d}x"
            lines = "".join(json.dumps(_entry(word, line)) + "\n" for line in range(LINES))
            begun = time.perf_counter()
            with path.open("a") as stream:
                stream.write(lines)
            found = library.search(word)
            took.append(time.perf_counter() - begun)
            if not found.sessions:
                raise BenchFailed(f"{word} was not found")
        shutil.rmtree(scratch)
        return statistics.quantiles(took, n=20)[-1]

    return work


def _entry(word: str, line: int) -> dict[str, object]:
    return {
        "type": "user", "uuid": f"{word}-{line}", "parentUuid": None, "timestamp": "2026-06-01T00:00:00.000Z",
        "message": {"role": "user", "content": f"{word} in line {line}"},
    }  # fmt: skip
