"""Several groupings at once: every row by all of them, the same totals, whether from sums or from the calls."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import permutations
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Scene, tokens

from recollect.analysis.usage import groupings
from recollect.library.usage import Selection

OPUS = "claude-opus-4-5-20251101"
NAMES = ("day", "week", "month", "session", "project", "model", "subagent", "branch", "tool")


@pytest.fixture
def filled(scene: Scene) -> Scene:
    def call(number: int, day: int, output: int, model: str, **more: Any) -> dict[str, Any]:
        when = f"2026-03-{day:02d}T12:00:00.000Z" if day else None
        return scene.answer(f"m{number}", tokens(1, output), request=f"r{number}", time=when, model=model, **more)

    both = call(3, 2, 31, OPUS)
    both["message"]["content"] = [
        {"type": "tool_use", "id": f"t{number}", "name": name, "input": {}}
        for number, name in enumerate(("Read", "Bash", "Read"))
    ]
    scene.write("s", call(1, 1, 10, MODEL), call(2, 1, 20, OPUS, gitBranch="x"), both)
    scene.write("t", call(4, 2, 40, MODEL, session="t", cwd="/work/b"), call(5, 0, 50, OPUS, session="t"))
    return scene


def test_rows_by_day_and_model(filled: Scene) -> None:
    with filled.open() as ledger:
        report = ledger.usage(("day", "model"))
        assert report.by == "day,model"
        assert {group.keys: group.totals.counts.output for group in report.groups} == {
            ("(no time)", OPUS): 50, ("2026-03-01", MODEL): 10, ("2026-03-01", OPUS): 20, ("2026-03-02", MODEL): 40,
            ("2026-03-02", OPUS): 31,
        }  # fmt: skip
        assert [group.keys[0] for group in report.groups] == ["(no time)", *["2026-03-01"] * 2, *["2026-03-02"] * 2]
        row = report.groups[-1].data(report.by)
        assert (row["day"], row["model"], row["calls"]) == (*report.groups[-1].keys, 1)
        assert [group.keys for group in ledger.usage("day,model").groups] == [group.keys for group in report.groups]


@pytest.mark.parametrize("by", NAMES[3:])
def test_a_report_by_day_and_more_holds_the_one_by_that_alone(filled: Scene, by: str) -> None:
    with filled.open() as ledger:
        chosen = Selection(model="claude")  # from the calls, not from sums
        assert ledger.usage(("day", by), chosen).without_first_grouping() == ledger.usage(by, chosen)


@pytest.mark.parametrize("names", [*permutations(NAMES, 2), ("month", "day", "model"), ("tool", "day", "branch")])
def test_the_totals_are_the_same_by_whatever_and_in_whatever_order(filled: Scene, names: tuple[str, ...]) -> None:
    with filled.open() as ledger:
        whole = ledger.usage("session").totals
        report = ledger.usage(names)
        assert report.totals == whole
        for place in range(7):
            assert sum(group.totals.counts[place] for group in report.groups) == whole.counts[place]
        assert sum(group.totals.cost for group in report.groups) == whole.cost
        assert len({group.keys for group in report.groups}) == len(report.groups)
        # Taken together by its first grouping alone, it is the report by that one.
        alone = {group.keys[0]: group.totals.counts.output for group in ledger.usage(names[0]).groups}
        joined: dict[str, int] = {}
        for group in report.groups:
            joined[group.keys[0]] = joined.get(group.keys[0], 0) + group.totals.counts.output
        assert joined == alone
        assert list(joined) == list(alone)  # and in its order


@pytest.mark.parametrize("names", ["day", "model", "day,model", "model,month", "week,model,day"])
def test_sums_and_calls_give_the_same_rows(filled: Scene, names: str) -> None:
    everything = Selection(project="/work")  # not answered by sums
    with filled.open() as ledger:
        quick, slow = ledger.usage(names), ledger.usage(names, everything)
        assert [(group.keys, group.totals, group.models) for group in quick.groups] == [
            (group.keys, group.totals, group.models) for group in slow.groups
        ]
        assert (quick.totals, quick.timeless, quick.unpriced) == (slow.totals, slow.timeless, slow.unpriced)


def test_a_tool_that_is_called_twice_in_a_response_is_one_call_of_it(filled: Scene) -> None:
    with filled.open() as ledger:
        rows = {group.key: group.totals for group in ledger.usage("tool").groups}
    assert (rows["Read"].calls, rows["Bash"].calls) == (1, 1)
    assert (rows["Read"].counts.output, rows["Bash"].counts.output) == (21, 10)


def calling(scene: Scene, message: str, *tools: str, **more: Any) -> dict[str, Any]:
    answer = scene.answer(message, tokens(10, 30), request=message, **more)
    answer["message"]["content"] = [
        {"type": "tool_use", "id": f"{message}-{number}", "name": name, "input": {}}
        for number, name in enumerate(tools)
    ]
    return answer


def progress(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "progress", "sessionId": "s", "timestamp": told["timestamp"], "uuid": f"p{told['uuid']}", "cwd": "/work/a",
        "data": {"type": "agent_progress", "agentId": "a1", "message": told},
    }  # fmt: skip


@pytest.mark.parametrize("has_own_file", [False, True])
def test_tools_of_a_subagent_are_known_by_its_progress_or_by_its_own_file(scene: Scene, has_own_file: bool) -> None:
    """Clients 2.1.0 to 2.1.42 repeat a subagent's answers in the main file, one line for each block."""
    parts = [calling(scene, "m2", "Grep"), calling(scene, "m2", "Grep", "Read"), calling(scene, "m3")]
    scene.write("s", calling(scene, "m1", "Task"), *map(progress, parts))
    if has_own_file:
        scene.write("s/subagents/agent-a1", *(part | {"agentId": "a1", "isSidechain": True} for part in parts))
    with scene.open() as ledger:
        report = ledger.usage("tool")
    outputs = {group.key: group.totals.counts.output for group in report.groups}
    assert outputs == {"Task": 30, "Grep": 15, "Read": 15, "(no tool)": 30}


