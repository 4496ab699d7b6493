"""Listing every session of a store, against `list_sessions()` of the official SDK on the same store."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench.measure import RECOLLECT, BenchFailed, Contestant, Series, function, interleave
from bench.stores import cached_folder, generated_home
from bench.table import Goal, Row

ABILITY = "list sessions"
GOAL = 0.5
FEW, MANY = 3_000, 50_000
TIMES, MEGABYTES = 17, 150
"""What a list of many sessions may cost: so many times the processor time of a few, and no more memory than that."""
PEER = "claude_agent_sdk.list_sessions()"


def rows(quick: bool) -> Iterator[Row]:
    if find_spec("claude_agent_sdk") is None:
        raise BenchFailed("the package claude-agent-sdk is not installed: nothing to compare the listing with")
    rounds = 3 if quick else 7
    # In the first store most files are so short that head and tail are all of them, and every line is counted;
    # the second is small enough as a whole for exact counts; in the third most files are long.
    yield from _compare(generated_home("listing", "--sessions", "3000", "--bytes", "150e6"), "150 MB", rounds)
    if not quick:
        yield from _compare(generated_home("listing-short", "--sessions", "3000", "--bytes", "50e6"), "50 MB", rounds)
        yield from _compare(generated_home("medium", "--preset", "medium"), "1 GB", rounds)

    yield from _one_line_sessions(rounds)


def _one_line_sessions(rounds: int) -> Iterator[Row]:
    """Many sessions of a line each in one folder: what a list costs beside reading."""
    homes = [cached_folder(f"one-line-{count}", partial(_make, count), [Path(__file__)]) for count in (FEW, MANY)]
    for words in (("list",), ("list", "--json"), ("overview",)):
        few, many = interleave(
            [
                Contestant(f"{home.name}", (*RECOLLECT, "--home", str(home / "claude"), *words))
                for home in homes
            ],
            rounds,
        )  # fmt: skip
        ratio, case = many.ratio_to(few), f"{MANY:,} one-line sessions, `{' '.join(words)}`"
        goal = Goal(f"<= {TIMES:g}", TIMES, ratio)
        yield Row(ABILITY, case, many.cpu_seconds, many.peak_mb, f"{FEW:,} sessions", ratio, goal)
        goal = Goal(f"<= {MEGABYTES} MB", MEGABYTES, many.peak_mb)
        yield Row(ABILITY, f"{case}, memory", many.cpu_seconds, many.peak_mb, goal=goal)


def _make(count: int, folder: Path) -> None:
    project = folder / "claude" / "projects" / "-w-app"
    project.mkdir(parents=True)
    for number in range(count):
        session = str(uuid.UUID(int=number, version=4))
        row = {
            "parentUuid": None, "isSidechain": False, "cwd": "/w/app", "sessionId": session, "version": "2.1.325",
            "gitBranch": "main", "type": "user", "message": {"role": "user", "content": f"prompt {number}"},
            "uuid": str(uuid.UUID(int=number)), "timestamp": "2026-03-02T10:00:00.000Z",
        }  # fmt: skip
        (project / f"{session}.jsonl").write_text(json.dumps(row) + "\n")


def _compare(home: Path, size: str, rounds: int) -> Iterator[Row]:
    sdk_home = {"CLAUDE_CONFIG_DIR": str(home)}
    peer, library, command, peer_process = interleave(
        [
            function("sdk", list_with_sdk, environment=sdk_home),
            function("library", list_with_library, home),
            Contestant("command", (*RECOLLECT, "--home", str(home), "list", "--json")),
            Contestant("sdk process", (sys.executable, "-c", _SDK_PROGRAM), sdk_home),
        ],
        rounds,
    )
    case = f"{library.result} sessions, {size}"
    ratio = library.ratio_to(peer)
    goal = Goal(f"<= {GOAL:g}", GOAL, ratio)
    yield Row(ABILITY, f"{case}, library", library.cpu_seconds, library.peak_mb, f"{PEER}", ratio, goal)
    yield _row(f"{case}, `list --json`", command, f"{PEER}, call alone", peer)
    yield _row(f"{case}, `list --json`", command, f"{PEER}, whole process", peer_process)
    yield Row(ABILITY, f"{peer.result} sessions, {size}, SDK", peer.cpu_seconds, peer.peak_mb)


def _row(case: str, series: Series, name: str, peer: Series) -> Row:
    return Row(ABILITY, case, series.cpu_seconds, series.peak_mb, name, series.ratio_to(peer))


_SDK_PROGRAM = "from claude_agent_sdk import list_sessions; print(len(list_sessions()))"


def list_with_sdk() -> Callable[[], object]:
    from claude_agent_sdk import list_sessions

    return lambda: len(list_sessions())


def list_with_library(home: str) -> Callable[[], object]:
    import recollect

    return lambda: len(recollect.open(home).sessions())
