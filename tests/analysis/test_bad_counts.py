"""Counts that nobody can have, answers without counts, and times that say no zone: marked, named, and never a wrong sum."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Scene, tokens

from recollect.analysis.explain import explain
from recollect.analysis.timing import hours_of_week
from recollect.format.times import has_zone
from recollect.format.usage import LARGEST_COUNT, parse_usage

FULL = tokens(10, 200, 30, 40, 500)
FIELDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@pytest.mark.parametrize("count", [10**9 + 1, 10**12, 2**53, 2**63, 2**64, 10**30, 10**400])
def test_a_count_that_no_response_has_is_marked_and_not_added_up(scene: Scene, count: int) -> None:
    for number in range(30):
        usage = dict.fromkeys(FIELDS, count) | {"server_tool_use": {"web_search_requests": count}}
        scene.append("s", scene.answer(f"m{number}", usage, request=f"r{number}"))
    scene.append("s", scene.answer("good", FULL, request="good"))
    assert scene.counts() == (31, 10, 200, 30, 40, 500)
    with scene.open() as ledger:
        for by in ("day", "session"):
            totals = ledger.usage(by).totals
            assert (totals.odd, totals.counts.web_searches) == (30, 0)
    assert parse_usage(dict.fromkeys(FIELDS, count)) == parse_usage(dict.fromkeys(FIELDS, -1))


def test_the_largest_counts_of_many_calls_are_added_up_exactly(scene: Scene) -> None:
    for number in range(300):
        usage = dict.fromkeys(FIELDS, LARGEST_COUNT) | {"server_tool_use": {"web_search_requests": 1_000_000}}
        scene.append("s", scene.answer(f"m{number}", usage, request=f"r{number}", model="claude-opus-4-1-20250805"))
    with scene.open() as ledger:
        totals = ledger.usage("day").totals
        assert totals == ledger.usage("session").totals
    assert (totals.counts.input, totals.counts.web_searches, totals.odd) == (300 * 10**9, 300 * 10**6, 0)
    assert totals.cost == 300 * (10**9 * (15 + 75 + 18.75 + 1.5) + 10**6 * 10_000)


def test_sums_that_no_database_adds_up_are_added_up_all_the_same(scene: Scene) -> None:
    for name in ("s", "t", "u"):
        scene.write(name, scene.answer(f"m{name}", FULL, request=name, session=name))
    with scene.open() as ledger:
        ledger.sync()
        ledger.catalogue.connection.execute("UPDATE api_calls SET input = ?", (2**62,))
        totals = ledger.usage("day").totals
        assert (totals.calls, totals.counts.input) == (3, 3 * 2**62)
        assert totals == ledger.usage("session").totals
        assert totals.counts.output == 600


def test_rounds_of_an_advisor_that_come_to_too_much(scene: Scene) -> None:
    many = {"type": "advisor_message", "model": "claude-opus-4-5", "input_tokens": 10**9, "output_tokens": 1}
    scene.write("s", scene.answer("m", FULL | {"iterations": [{"type": "message"}, many, many]}))
    with scene.open() as ledger:
        totals = ledger.usage("model").totals
    assert (totals.calls, totals.odd, totals.counts.input, totals.counts.output) == (2, 1, 10, 200)


# -- answers without counts -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("usage", [None, {}, [1, 2], "x", 5, ..., {"service_tier": "standard"}, {"inputTokens": 5}])
@pytest.mark.parametrize("spaces", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("padding", [0, 2000])
@pytest.mark.parametrize("end", ["\n", ""])
def test_an_answer_without_counts_is_a_marked_call(
    scene: Scene, usage: Any, spaces: tuple[str, str], padding: int, end: str
) -> None:
    bare = scene.answer("bare", usage, request="bare", cwd="/work/" + "a" * padding)
    bare["message"]["content"][0]["text"] = "x" * padding
    if usage is ...:
        del bare["message"]["usage"]
    scene.write("s", scene.answer("m", FULL), json.dumps(bare, separators=spaces), end=end)
    assert scene.counts() == (2, 10, 200, 30, 40, 500)
    with scene.open() as ledger:
        assert ledger.usage("day").totals.odd == ledger.usage("session").totals.odd == 1
        marked = [explain(item, ledger.book, ledger.zone) for item in ledger.calls() if item.odd]
    assert [(row["message_id"], row["line"]) for row in marked] == [("bare", 2)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("grown", [False, True])
@pytest.mark.parametrize(
    "first", [None, {"output_tokens": 7}, {"input_tokens": 10}, {**FULL, "output_tokens": None}, {**FULL, "input_tokens": None}]
)  # fmt: skip
def test_counts_on_another_line_of_the_call_are_enough(
    scene: Scene, order: tuple[int, int], grown: bool, first: Any
) -> None:
    lines = [scene.answer("m", first), scene.answer("m", FULL)]
    scene.write("s", lines[order[0]])
    if grown:
        scene.counts()
    scene.append("s", lines[order[1]])
    assert scene.counts() == (1, 10, 200, 30, 40, 500)
    with scene.open() as ledger:
        assert ledger.usage("day").totals.odd == 0


def test_counts_in_another_file_are_enough(scene: Scene) -> None:
    scene.write("s", scene.answer("m", None))
    scene.write("t", scene.answer("m", FULL, session="t", time="2025-11-03T11:00:00.000Z"))
    with scene.open() as ledger:
        for by in ("day", "session"):
            totals = ledger.usage(by).totals
            assert (totals.calls, totals.odd, totals.counts.output) == (1, 0, 200)


def test_counts_in_no_file_at_all(scene: Scene) -> None:
    for name in ("s", "t"):
        scene.write(name, scene.answer("m", {"output_tokens": 200}, session=name))
    with scene.open() as ledger:
        for by in ("day", "session"):
            totals = ledger.usage(by).totals
            assert (totals.calls, totals.odd, totals.copies, totals.counts.output) == (1, 1, 1, 200)


@pytest.mark.parametrize(
    "change",
    [{"type": "user"}, {"isApiErrorMessage": True}, {"message": None}, {"message": {"role": "assistant", "content": "x"}}],
)  # fmt: skip
def test_what_is_no_answer_of_the_api_is_no_call(scene: Scene, change: dict[str, Any]) -> None:
    scene.write("s", scene.answer("m", None) | change, scene.answer("n", None, model="<synthetic>"))
    assert scene.counts() == (0, 0, 0, 0, 0, 0)


# -- times ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("time", "zoneless"),
    [
        ("2026-03-01T12:00:00.000Z", 0), ("2026-03-01T12:00:00+02:00", 0), ("2026-03-01T12:00:00", 1), ("2026-03-01", 1),
        ("Sun, 01 Mar 2026 12:00:00 GMT", 0), ("Sun, 01 Mar 2026 12:00:00", 1), ("soon", 0), (None, 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("usage", [FULL, FULL | {"output_tokens": -1}])
def test_times_without_a_zone_are_told(scene: Scene, time: str | None, zoneless: int, usage: Any) -> None:
    scene.write("s", scene.answer("m", usage, time=time))
    with scene.open() as ledger:
        assert ledger.usage("day").totals.zoneless == ledger.usage("session").totals.zoneless == zoneless
    if time not in (None, "soon"):
        assert has_zone(str(time)) == (not zoneless)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_the_first_and_the_last_moment_of_all_calendars(scene: Scene, zone: str) -> None:
    for number, time in enumerate(("0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", "2026-03-01T12:00:00.000Z")):
        scene.append("s", scene.answer(f"m{number}", FULL, request=f"r{number}", time=time, model=MODEL))
    with scene.open(zone=zone) as ledger:
        for by in ("day", "week", "month", "year"):
            report = ledger.usage(by)
            assert (report.totals.calls, report.timeless, len(report.groups)) == (3, 0, 3)
        assert sum(map(sum, hours_of_week(ledger.calls(), ledger.zone))) == 3