def test_hostile_progress_lines_have_no_tools(scene: Scene) -> None:
    good = calling(scene, "m2", "Grep")
    odd: list[Any] = [progress(calling(scene, "m9", "Grep")) for _ in range(5)]
    odd[0]["data"] = "tool_use"
    odd[1]["data"]["message"] = ["tool_use"]
    odd[2]["data"]["message"]["message"]["content"] = "tool_use"
    odd[3]["data"]["message"]["message"]["content"] = ["tool_use", {"type": "tool_use", "id": 5, "name": None}]
    odd[4]["data"]["message"]["message"]["id"] = ["tool_use"]
    scene.write("s", *odd, progress(good))
    with scene.open() as ledger:
        outputs = {group.key: group.totals.counts.output for group in ledger.usage("tool").groups}
    assert outputs["Grep"] == 30


def test_what_an_advisor_used_goes_to_the_tools_of_its_message(scene: Scene) -> None:
    answer = calling(scene, "m1", "Bash")
    answer["message"]["usage"]["iterations"] = [
        {"type": "message", "input_tokens": 10, "output_tokens": 30},
        {"type": "advisor_message", "model": OPUS, "input_tokens": 100, "output_tokens": 7},
    ]
    scene.write("s", answer)
    with scene.open() as ledger:
        for chosen, output in ((Selection(), 37), (Selection(model="opus"), 7)):
            [group] = ledger.usage("tool", chosen).groups
            assert (group.key, group.totals.counts.output) == ("Bash", output)


@pytest.mark.parametrize("name", ["project", "model", "branch", "subagent"])
def test_an_empty_choice_is_the_same_by_whatever_it_is_grouped(filled: Scene, name: str) -> None:
    """The quick sums know no choice: they must not answer."""
    chosen = replace(Selection(), **{name: ""})  # type: ignore[arg-type]
    with filled.open() as ledger:
        assert ledger.usage("day", chosen).totals == ledger.usage("session", chosen).totals


def test_a_grouping_that_is_named_twice_counts_once() -> None:
    assert groupings(("day", "model", "day")) == groupings("day,model") == ("day", "model")


def test_copies_are_told_whatever_it_is_grouped_by_and_whichever_days_are_asked_for(scene: Scene) -> None:
    rows = [
        scene.answer(f"m{day}", tokens(1, 1), request=f"r{day}", time=f"2026-03-{day:02d}T12:00:00.000Z")
        for day in (1, 2, 2, 3)
    ]
    scene.write("s", *rows)
    scene.write("t", *({**row, "sessionId": "t"} for row in rows[1:]))
    scene.write("u", *({**row, "sessionId": "u"} for row in rows[3:]))
    with scene.open() as ledger:
        day = 86_400_000_000
        first = ledger.zone.start_of(date(2026, 3, 2))
        for chosen, copies in ((Selection(), 3), (Selection(first, first + day), 1), (Selection(first + day), 2)):
            for by in ("day", "month", "model", "session", "project"):
                assert ledger.usage(by, chosen).copies == copies, (by, chosen)


def test_the_dearest_come_first_and_not_those_with_the_most_tokens(scene: Scene) -> None:
    when = "2026-03-01T12:00:00.000Z"
    scene.write(
        "s",
        scene.answer("m1", tokens(1, 120), request="r1", time=when, model=MODEL),
        scene.answer("m2", tokens(1, 100), request="r2", time=when, model=OPUS),
    )
    with scene.open() as ledger:
        groups = ledger.usage("model").groups
        assert [group.keys for group in groups] == [(OPUS,), (MODEL,)]
        assert groups[0].totals.cost > groups[1].totals.cost
        assert groups[0].totals.counts.tokens < groups[1].totals.counts.tokens
