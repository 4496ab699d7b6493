"""Command line of the generator: `python -m bench.generator OUT --preset small`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from bench.generator.store import PRESETS, NotOurs, StoreRequest, write_store


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.generator", description="Write a synthetic Claude home.")
    parser.add_argument("out", type=Path, help="target folder: OUT/claude is the home, OUT/truth.json the oracle")
    parser.add_argument("--preset", choices=PRESETS, default="small")
    parser.add_argument("--sessions", type=int, help="number of sessions (default: the preset's)")
    parser.add_argument("--bytes", type=float, help="size of all transcripts (default: the preset's)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, help="worker processes; no influence on the bytes")
    parser.add_argument("--corrupt", type=float, default=2e-4, help="probability of a corrupt line before each line")
    parser.add_argument("--modern", action="store_true", help="what clients of 2.1.x write: agent_progress, iterations")
    options = parser.parse_args()
    sessions, size = PRESETS[options.preset]
    request = StoreRequest(
        sessions=options.sessions or sessions,
        size=int(options.bytes or size),
        seed=options.seed,
        corrupt_p=options.corrupt,
        modern=options.modern,
    )
    started = time.perf_counter()
    try:
        truth = write_store(options.out, request, options.jobs)
    except NotOurs as refusal:
        sys.exit(str(refusal))
    seconds = time.perf_counter() - started
    print(json.dumps(truth.brief()), file=sys.stderr)
    print(f"{truth.bytes / 1e6:.1f} MB in {seconds:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
