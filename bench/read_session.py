"""Reading one session into its conversation graph, against plain decoding of the same lines.

The floor decodes each line into Python values and drops them at once: it keeps nothing, joins nothing and
skips what it cannot decode. The graph has to keep every line and know who answers whom.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import function, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "read a session"
GOAL = 3.0
# A seed whose only session has no sub-agents: both sides read exactly one file.
NO_AGENTS = 5
# name, bytes, times the work is repeated within one run
SIZES = (("1 MB", "1e6", 20), ("20 MB", "20e6", 3), ("100 MB", "100e6", 1))


def rows(quick: bool) -> Iterator[Row]:
    rounds = 3 if quick else 7
    for name, size, repeat in SIZES[:2] if quick else SIZES:
        home = generated_home(
            f"session-{name.replace(' ', '').lower()}", "--sessions", "1", "--bytes", size, seed=NO_AGENTS
        )
        path = largest_session(home)
        floor, stdlib, graph = interleave(
            [
                function("msgspec", decode_with_msgspec, path, repeat=repeat),
                function("json", decode_with_json, path, repeat=repeat),
                function("recollect", build_conversation, home, path.stem, repeat=repeat),
            ],
            rounds,
        )
        ratio = graph.ratio_to(floor)
        goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
        yield Row(ABILITY, f"{name}, full graph", graph.cpu_seconds, graph.peak_mb, "msgspec, every line", ratio, goal)
        yield Row(ABILITY, f"{name}, full graph", None, None, "stdlib json, every line", graph.ratio_to(stdlib))
        yield Row(ABILITY, f"{name}, msgspec, every line", floor.cpu_seconds, floor.peak_mb)
        yield Row(ABILITY, f"{name}, stdlib json, every line", stdlib.cpu_seconds, stdlib.peak_mb)


def largest_session(home: Path) -> Path:
    return max((home / "projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)


def decode_with_msgspec(path: str) -> Callable[[], object]:
    import msgspec

    return lambda: _decode_lines(path, msgspec.json.decode, msgspec.DecodeError)


def decode_with_json(path: str) -> Callable[[], object]:
    return lambda: _decode_lines(path, json.loads, ValueError)


def _decode_lines(path: str, decode: Callable[[bytes], object], refusal: type[Exception]) -> int:
    decoded = 0
    with open(path, "rb") as lines:
        for line in lines:
            try:
                decode(line)
            except (refusal, UnicodeDecodeError):
                continue
            decoded += 1
    return decoded


def build_conversation(home: str, session_id: str) -> Callable[[], object]:
    import recollect

    def work() -> int:
        # A new library each time: nothing may come from a cache.
        return len(recollect.open(home).session(session_id).conversation.rows)

    return work
