"""The same counts as ccusage where it is right, and every difference with its cause: see docs/compatibility.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.measure import BenchFailed
from tests.analysis.scene import Scene, ledger_over, tokens

from bench import ccusage
from recollect.testing.ages import ALL_AGES, build_age
from recollect.testing.demo import build_demo_home

pytestmark = [pytest.mark.compat, pytest.mark.timeout(300)]

#: Their lines name no request: ccusage then takes every copy of a call for a call.
WITHOUT_REQUESTS = ("0.2.126", "1.0.0")
COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
SONNET, OPUS = "claude-sonnet-4-20250514", "claude-opus-4-6"
Told = dict[str, tuple[tuple[int, ...], float, int]]
"""By day and model: the four counts, the cost in micro-dollars, and how many calls."""


@pytest.fixture(scope="module")
def program() -> str:
    try:
        return ccusage.binary()
    except BenchFailed as problem:
        pytest.skip(str(problem))


def ours(root: Path, index: Path) -> Told:
    found: Told = {}
    with ledger_over([root], index) as ledger:
        for group in ledger.usage("day").groups:
            for model, totals in group.models.items():
                counts = totals.counts
                four = (counts.input, counts.output, counts.cache_write_5m + counts.cache_write_1h, counts.cache_read)
                found[f"{group.key}|{model}"] = four, totals.cost, totals.calls
    return found


def theirs(root: Path, program: str) -> dict[str, tuple[tuple[int, ...], float]]:
    told = ccusage.daily(root, program)
    return {key: (ccusage.four_counts(part), part["cost"] * 1_000_000) for key, part in told.items()}


def agree(root: Path, index: Path, program: str) -> None:
    """Every day and model: tokens to the last one; cost but for the rounding of each call."""
    mine, other = ours(root, index), theirs(root, program)
    assert {key: counts for key, (counts, _, _) in mine.items()} == {key: counts for key, (counts, _) in other.items()}
    for key, (_, cost, calls) in mine.items():
        assert abs(cost - other[key][1]) <= calls, key
    assert mine


def test_demo_home(tmp_path: Path, program: str) -> None:
    build_demo_home(tmp_path / "demo")
    agree(tmp_path / "demo", tmp_path / "index", program)


@pytest.mark.parametrize("version", [version for version in ALL_AGES if version not in WITHOUT_REQUESTS])
def test_home_of_every_age(version: str, tmp_path: Path, program: str) -> None:
    build_age(tmp_path / "home", version)
    agree(tmp_path / "home", tmp_path / "index", program)


def rewrite(root: Path, change: Callable[[dict[str, Any]], None]) -> None:
    for path in root.rglob("projects/**/*.jsonl"):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for line in lines:
            change(line)
        path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), "utf-8")


def answers(root: Path) -> list[dict[str, Any]]:
    lines = [line for path in root.rglob("projects/**/*.jsonl") for line in path.read_text("utf-8").splitlines()]
    return [entry for entry in map(json.loads, lines) if entry.get("type") == "assistant"]


@pytest.mark.parametrize("version", WITHOUT_REQUESTS)
def test_calls_without_a_request_are_counted_by_ccusage_as_often_as_they_were_copied(
    version: str, tmp_path: Path, program: str
) -> None:
    """And their cost is what their lines say (`costUSD`). With a request and without that cost, both agree."""
    build_age(tmp_path / "home", version)
    lines = answers(tmp_path / "home")
    other = theirs(tmp_path / "home", program).values()
    mine = ours(tmp_path / "home", tmp_path / "before").values()
    every_line = [sum(line["message"]["usage"].get(name, 0) for line in lines) for name in COUNTS]
    assert [sum(column) for column in zip(*(counts for counts, _ in other), strict=True)] == every_line
    assert sum(cost for _, cost in other) == pytest.approx(sum(line["costUSD"] for line in lines) * 1_000_000)
    each_once = {line["message"]["id"]: line["message"]["usage"] for line in lines}
    assert len(each_once) < len(lines)
    assert [sum(column) for column in zip(*(counts for counts, _, _ in mine), strict=True)] == [
        sum(usage.get(name, 0) for usage in each_once.values()) for name in COUNTS
    ]

    def name_request(line: dict[str, Any]) -> None:
        if line.get("type") == "assistant":
            line["requestId"] = f"req_{line['message']['id']}"
            line.pop("costUSD", None)

    rewrite(tmp_path / "home", name_request)
    agree(tmp_path / "home", tmp_path / "after", program)


@pytest.mark.parametrize(
    ("model", "day", "used", "our_cost", "their_cost"),
    [
        # Above 200,000 tokens every token of the response costs more; ccusage takes more only for those above, class by class.
        (SONNET, "2025-09-20", tokens(300_000, 1000), 300_000 * 6 + 22_500, 200_000 * 3 + 100_000 * 6 + 15_000),
        (SONNET, "2025-09-20", tokens(150_000, 1000, read=100_000), 982_500, 495_000),
        (SONNET, "2025-09-20", tokens(0, 300_000), 300_000 * 15, 200_000 * 15 + 100_000 * 22.5),
        # It has no higher prices for this model, though there were some until 2026-03-12.
        (OPUS, "2026-02-20", tokens(300_000, 1000), 300_000 * 10 + 37_500, 300_000 * 5 + 25_000),
        # Geography, batches and searches have no price there; fast mode has.
        (OPUS, "2026-03-10", tokens(1000, 1000, inference_geo="us"), 33_000, 30_000),
        (OPUS, "2026-03-10", tokens(1000, 1000, service_tier="batch"), 15_000, 30_000),
        (OPUS, "2026-03-10", tokens(1000, 1000, server_tool_use={"web_search_requests": 3}), 60_000, 30_000),
        (OPUS, "2026-03-10", tokens(1000, 1000, speed="fast"), 180_000, 180_000),
    ],
)
def test_prices_that_differ(
    model: str, day: str, used: dict[str, Any], our_cost: float, their_cost: float, tmp_path: Path, program: str
) -> None:
    scene = Scene(tmp_path)
    scene.write("s", scene.answer("msg_1", used, model=model, time=f"{day}T10:00:00.000Z"))
    [(counts, cost, _)] = ours(scene.root, scene.index).values()
    [(other, their)] = theirs(scene.root, program).values()
    assert (counts, cost) == (other, our_cost)
    assert their == pytest.approx(their_cost)


@pytest.mark.parametrize(
    "change", [{"timestamp": "2026-03-10T10:00:00.123456Z"}, {"timestamp": None}, {"written": "with spaces"}]
)
def test_lines_that_no_client_writes_are_not_seen_by_ccusage(
    change: dict[str, Any], tmp_path: Path, program: str
) -> None:
    scene = Scene(tmp_path)
    answer = scene.answer("msg_1", tokens(1, 2)) | change
    scene.write("s", json.dumps(answer) if "written" in change else answer)
    assert [calls for _, _, calls in ours(scene.root, scene.index).values()] == [1]
    assert theirs(scene.root, program) == {}
