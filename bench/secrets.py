"""Searching a store for secrets: the first time, against google-re2 alone over the same bytes; and when nothing changed."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import RECOLLECT, BenchFailed, Contestant, function, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "secrets"
FIRST_GOAL = 1.8
AGAIN_GOAL = 3.0
MEMORY_GOAL = 150.0
_CHUNK = 2 << 20


def rows(quick: bool) -> Iterator[Row]:
    name = "small" if quick else "medium"
    home = generated_home(name, "--preset", name)
    rounds = 3 if quick else 5
    with tempfile.TemporaryDirectory() as scratch:
        ours, bare = interleave(
            [function("ours", first_search, home, scratch), function("google-re2", bare_pass, home)], rounds
        )
        if not isinstance(ours.result, int) or not isinstance(bare.result, int) or ours.result < bare.result:
            raise BenchFailed(f"{ours.result} bytes were searched, not {bare.result}")
        size = bare.result / 1e6
        ratio = ours.ratio_to(bare)
        yield Row(
            ABILITY, f"first search, {size:,.0f} MB", ours.cpu_seconds, ours.peak_mb, "google-re2, the first look alone", ratio,
            Goal(f"<= {FIRST_GOAL:g}", FIRST_GOAL, ratio),
        )  # fmt: skip
        yield Row(
            ABILITY, "first search, memory", None, ours.peak_mb,
            goal=Goal(f"<= {MEMORY_GOAL:.0f} MB", MEMORY_GOAL, ours.peak_mb),
        )  # fmt: skip
        yield Row(ABILITY, f"google-re2 alone, {size:,.0f} MB", bare.cpu_seconds, bare.peak_mb)
        own = {f"RECOLLECT_{kind}_DIR": f"{scratch}/{kind}" for kind in ("CACHE", "DATA", "CONFIG")} | {"HOME": scratch}
        search = (*RECOLLECT, "--home", str(home), "secrets", "--quiet")
        sync = (*RECOLLECT, "--home", str(home), "index", "--json")
        for command in (search, sync):
            subprocess.run(command, env=own, check=False, stdout=subprocess.DEVNULL)
        again, nothing_new = interleave(
            [Contestant("ours", search, own), Contestant("sync", sync, own)], 3 if quick else 9
        )
    ratio = again.ratio_to(nothing_new)
    yield Row(
        ABILITY, f"nothing changed, {name} store", again.cpu_seconds, again.peak_mb, "`recollect index`, nothing changed", ratio,
        Goal(f"<= {AGAIN_GOAL:g}", AGAIN_GOAL, ratio),
    )  # fmt: skip


def first_search(home: str, own: str) -> Callable[[], object]:
    from recollect.library.library import Library
    from recollect.store.home import Home

    def work() -> int:
        with tempfile.TemporaryDirectory(dir=own) as folder:
            library = Library([Home(Path(home))], own_folder=lambda kind: Path(folder) / kind)
            found = library.secrets()
            for _ in found:
                pass
            return found.bytes

    return work


def bare_pass(home: str) -> Callable[[], object]:
    """Read the same files and let google-re2 find the lines with something to look at."""
    from recollect.secrets.needles import anything
    from recollect.secrets.scan import searched_files
    from recollect.store.home import Home

    searcher = anything()

    def work() -> int:
        size = 0
        for file in searched_files(Home(Path(home))):
            with open(file.place, "rb", buffering=0) as stream:
                while data := stream.read(_CHUNK):
                    size += len(data)
                    at = 0
                    while (hit := searcher.first(data, at)) is not None:
                        at = data.find(b"\n", hit[1]) + 1
                        if not at:
                            break
        return size

    return work
