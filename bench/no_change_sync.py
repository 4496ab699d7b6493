"""A sync of a store in which nothing changed, from the start of the process to its answer, against agentsview's."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import agentsview
from bench.measure import RECOLLECT, Contestant, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "sync without changes"
GOAL = 0.25


def rows(quick: bool) -> Iterator[Row]:
    name = "small" if quick else "medium"
    home = generated_home(name, "--preset", name)
    with tempfile.TemporaryDirectory() as scratch:
        own = {"RECOLLECT_CACHE_DIR": str(Path(scratch) / "cache"), "HOME": scratch}
        command = (*RECOLLECT, "--home", str(home), "index", "--json")
        subprocess.run(command, env=own, check=True, stdout=subprocess.DEVNULL)
        data = Path(scratch) / "agentsview"
        agentsview.sync(home, data)
        ours, peer = interleave(
            [
                Contestant("ours", command, own),
                Contestant("agentsview", agentsview.command(), agentsview.environment(home, data)),
            ],
            3 if quick else 9,
        )
    ratio = ours.ratio_to(peer)
    yield Row(
        ABILITY, f"`recollect index`, {name} store", ours.cpu_seconds, ours.peak_mb, agentsview.NAME, ratio,
        Goal(f"<= {GOAL:g}", GOAL, ratio),
    )  # fmt: skip
    yield Row(ABILITY, f"agentsview, {name} store", peer.cpu_seconds, peer.peak_mb)
