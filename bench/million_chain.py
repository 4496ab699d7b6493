"""One million entries, each the child of the one before: the graph must be iterative and linear."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

from bench.generator.content import encode, iso
from bench.measure import Series, function, interleave
from bench.read_session import build_graph, decode_with_msgspec
from bench.stores import cached_folder
from bench.table import Goal, Row

ABILITY = "one long chain"
GOAL_SECONDS = 10.0
MILLION = 1_000_000
SESSION_ID = str(uuid.UUID(int=1, version=4))
_CWD = "/home/dev/work/chain"
_START = 1_767_225_600.0


def rows(quick: bool) -> Iterator[Row]:
    tenth, tenth_row = _measure(MILLION // 10, rounds=3)
    yield tenth_row
    if quick:
        return
    whole, whole_row = _measure(MILLION, rounds=3, limit=GOAL_SECONDS)
    yield whole_row
    growth = whole.cpu_seconds / tenth.cpu_seconds
    yield Row(ABILITY, f"{MILLION:,} entries", None, None, f"{MILLION // 10:,} entries (linear: 10)", growth)


def _measure(count: int, rounds: int, limit: float | None = None) -> tuple[Series, Row]:
    home = chain_home(count)
    path = home / "projects" / "-home-dev-work-chain" / f"{SESSION_ID}.jsonl"
    floor, graph = interleave(
        [
            function("msgspec", decode_with_msgspec, path),
            function("recollect", build_graph, home, SESSION_ID),
        ],
        rounds,
    )
    goal = Goal(f"<= {limit:g} s", limit, graph.cpu_seconds) if limit else None
    case = f"{count:,} entries, full graph"
    ratio = graph.ratio_to(floor)
    return graph, Row(ABILITY, case, graph.cpu_seconds, graph.peak_mb, "msgspec, every line", ratio, goal)


def chain_home(count: int) -> Path:
    return cached_folder(f"chain-{count}", lambda home: _write_chain(home, count), [Path(__file__)], str(count))


def _write_chain(home: Path, count: int) -> None:
    folder = home / "projects" / "-home-dev-work-chain"
    folder.mkdir(parents=True)
    with open(folder / f"{SESSION_ID}.jsonl", "wb") as file:
        parent: str | None = None
        for number in range(count):
            own = str(uuid.UUID(int=number + 2, version=4))
            role = "assistant" if number % 2 else "user"
            file.write(encode(_entry(number, role, own, parent)) + b"\n")
            parent = own


def _entry(number: int, role: str, own: str, parent: str | None) -> dict[str, object]:
    text = f"Line {number} of a very long conversation."
    message: dict[str, object] = {"role": role, "content": text}
    if role == "assistant":
        message = {
            "id": f"msg_{number:024d}",
            "type": "message",
            "role": role,
            "model": "claude-haiku-4-5-20251001",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 12},
        }
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": _CWD,
        "sessionId": SESSION_ID,
        "version": "2.1.44",
        "gitBranch": "main",
        "type": role,
        "message": message,
        "uuid": own,
        "timestamp": iso(_START + number),
    }
