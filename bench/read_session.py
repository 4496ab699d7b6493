"""Reading one session into its conversation graph, against plain decoding of the same lines.

The floor decodes each line into Python values and drops them at once: it keeps nothing, joins nothing and
skips what it cannot decode. The full graph is every view that a conversation offers: tree, active thread,
branches, compactions, tool calls with their results, subagents, messages and turns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.measure import function, interleave
from bench.stores import generated_home
from bench.table import Goal, Row

ABILITY = "read a session"
GOAL = 3.0


@dataclass(frozen=True)
class Case:
    name: str
    folder: str
    size: str
    seed: int
    repeat: int
    """Times the work is done within one run, so that short work can be timed."""


# Seed 5 gives a session without subagents, seed 1 one with five.
CASES = (
    Case("1 MB", "session-1mb", "1e6", seed=5, repeat=20),
    Case("20 MB", "session-20mb", "20e6", seed=5, repeat=3),
    Case("20 MB with subagents", "session-20mb", "20e6", seed=1, repeat=3),
    Case("100 MB", "session-100mb", "100e6", seed=5, repeat=1),
)


def rows(quick: bool) -> Iterator[Row]:
    rounds = 3 if quick else 7
    for case in CASES[:-1] if quick else CASES:
        home = generated_home(case.folder, "--sessions", "1", "--bytes", case.size, seed=case.seed)
        main = main_transcript(home)
        files = sorted(home.glob("projects/**/*.jsonl"))
        floor, stdlib, thread, graph = interleave(
            [
                function("msgspec", decode_with_msgspec, *files, repeat=case.repeat),
                function("json", decode_with_json, *files, repeat=case.repeat),
                function("thread", find_thread, home, main.stem, repeat=case.repeat),
                function("graph", build_graph, home, main.stem, repeat=case.repeat),
            ],
            rounds,
        )
        ratio = graph.ratio_to(floor)
        goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
        against = "msgspec, every line"
        yield Row(ABILITY, f"{case.name}, full graph", graph.cpu_seconds, graph.peak_mb, against, ratio, goal)
        yield Row(ABILITY, "", None, None, "stdlib json, every line", graph.ratio_to(stdlib))
        yield Row(
            ABILITY, f"{case.name}, thread only", thread.cpu_seconds, thread.peak_mb, against, thread.ratio_to(floor)
        )
        yield Row(ABILITY, f"{case.name}, msgspec, every line", floor.cpu_seconds, floor.peak_mb)
        yield Row(ABILITY, f"{case.name}, stdlib json, every line", stdlib.cpu_seconds, stdlib.peak_mb)


def main_transcript(home: Path) -> Path:
    """The only session's own file: those of subagents have other names, or stand deeper."""
    (path,) = (path for path in (home / "projects").glob("*/*.jsonl") if not path.name.startswith("agent-"))
    return path


def decode_with_msgspec(*paths: str) -> Callable[[], object]:
    import msgspec

    return lambda: _decode_lines(paths, msgspec.json.decode, msgspec.DecodeError)


def decode_with_json(*paths: str) -> Callable[[], object]:
    return lambda: _decode_lines(paths, json.loads, ValueError)


def _decode_lines(paths: tuple[str, ...], decode: Callable[[bytes], object], refusal: type[Exception]) -> int:
    decoded = 0
    for path in paths:
        with open(path, "rb") as lines:
            for line in lines:
                try:
                    decode(line)
                except (refusal, UnicodeDecodeError):
                    continue
                decoded += 1
    return decoded


def find_thread(home: str, session_id: str) -> Callable[[], object]:
    import recollect
    import recollect.library.session  # with all that a session needs: importing is no part of the work

    # A new library each time: nothing may come from a cache.
    return lambda: len(recollect.open(home).session(session_id).thread.chain)


def build_graph(home: str, session_id: str) -> Callable[[], object]:
    import recollect
    import recollect.library.session  # as above

    def work() -> list[int]:
        graph = recollect.open(home).session(session_id).conversation
        views = (graph.tree.rows, graph.thread.chain, graph.branches, graph.compactions, graph.tools.calls)
        more = (graph.subagents, graph.messages(), graph.turns())
        return [len(view) for view in (*views, *more)]

    return work
