"""Reports: days by one rule, bad input marked and never a wrong sum, lower bounds, comparisons, explanations."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Scene, tokens

from recollect.analysis.explain import explain
from recollect.analysis.zones import week_of, zone_named
from recollect.errors import QueryError
from recollect.library.usage import Selection

FULL = tokens(10, 200, 30, 40, 500)


def at(scene: Scene, number: int, time: str | None, **more: Any) -> dict[str, Any]:
    return scene.answer(f"msg_{number}", FULL, request=f"req_{number}", time=time, **more)


# -- days -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("UTC", {"2026-03-28": 1, "2026-03-29": 3}),
        ("Europe/Berlin", {"2026-03-29": 3, "2026-03-30": 1}),
        ("America/Los_Angeles", {"2026-03-28": 2, "2026-03-29": 2}),
        ("Asia/Kathmandu", {"2026-03-29": 3, "2026-03-30": 1}),
    ],
)
def test_days_are_those_of_the_zone_across_the_change_to_summer_time(
    scene: Scene, zone: str, days: dict[str, int]
) -> None:
    times = (
        "2026-03-28T23:00:00.000Z",
        "2026-03-29T00:59:59.999Z",
        "2026-03-29T08:00:00.000Z",
        "2026-03-29T22:00:00.000Z",
    )
    scene.write("s", *(at(scene, number, time) for number, time in enumerate(times)))
    with scene.open(zone=zone) as ledger:
        report = ledger.usage("day")
        assert {group.key: group.totals.calls for group in report.groups} == days
        assert report.zone == zone
        for day, calls in days.items():
            first = ledger.zone.start_of(date.fromisoformat(day))
            after = ledger.zone.start_of(date.fromordinal(date.fromisoformat(day).toordinal() + 1))
            chosen = Selection(first, after)
            assert ledger.usage("day", chosen).totals.calls == calls  # from the sums
            assert ledger.usage("session", chosen).totals.calls == calls  # from the calls


def test_another_zone_makes_the_sums_anew(scene: Scene) -> None:
    scene.write("s", at(scene, 1, "2026-03-28T23:30:00.000Z"))
    for zone, day in (("UTC", "2026-03-28"), ("Europe/Berlin", "2026-03-29"), ("UTC", "2026-03-28")):
        with scene.open(zone=zone) as ledger:
            assert [group.key for group in ledger.usage("day").groups] == [day]


def test_weeks_begin_on_monday_and_months_add_up(scene: Scene) -> None:
    assert week_of("2026-03-01") == "2026-02-23"
    scene.write("s", at(scene, 1, "2026-03-01T12:00:00.000Z"), at(scene, 2, "2026-03-02T12:00:00.000Z"))
    with scene.open() as ledger:
        assert [group.key for group in ledger.usage("week").groups] == ["2026-02-23", "2026-03-02"]
        assert [(group.key, group.totals.calls) for group in ledger.usage("month").groups] == [("2026-03", 2)]


def test_a_zone_that_does_not_exist() -> None:
    with pytest.raises(QueryError, match="no such time zone"):
        zone_named("Middle/Earth")


# -- bad input --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bad", [-5, "many", 1 << 60, True, [1], 1.5, {"a": 1}])
def test_counts_that_are_none_are_marked_and_taken_as_nought(scene: Scene, bad: Any) -> None:
    scene.write("s", scene.answer("msg_1", FULL | {"output_tokens": bad}), at(scene, 2, "2025-11-03T10:00:00.000Z"))
    assert scene.counts() == (2, 20, 200, 60, 80, 1000)
    with scene.open() as ledger:
        report = ledger.usage("day")
        assert report.totals.odd == 1
        assert ledger.usage("model").totals == report.totals


@pytest.mark.parametrize("missing", ["input_tokens", "cache_creation", "cache_read_input_tokens"])
def test_missing_or_null_counts_are_nought(scene: Scene, missing: str) -> None:
    without = {key: value for key, value in FULL.items() if key != missing}
    scene.write("s", scene.answer("msg_1", without), scene.answer("msg_2", FULL | {missing: None}, request="req_2"))
    with scene.open() as ledger:
        totals = ledger.usage("day").totals
    assert (totals.calls, totals.counts.output) == (2, 400)
    assert totals.odd == (
        2 if missing == "input_tokens" else 0
    )  # every response has an input, but not every one a cache


@pytest.mark.parametrize("time", [None, "", "yesterday", "99999-01-01T00:00:00Z"])
def test_calls_without_a_time_stand_apart(scene: Scene, time: str | None) -> None:
    scene.write("s", at(scene, 1, time), at(scene, 2, "2026-03-01T12:00:00.000Z"))
    with scene.open() as ledger:
        report = ledger.usage("day")
        assert [(group.key, group.totals.calls) for group in report.groups] == [("(no time)", 1), ("2026-03-01", 1)]
        assert report.timeless == 1
        assert ledger.usage("day", Selection(since=0)).totals.calls == 1


def test_a_time_without_a_zone_is_utc(scene: Scene) -> None:
    scene.write("s", at(scene, 1, "2026-03-01T23:30:00"))
    with scene.open(zone="Europe/Berlin") as ledger:
        assert ledger.usage("day").groups[0].key == "2026-03-02"


def test_a_model_never_seen_is_named_and_not_free(scene: Scene) -> None:
    scene.write("s", at(scene, 1, None, model="claude-nobody-9"), at(scene, 2, None, model=None))
    with scene.open() as ledger:
        for report in (ledger.usage("day"), ledger.usage("model")):
            assert report.unpriced == {"claude-nobody-9": 1, "": 1}
            assert (report.totals.cost, report.totals.unpriced, report.totals.counts.output) == (0, 2, 400)


def test_an_empty_store(scene: Scene) -> None:
    with scene.open() as ledger:
        report = ledger.usage("day")
        assert (report.groups, report.totals.calls) == ([], 0)


def test_lone_surrogates_beside_the_counts(scene: Scene) -> None:
    row = at(scene, 1, "2026-03-01T12:00:00.000Z")
    row["message"]["content"][0]["text"] = "half \ud83d"
    row["gitBranch"] = "b\ud83d"
    scene.write("s", row)
    with scene.open() as ledger:
        assert ledger.usage("branch").totals.calls == 1


# -- lower bounds -----------------------------------------------------------------------------------------------------
def test_an_output_that_never_ended_is_a_lower_bound(scene: Scene) -> None:
    scene.write("s", *(scene.answer("msg_1", tokens(10, 1), stop=None) for _ in range(2)), at(scene, 2, None))
    with scene.open() as ledger:
        for by in ("day", "session"):
            assert ledger.usage(by).totals.lower_bounds == 1


@pytest.mark.parametrize(
    ("version", "marked"),
    [("0.2.126", False), ("1.0.29", False), ("1.0.30", True), ("2.1.197", True), (None, True)],
)
@pytest.mark.parametrize("twice", [False, True])
def test_only_clients_that_wrote_placeholders_have_lower_bounds(
    scene: Scene, version: str | None, marked: bool, twice: bool
) -> None:
    line = scene.answer("msg_1", tokens(1, 1), stop=None) | ({} if version is None else {"version": version})
    other = scene.answer("msg_1", tokens(1, 2), stop=None) | ({} if version is None else {"version": version})
    scene.write("s", line, *([other, line] if twice else []))
    with scene.open() as ledger:
        assert ledger.usage("day").totals.lower_bounds == ledger.usage("model").totals.lower_bounds == marked


# -- money ------------------------------------------------------------------------------------------------------------
def test_cost_is_that_of_the_day_and_of_today(scene: Scene) -> None:
    scene.write("s", at(scene, 1, "2026-09-29T12:00:00.000Z", model="claude-sonnet-5-5"))
    exact = 10 * 2 + 200 * 10 + 30 * 2.5 + 40 * 4
    with scene.open() as then, scene.open(prices="today") as today:
        assert then.usage("day").totals.cost == exact + 500 * 0.2
        assert then.usage("model").totals.cost == exact + 500 * 0.2
        assert today.usage("day").totals.cost == exact + 500 * 0.1


def test_every_total_is_the_sum_of_its_explained_responses(scene: Scene) -> None:
    for number, model in enumerate((MODEL, "claude-opus-4-5", "claude-haiku-5-5", "claude-haiku-5-5")):
        usage = tokens(3 + number, 7, 11, 13, 99_999 + number, server_tool_use={"web_search_requests": number})
        scene.append("s", scene.answer(f"m{number}", usage, request=f"r{number}", model=model))
    with scene.open() as ledger:
        rows = [explain(item, ledger.book, ledger.zone) for item in ledger.calls()]
        for row in rows:
            assert sum(part["cost_micro_usd"] for part in row["parts"]) == row["cost_micro_usd"]
            assert row["file"].endswith("s.jsonl") and row["price_since"] and row["prices"]
        total = sum(row["cost_micro_usd"] for row in rows)
        for by in ("day", "model", "session", "project", "branch", "subagent"):
            report = ledger.usage(by)
            assert report.totals.cost == total == sum(group.totals.cost for group in report.groups)
            assert report.totals.counts.web_searches == 6
    assert rows[2]["rule"] == rows[3]["rule"] == "standard, prompt above 100,000 tokens: all tokens at the higher rates"


def test_the_clients_own_count_is_held_against_ours(scene: Scene) -> None:
    state = {
        "type": "cost-state", "sessionId": "s", "totalCostUSD": 0.5,
        "modelUsage": {MODEL: {"inputTokens": 10, "outputTokens": 205, "cacheReadInputTokens": 500,
                               "cacheCreationInputTokens": 70, "costUSD": 0.5}},
    }  # fmt: skip
    older, newer = (json.dumps(value, separators=(",", ":")) for value in (state | {"modelUsage": {}}, state))
    scene.write("s", at(scene, 1, None), older, newer)
    with scene.open() as ledger:
        (found,) = ledger.comparisons()
    assert not found.same_tokens
    assert found.data()["difference"] == {"output": -5, "cost_micro_usd": 3532 - 500_000}
    assert found.their_cost == 500_000


def cost_state(cost: Any, **counts: Any) -> dict[str, Any]:
    told = {"inputTokens": 10, "outputTokens": 200, "cacheReadInputTokens": 500, "cacheCreationInputTokens": 70}
    return {"type": "cost-state", "sessionId": "s", "totalCostUSD": cost, "modelUsage": {MODEL: told | counts}}


APART = {"cacheCreationEphemeral5mInputTokens": 30, "cacheCreationEphemeral1hInputTokens": 40}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (cost_state(0.003532), {}),
        (cost_state(0.003534, **APART), {}),
        (cost_state(5.0), {"cost_micro_usd": 3532 - 5_000_000}),
        (cost_state(0.003532, cacheCreationEphemeral1hInputTokens=70), {"cache_write_5m": 30, "cache_write_1h": -30}),
        (cost_state(0.003532, webSearchRequests=2), {"web_searches": -2}),
        (cost_state(5.0) | {"hasUnknownModelCost": True}, {}),
    ],
)
def test_a_difference_in_any_count_or_in_cost_is_one(
    scene: Scene, state: dict[str, Any], expected: dict[str, int]
) -> None:
    scene.write("s", at(scene, 1, None), state)
    with scene.open() as ledger:
        (found,) = ledger.comparisons()
    assert found.difference() == expected and found.same == (not expected)


@pytest.mark.parametrize("cost", ["much", None, -1, [1]])
def test_a_count_of_the_client_that_cannot_be_read_is_named(scene: Scene, cost: Any) -> None:
    scene.write("s", at(scene, 1, None), cost_state(cost))
    with scene.open() as ledger:
        (found,) = ledger.comparisons()
    assert not found.same and found.problem == found.in_words() == "Claude Code's count cannot be read"
    assert found.data()["client"] is None


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_count_of_the_client_may_be_written_with_spaces(scene: Scene, end: str) -> None:
    other = json.dumps({"type": "mode", "of": "cost-state"})
    scene.write("s", at(scene, 1, None), json.dumps(cost_state(0.003532)), other, end="\n")
    scene.write("t", at(scene, 2, None), "{ " + json.dumps(cost_state(9.0))[1:], end=end)
    with scene.open() as ledger:
        assert [(item.session_id, item.same) for item in ledger.comparisons()] == [("s", True), ("t", False)]
        assert [item.session_id for item in ledger.comparisons(Selection(session="t"))] == ["t"]


# -- who and where ----------------------------------------------------------------------------------------------------
def test_filters(scene: Scene) -> None:
    scene.write(
        "s", at(scene, 1, "2026-03-01T12:00:00.000Z"),
        at(scene, 2, "2026-03-02T12:00:00.000Z", cwd="/work/a/.claude/worktrees/x", gitBranch="x"),
        at(scene, 3, "2026-03-03T12:00:00.000Z", cwd="/work/b", model="claude-opus-4-5", agentId="a9"),
    )  # fmt: skip
    with scene.open() as ledger:

        def calls(**chosen: Any) -> int:
            return ledger.usage("day", Selection(**chosen)).totals.calls

        assert calls(project="/work/a") == calls(project="a") == 2
        assert calls(project="b") == calls(model="opus") == calls(subagent="a9") == calls(branch="x") == 1
        assert calls(subagent="main") == 2
        assert calls(session="s") == 3
        assert calls(project="nowhere") == 0
        assert {group.key: group.totals.calls for group in ledger.usage("project").groups} == {
            "/work/a": 2,
            "/work/b": 1,
        }
        assert len(ledger.usage("project", separate_worktrees=True).groups) == 3


@pytest.mark.parametrize("subagent_first", [False, True])
def test_our_side_of_the_check_does_not_depend_on_which_file_came_first(scene: Scene, subagent_first: bool) -> None:
    """A call in a session's file and, with a later time and another price, in that of its subagent."""
    rows = [
        scene.answer("m1", tokens(1_000_000, 0), time=time, model="claude-3-5-haiku-20241022")
        for time in ("2024-12-04T10:00:00.000Z", "2024-12-06T10:00:00.000Z")
    ]
    writing = [("s", [rows[0], cost_state(1.0)]), ("s/subagents/agent-a1", [rows[1]])]
    for name, lines in reversed(writing) if subagent_first else writing:
        scene.write(name, *lines)
        with scene.open() as ledger:
            ledger.usage("day")
    with scene.open() as ledger:
        (row,) = ledger.comparisons()
        assert (row.our_cost, row.calls) == (ledger.usage("day").totals.cost, 1) == (1_000_000, 1)
