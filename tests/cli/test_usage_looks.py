"""How `usage`, `expensive` and `budget` look: every grouping, zone, unknown price and odd option is told, nothing is left out."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Scene, tokens
from tests.running import Ran, run

from recollect.analysis.budgets import parse_budget
from recollect.errors import QueryError
from recollect.export.charts import heat_map, over_time
from recollect.export.money import tokens as in_words

Ask = Callable[..., Ran]
SESSION = "11111111-1111-4111-8111-111111111111"
OPUS = "claude-opus-4-5-20251101"
NOBODY = "claude-nobody-9"


def bash(scene: Scene, number: int, command: str, model: str) -> list[dict[str, Any]]:
    when = f"2026-03-0{number}T20:30:00.000Z"
    call = scene.answer(f"b{number}", tokens(1, 2), request=f"b{number}", time=when, session=SESSION, model=model)
    call["message"]["content"] = [
        {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    ]
    return [call]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    ask = {
        "type": "user",
        "uuid": "u0",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": "2026-03-01T20:00:00.000Z",
    }
    made.write(
        SESSION,
        ask | {"cwd": "/work/a", "message": {"role": "user", "content": "Do it"}},
        made.answer("m1", tokens(10, 200, 30), request="r1", time="2026-03-01T20:00:05.000Z", session=SESSION),
        *bash(made, 4, "git commit -m x", NOBODY),
        made.answer("m2", tokens(10, 100), request="r2", time="2026-03-09T20:00:00.000Z", session=SESSION, model=OPUS),
        made.answer("m3", tokens(5, 5), request="r3", time="2026-03-09T20:00:01.000Z", session=SESSION, model=NOBODY),
    )
    return made


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], scene: Scene) -> Ask:
    return lambda *arguments: run(capsys, scene.root, *arguments)


# -- several groupings ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "by", [["--by", "day", "--by", "model"], ["--by", "day,model"], ["--by=day", "--by", "model,day"]]
)
def test_by_day_and_model(ask: Ask, by: list[str]) -> None:
    data = ask("usage", "--json", "--timezone", "UTC", *by).data
    assert data["by"] == "day,model"
    assert [(row["day"], row["model"], row["calls"]) for row in data["rows"]] == [
        ("2026-03-01", MODEL, 1), ("2026-03-04", NOBODY, 1), ("2026-03-09", OPUS, 1), ("2026-03-09", NOBODY, 1),
    ]  # fmt: skip
    assert data["totals"] == ask("usage", "--json").data["totals"]
    lines = ask("usage", "--timezone", "UTC", *by).out.splitlines()
    assert lines[0].split()[:3] == ["day", "model", "calls"]
    assert lines[3].split()[:2] == ["2026-03-09", OPUS] and lines[5].split()[0] == "total"
    rows = list(csv.DictReader(io.StringIO(ask("usage", "--csv", "--timezone", "UTC", *by).out)))
    assert [(row["day"], row["model"], row["calls"]) for row in rows][:1] == [("2026-03-01", MODEL, "1")]
    assert len(rows) == 4


@pytest.mark.parametrize("cost", ["1e305", "-1e305", "1e13"])
def test_a_cost_of_the_client_that_nobody_can_have(ask: Ask, scene: Scene, cost: str) -> None:
    scene.append(SESSION, f'{{"type":"cost-state","sessionId":"{SESSION}","totalCostUSD":{cost},"modelUsage":{{}}}}')
    assert ask("usage").code == ask("usage", "--json").code == 0
    checked = ask("usage", "--check")
    assert checked.code == 0 and "Claude Code's count cannot be read" in checked.out


@pytest.mark.parametrize("by", ["moon", "day,moon", "day,", ""])
def test_a_grouping_that_is_none(ask: Ask, by: str) -> None:
    ran = ask("usage", "--by", by)
    assert ran.code == 2 and "is not a grouping" in ran.err


def test_by_model_names_each_model_once(ask: Ask) -> None:
    assert "models" not in ask("usage", "--by", "model").out
    assert "models" in ask("usage", "--by", "day").out


def test_a_chart_of_days_and_models_has_a_bar_for_each_day(ask: Ask, tmp_path: Path) -> None:
    target = tmp_path / "plot.svg"
    ask("usage", "--by", "day,model", "--timezone", "UTC", "--plot", str(target))
    assert "Cost by day: $" in target.read_text()


# -- columns ----------------------------------------------------------------------------------------------------------
def test_thinking_has_a_column_where_there_is_any(ask: Ask, scene: Scene) -> None:
    assert "thinking" not in ask("usage").out
    usage = tokens(1, 900, output_tokens_details={"thinking_tokens": 800})
    scene.append(SESSION, scene.answer("m9", usage, request="r9", session=SESSION))
    lines = ask("usage", "--by", "month").out.splitlines()
    place = lines[0].index("thinking") + len("thinking")
    assert [line[:place].split()[-1] for line in lines[1:4]] == ["800", "0", "800"]


@pytest.mark.parametrize(
    ("count", "words"), [(999, "999"), (2 * 10**12, "2.00T"), (9_007_199 * 10**9, "9.01P"), (10**20, "100,000P")]
)
def test_large_counts_in_words(count: int, words: str) -> None:
    assert in_words(count) == words


# -- zones ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "command", [["usage"], ["usage", "--heat"], ["usage", "--more", "blocks"], ["usage", "--more", "commits"], ["expensive"]]
)  # fmt: skip
def test_the_zone_is_stated_where_the_days_are(ask: Ask, command: list[str]) -> None:
    assert "in Asia/Tokyo" in ask(*command, "--timezone", "Asia/Tokyo").out


@pytest.mark.parametrize("command", [["usage"], ["usage", "--explain"], ["usage", "--more", "hours"]])
def test_csv_states_the_zone(ask: Ask, command: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(ask(*command, "--csv", "--timezone", "Asia/Tokyo").out)))
    assert rows and {row["timezone"] for row in rows} == {"Asia/Tokyo"}


@pytest.mark.parametrize(
    ("command", "time"),
    [
        (["usage", "--more", "blocks"], "2026-03-02 05:00"),
        (["usage", "--more", "commits"], "2026-03-05 05:30"),
        (["expensive"], "2026-03-02 05:00"),
    ],
)
def test_times_are_those_of_the_zone(ask: Ask, command: list[str], time: str) -> None:
    assert time in ask(*command, "--timezone", "Asia/Tokyo").out


# -- unknown prices ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("topic", ["cache", "blocks", "changes"])
def test_money_that_leaves_calls_out_says_so(ask: Ask, topic: str) -> None:
    ran = ask("usage", "--more", topic)
    assert "+?" in ran.out and re.search(r"2 calls without a known price are not in the cost", ran.err)
    rows = ask("usage", "--more", topic, "--json").data["rows"]
    assert rows[-1]["unpriced_calls"] >= 1 or sum(row["unpriced_calls"] for row in rows) == 2


def test_a_model_without_a_price_saved_nothing_that_is_known(ask: Ask) -> None:
    line = next(line for line in ask("usage", "--more", "cache").out.splitlines() if line.startswith(NOBODY))
    assert line.split()[-1] == "?"


def test_a_commit_without_a_known_price(ask: Ask) -> None:
    (row,) = ask("usage", "--more", "commits", "--model", "nobody", "--json").data["rows"]
    assert (row["cost_micro_usd"], row["unpriced_calls"]) == (0, 1)
    assert ask("usage", "--more", "commits", "--model", "nobody").out.splitlines()[1].split()[4:6] == ["1", "?"]


def test_an_explanation_without_a_known_price(ask: Ask) -> None:
    out = ask("usage", "--explain", "m3").out
    assert "total of 1 call: ?" in out and "1 call without a known price is not in the cost" in out
    out = ask("usage", "--explain", SESSION).out
    assert re.search(r"total of 4 calls: \$0\.\d{6}\n", out) and "2 calls without a known price" in out


def test_a_budget_says_which_calls_it_does_not_hold(ask: Ask, scene: Scene) -> None:
    from tests.cli.usage_scene import now

    scene.append(SESSION, scene.answer("n1", tokens(1, 1), request="n1", time=now(), session=SESSION, model=NOBODY))
    scene.append(SESSION, scene.answer("n2", tokens(1, 1), request="n2", time=now(), session=SESSION, model=OPUS))
    ask("budget", "set", "5/month")
    ran = ask("budget")
    assert "+?" in ran.out and "1 call without a known price is not in the cost" in ran.err


# -- marks ------------------------------------------------------------------------------------------------------------
def test_explanations_say_which_rows_are_odd(ask: Ask, scene: Scene) -> None:
    scene.append(
        SESSION, scene.answer("o1", tokens(1, 10**12), request="o1", session=SESSION),
        scene.answer("o2", tokens(1, 1), request="o2", session=SESSION, time="2026-03-01T10:00:00"),
        scene.answer("o3", None, request="o3", session=SESSION),
    )  # fmt: skip
    assert "missing or none" in ask("usage", "--explain", "o1").out
    assert "its time has no zone" in ask("usage", "--explain", "o2").out
    assert "missing or none" in ask("usage", "--explain", "o3").out
    assert "missing or none" not in ask("usage", "--explain", "m1").out
    told = ask("usage").err
    assert "2 calls have counts that are missing or none" in told and "1 call has a time without a zone" in told


def test_rows_by_tool_that_add_up_to_more_calls_say_so(ask: Ask, scene: Scene) -> None:
    assert "several tools" not in ask("usage", "--by", "tool").err
    both = scene.answer("m8", tokens(1, 900), request="r8", session=SESSION)
    both["message"]["content"] = [
        {"type": "tool_use", "id": name, "name": name, "input": {}} for name in ("Read", "Edit")
    ]
    scene.append(SESSION, both)
    assert "calls of several tools stand in the row of each (6 in all rows)" in ask("usage", "--by", "tool").err


# -- what excludes each other -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        ["--plot", "x.svg", "--more", "cache"], ["--plot", "x.svg", "--explain"], ["--plot", "x.svg", "--check"],
        ["--csv", "--check"], ["--heat", "--json"], ["--heat", "--jsonl"], ["--heat", "--csv"], ["--csv", "--json"],
        ["--heat", "--more", "cache"], ["--check", "--more", "cache"],
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_followed_is_refused(ask: Ask, options: list[str], tmp_path: Path) -> None:
    ran = ask("usage", *options)
    assert (ran.code, ran.out) == (2, "") and "--" in ran.err.splitlines()[-1]


# -- pictures ---------------------------------------------------------------------------------------------------------
def test_days_without_use_have_their_place(ask: Ask, scene: Scene, tmp_path: Path) -> None:
    scene.append(SESSION, scene.answer("m7", tokens(1, 1), request="r7", time=None, session=SESSION))
    line = next(line for line in ask("usage", "--timezone", "UTC").out.splitlines() if line.endswith(" 2026-03-09"))
    assert line.startswith("2026-03-01 ") and len(line) == len("2026-03-01  2026-03-09") + 9
    target = tmp_path / "plot.svg"
    ask("usage", "--timezone", "UTC", "--plot", str(target))
    labels = re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', target.read_text())
    assert labels == [*(f"2026-03-0{day}" for day in range(1, 10)), "(no time)"]


@pytest.mark.parametrize(
    ("period", "keys", "wanted"),
    [
        ("day", ["2026-02-28", "2026-03-02"], ["2026-02-28", "2026-03-01", "2026-03-02"]),
        ("week", ["2026-02-23", "2026-03-09"], ["2026-02-23", "2026-03-02", "2026-03-09"]),
        ("month", ["2025-11", "2026-02"], ["2025-11", "2025-12", "2026-01", "2026-02"]),
        ("year", ["2024", "2026"], ["2024", "2025", "2026"]),
        ("day", [], []),
        ("day", ["0001-01-01"], ["0001-01-01"]),
    ],
)
def test_periods_between_others(period: str, keys: list[str], wanted: list[str]) -> None:
    drawn = over_time(dict.fromkeys(keys, 5), period)
    assert [key for key, _ in drawn] == wanted
    assert [key for key, value in drawn if value] == keys


def test_a_wrong_clock_does_not_push_the_rest_out_of_the_picture(ask: Ask, scene: Scene, tmp_path: Path) -> None:
    scene.append(
        SESSION, scene.answer("m7", tokens(1, 1), request="r7", time="9999-12-31T23:00:00.000Z", session=SESSION)
    )
    ran = ask("usage", "--timezone", "UTC")
    assert "2026-03-09\n" in ran.out and "in the future: 9999-12-31" in ran.err
    ran = ask("usage", "--heat")
    assert "Mar" in ran.out and "in the future: 9999-12-31" in ran.err
    ask("usage", "--plot", str(tmp_path / "plot.svg"))
    assert "2026-03-09" in (tmp_path / "plot.svg").read_text()


@pytest.mark.parametrize("day", ["0001-01-01", "0001-01-09", "9999-12-31", "9999-12-20"])
def test_a_map_at_the_ends_of_the_calendar(day: str) -> None:
    lines = heat_map({day: 5})
    assert sum(line.count("█") for line in lines) == 1


def test_every_month_of_the_map_has_its_name() -> None:
    assert heat_map({"2026-10-20": 1, "2026-11-17": 2})[0].split() == ["Oct", "Nov"]
    assert heat_map({"2026-02-28": 1, "2026-03-09": 2})[0].split() == ["Feb", "Mar"]
    assert heat_map({"2025-06-01": 1, "2026-02-09": 2})[0].split()[-3:] == ["Dec", "Jan", "Feb"]


def test_the_week_is_data_and_has_hours(ask: Ask) -> None:
    lines = ask("usage", "--more", "hours", "--timezone", "UTC").out.splitlines()
    place = lines.index("hours of the week:")
    assert lines[place + 1].split() == ["0", "6", "12", "18"]
    sunday = lines[place + 8]  # a call on 2026-03-01 at 20:00
    assert sunday.startswith("Sun ") and sunday[4 + 20] != " " and len(sunday) == 4 + 21
    assert lines[place + 1].index("18") == 4 + 18
    data = ask("usage", "--more", "hours", "--json").data
    assert "drawn" not in data and data["calls_by_weekday_and_hour"]


# -- an empty store ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [[], ["--heat"], ["--csv"], ["--plot", "x.svg"]])
def test_an_empty_store_is_told_in_every_form(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty" / "projects").mkdir(parents=True)
    ran = run(capsys, tmp_path / "empty", "usage", *options)
    assert ran.code == 1 and "no API calls found" in ran.err
    assert ran.out.startswith("day,calls,input,") and ran.out.count("\n") == 1 if "--csv" in options else ran.out == ""
    assert not (tmp_path / "x.svg").exists()


# -- budgets ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "micro"),
    [
        ("1,000/month", 1_000_000_000), ("$12,345,678.90/year", 12_345_678_900_000), ("7,50/day", 7_500_000),
        ("7,5/day", 7_500_000), ("7.5/day", 7_500_000), ("0.125/day", 125_000), ("1000/month", 1_000_000_000),
    ],
)  # fmt: skip
def test_commas_in_budgets(text: str, micro: int) -> None:
    assert parse_budget(text).amount == micro


@pytest.mark.parametrize("text", ["1,0000/month", "1,00,000/month", "1,000,50/month", "1000,000/month", ",5/day"])
def test_commas_that_can_be_read_in_two_ways(text: str) -> None:
    with pytest.raises(QueryError):
        parse_budget(text)


def test_budgets_are_removed_by_name(ask: Ask) -> None:
    ask("budget", "set", "5/month")
    ask("budget", "set", "1/day", "--project", "a")
    assert ask("budget", "remove").code == 2
    assert len(ask("budget", "--json").data["rows"]) == 2
    ran = ask("budget", "remove", "all")
    assert ran.code == 0 and "removed: $1.00 a day for a" in ran.err
    assert ask("budget", "--json").data["rows"] == []


def test_a_budget_of_nothing_has_no_share(ask: Ask, scene: Scene) -> None:
    from tests.cli.usage_scene import now

    scene.append(SESSION, scene.answer("n2", tokens(1, 999), request="n2", time=now(), session=SESSION, model=OPUS))
    ask("budget", "set", "0/month")
    ran = ask("budget")
    assert ran.code == 1 and "inf" not in ran.out + ran.err and "exceeded: $0.02 of $0.00 a month" in ran.err
    assert json.loads(ask("budget", "--json").out)["rows"][0]["percent"] is None
