"""Generated homes and files, kept in the ignored folder `.cache/bench` and used again.

Each folder is made whole under another name and then renamed, and carries a stamp of the code that made it:
a half-made or outdated one is never measured.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.measure import REPOSITORY

CACHE = REPOSITORY / ".cache" / "bench"
_STAMP = "made-by"


def generated_home(name: str, *options: str, seed: int = 1) -> Path:
    """The Claude home of a generated store; `options` are those of `python -m bench.generator`."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "bench.generator", str(folder), "--seed", str(seed), *options]
        subprocess.run(command, cwd=REPOSITORY, check=True, stderr=subprocess.DEVNULL)

    sources = sorted((Path(__file__).parent / "generator").glob("*.py"))
    return cached_folder(f"{name}-{seed}", make, sources, " ".join(options)) / "claude"


def cached_folder(name: str, make: Callable[[Path], None], sources: list[Path], detail: str = "") -> Path:
    """`CACHE/name`, made by `make` unless it is there and was made by the same `sources` with the same `detail`."""
    folder, unfinished = CACHE / name, CACHE / f"{name}.unfinished"
    stamp = hashlib.sha256(detail.encode() + b"".join(path.read_bytes() for path in sources)).hexdigest()
    if (folder / _STAMP).is_file() and (folder / _STAMP).read_text() == stamp:
        return folder
    for stale in (folder, unfinished):
        if stale.exists():
            shutil.rmtree(stale)
    CACHE.mkdir(parents=True, exist_ok=True)
    print(f"making {name} ...", file=sys.stderr, flush=True)
    make(unfinished)
    (unfinished / _STAMP).write_text(stamp)
    unfinished.rename(folder)
    return folder
