"""A whole store: the plan of its sessions, the work spread over processes, the oracle."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.generator.content import encode
from bench.generator.sessions import SessionPlan, format_history, write_session
from bench.generator.truth import Truth

# name: (sessions, bytes); forks and overshoot move them by a few per cent
PRESETS: Final = {
    "tiny": (12, 2_000_000),
    "small": (100, 20_000_000),
    "medium": (3_000, 1_000_000_000),
    "large": (12_000, 5_000_000_000),
}


class NotOurs(Exception):
    """The target folder holds something that this generator did not make."""


@dataclass(frozen=True)
class StoreRequest:
    sessions: int
    size: int
    seed: int = 1
    corrupt_p: float = 2e-4
    modern: bool = False


def write_store(out: Path, request: StoreRequest, jobs: int | None = None) -> Truth:
    """Write `out/claude` and `out/truth.json`; the oracle comes last, so its presence says the store is whole."""
    _clear(out)
    home = out / "claude"
    (home / "projects").mkdir(parents=True, exist_ok=True)
    plans = _plan(home, request)
    total = Truth(needle_p=plans[0].needle_p)
    with multiprocessing.Pool(jobs or os.cpu_count()) as pool:
        for truth in pool.imap(write_session, plans, chunksize=16):
            total.add(truth)
    with open(home / "history.jsonl", "wb") as history:
        history.writelines(encode(line) + b"\n" for line in format_history(total.history))
    (home / "settings.json").write_text(json.dumps({"cleanupPeriodDays": 99999}))
    total.write(out / "truth.json", request.seed)
    return total


def _clear(out: Path) -> None:
    """Delete an earlier run, and nothing else."""
    if out.is_dir() and any(out.iterdir()):
        if not (out / "truth.json").exists():
            raise NotOurs(f"{out} is not empty and has no truth.json: refusing to delete it")
        shutil.rmtree(out)


def _plan(home: Path, request: StoreRequest) -> list[SessionPlan]:
    rng = random.Random(f"{request.seed}:plan")
    count = max(1, round(request.sessions / 1.04))
    project_count = max(3, round(count / 30))
    weights = [rng.lognormvariate(0, 1.25) for _ in range(count)]
    # sessions overshoot their size by about one step, forks add about 4 %
    scale = request.size / sum(weights) * 0.955
    project_weights = [1.0 / (rank + 1) ** 0.8 for rank in range(project_count)]
    projects = sorted(rng.choices(range(project_count), project_weights, k=count))
    # about forty needles, whatever the size
    needle_p = min(0.2, 40 / max(1, request.size / 80_000))
    return [
        SessionPlan(
            home=home,
            seed=request.seed,
            index=index,
            project_index=projects[index],
            size=max(3000, weights[index] * scale),
            corrupt_p=request.corrupt_p,
            needle_p=needle_p,
            modern=request.modern,
        )
        for index in range(count)
    ]
