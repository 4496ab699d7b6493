"""`usage`, `expensive`, `budget` and `show --tokens`, as they are typed."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Scene, tokens
from tests.cli.usage_scene import COST, FULL, OPUS, SESSION, ask, bash, now, prompt, scene
from tests.running import run, tree_state

__all__ = ["ask", "scene"]


def test_by_day_as_json(ask: Any) -> None:
    data = ask("usage", "--json", "--timezone", "UTC").data
    assert [(row["day"], row["calls"]) for row in data["rows"]] == [("2026-03-01", 3), ("2026-03-02", 1)]
    assert data["timezone"] == "UTC" and data["prices"]
    assert data["totals"]["cost_micro_usd"] == sum(row["cost_micro_usd"] for row in data["rows"])
    first = data["rows"][0]
    assert [part["model"] for part in first["models"]] == [MODEL, OPUS]
    assert first["models"][0]["cost_micro_usd"] == 2 * round(COST)
    assert first["cache_write_5m"] == 90 and first["cache_write_1h"] == 120 and first["cache_read"] == 1500


@pytest.mark.parametrize(
    "by", ["day", "week", "month", "year", "session", "project", "model", "subagent", "branch", "tool"]
)
def test_every_grouping_has_the_same_total(ask: Any, by: str) -> None:
    data = ask("usage", "--by", by, "--json").data
    assert data["totals"] == ask("usage", "--json").data["totals"]
    for field in ("cost_micro_usd", "input", "output", "cache_read"):
        assert sum(row[field] for row in data["rows"]) == data["totals"][field]


def test_table_has_totals_bars_and_the_rule(ask: Any) -> None:
    ran = ask("usage", "--timezone", "Europe/Berlin")
    lines = ran.out.splitlines()
    assert lines[0].split()[:3] == ["day", "models", "calls"]
    assert lines[3].startswith("total") and "█" in lines[1]
    assert "days in Europe/Berlin" in ran.out


def test_csv_has_a_row_for_each_group(ask: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(ask("usage", "--by", "model", "--csv").out)))
    assert [row["model"] for row in rows] == [MODEL, OPUS]
    assert int(rows[0]["calls"]) == 3


def test_filters_and_statuses(ask: Any) -> None:
    def calls(*arguments: str) -> int:
        found: int = ask("usage", "--json", *arguments).data["totals"]["calls"]
        return found

    assert calls("--since", "2026-03-02T00:00+00:00") == 1
    assert calls("--until", "2026-03-01T23:00+00:00") == 3
    assert calls("--subagent", "main") == 3
    assert calls("--model", "opus") == calls("--status", "subagent") == 1
    assert calls("--status", "live") + calls("--status", "abandoned") + calls("--status", "subagent") <= 4
    assert ask("usage", "--project", "nowhere").code == 1


@pytest.mark.parametrize("command", ["usage", "expensive"])
@pytest.mark.parametrize(
    ("zone", "since", "until", "calls"),
    [
        ("UTC", "2026-03-01", "2026-03-01", 3),
        ("America/New_York", "2026-03-01", "2026-03-01", 3),
        ("Pacific/Kiritimati", "2026-03-02", "2026-03-02", 3),  # fourteen hours ahead: it was after midnight there
        ("Pacific/Kiritimati", "2026-03-02T00:00", "2026-03-02T00:00:08", 1),
        ("Pacific/Kiritimati", "2026-03-01T10:00:00Z", "2026-03-01T10:00:08Z", 1),
    ],
)
def test_since_and_until_are_days_of_the_zone(
    ask: Any, command: str, zone: str, since: str, until: str, calls: int
) -> None:
    data = ask(command, "--json", "--since", since, "--until", until, "--timezone", zone).data
    assert data["totals"]["calls"] == calls
    if command == "usage":
        assert [row["day"] for row in data["rows"]] == [since[:10]] or "T" in since


def test_a_moment_that_no_zone_can_hold_is_refused(ask: Any) -> None:
    assert ask("usage", "--since", "soon").code == 2
    ran = ask("usage", "--since", "0001-01-01", "--timezone", "Asia/Tokyo")
    assert ran.code == 2 and "is not a time" in ran.err


def test_explanations_add_up(ask: Any) -> None:
    data = ask("usage", "--explain", SESSION[:8], "--json").data
    assert data["total"] == 4 and data["omitted"]
    assert sum(row["cost_micro_usd"] for row in data["rows"]) == data["totals"]["cost_micro_usd"]
    for row in data["rows"]:
        assert sum(part["cost_micro_usd"] for part in row["parts"]) == row["cost_micro_usd"]
    text = ask("usage", "--explain", "msg_1").out
    assert f"{SESSION}.jsonl:2" in text and "price since 2025-09-29" in text and "$0.003532" in text
    assert ask("usage", "--explain", "msg_none").code == 1


def test_explanations_name_the_line_of_the_output(ask: Any, scene: Scene) -> None:
    def answer(output: int) -> dict[str, Any]:
        return scene.answer(
            "msg_50", tokens(1, output), request="r50", session=SESSION, model="claude-opus-4-1-20250805"
        )

    scene.append(SESSION, answer(1), {"type": "user"}, answer(200))
    assert f"{SESSION}.jsonl:7, output on line 9" in ask("usage", "--explain", "msg_50").out
    [row] = ask("usage", "--explain", "opus-4-1", "--json").data["rows"]
    assert (row["message_id"], row["line"], row["output_line"]) == ("msg_50", 7, 9)


def test_the_clients_own_count_of_one_session(ask: Any, scene: Scene) -> None:
    """What is told of differences is told of the sessions that were asked for."""
    other = "22222222-2222-4222-8222-222222222222"
    state = {"type": "cost-state", "sessionId": other, "totalCostUSD": 5.0, "modelUsage": {}}
    scene.write(other, scene.answer("msg_8", FULL, request="r8", session=other), state)
    differs = "Claude Code's own count differs for 1 session"
    assert differs in ask("usage").err and differs in ask("usage", "--session", other).err
    assert differs not in ask("usage", "--session", SESSION).err
    assert ask("usage", "--session", SESSION, "--json").data["client_counts"] == []
    ran = ask("usage", "--check")
    assert "differs" in ran.out and "cost -$5.00" in ran.out.replace("\n", " ")


def test_prices_of_today(ask: Any) -> None:
    assert ask("usage", "--prices", "today", "--json").code == 0


def test_an_empty_home(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty" / "projects").mkdir(parents=True)
    ran = run(capsys, tmp_path / "empty", "usage")
    assert (ran.code, ran.out) == (1, "") and "no API calls found" in ran.err
    assert run(capsys, tmp_path / "empty", "usage", "--json").data["totals"]["calls"] == 0


def test_no_such_zone(ask: Any) -> None:
    ran = ask("usage", "--timezone", "Middle/Earth")
    assert ran.code == 7 and "no-such-zone" in ran.err


@pytest.mark.parametrize("topic", ["cache", "speed", "tools", "context", "blocks", "hours", "changes", "commits"])
def test_topics_have_a_table_and_rows(ask: Any, topic: str) -> None:
    assert ask("usage", "--more", topic).code == 0
    data = ask("usage", "--more", topic, "--json").data
    assert data["topic"] == topic and data["total"] == len(data["rows"]) > 0


def test_what_the_topics_say(ask: Any) -> None:
    def row(topic: str) -> dict[str, Any]:
        found: dict[str, Any] = ask("usage", "--more", topic, "--json").data["rows"][0]
        return found

    assert row("tools") | {"tool": "Bash", "calls": 1, "errors": 0, "seconds_p50": 2.0} == row("tools")
    assert row("commits")["calls"] == 2 and row("commits")["cost_micro_usd"] == 2 * round(COST)
    assert row("context")["peak_tokens"] == 780 and row("context")["window"] == 200_000
    assert row("speed")["seconds_to_answer_p50"] in (5.0, 1.0, 10.0)
    cache = ask("usage", "--more", "cache", "--json").data["totals"]
    assert cache["saved_micro_usd"] == cache["without_cache_micro_usd"] - cache["cost_micro_usd"]


def test_what_fills_the_context_and_where_it_was_compacted(ask: Any, scene: Scene) -> None:
    boundary = {
        "type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": None, "sessionId": SESSION,
        "timestamp": "2026-03-02T11:00:00.000Z", "content": "Conversation compacted",
    }  # fmt: skip
    later = [
        prompt("x" * 400, "u2", "2026-03-02T11:01:00.000Z") | {"parentUuid": "c1"},
        *bash(scene, 5, "ls", "2026-03-02T11:01:05.000Z", "2026-03-02T11:01:06.000Z"),
        scene.answer("msg_6", tokens(0, 50, read=2000), request="r6", time="2026-03-02T11:01:09.000Z", session=SESSION),
    ]
    for before, entry in zip([{"uuid": "c1"}, *later], later, strict=False):
        entry["parentUuid"] = before["uuid"]
    scene.append(SESSION, boundary, *later)
    [row] = ask("usage", "--more", "context", "--session", SESSION, "--json").data["rows"]
    assert row["compactions"] == 1
    assert [step["after_compaction"] for step in row["course"]] == [False, False, False, True, False]
    filled = {(part["what"], part["tool"]): part["tokens"] for part in row["filled_by"]}
    assert sum(filled.values()) == row["last_tokens"] == 2050
    assert filled[("system prompt and tools", None)] == 580 - 400 // 4
    assert filled[("tool results", "Bash")] > filled[("answers", None)] > 0
    assert abs(sum(part["share"] for part in row["filled_by"]) - 1) < 0.001
    ran = ask("usage", "--more", "context", "--session", SESSION)
    assert "tool results: Bash" in ran.out and "┊" in ran.out and "filled by (estimated)" in ran.out


def pr_link(number: int, **more: Any) -> dict[str, Any]:
    url = f"https://example.invalid/tea/pull/{number}"
    return {"type": "pr-link", "prNumber": number, "prUrl": url, "sessionId": SESSION, **more}


def test_each_pull_request_has_its_part_of_a_session(ask: Any, scene: Scene) -> None:
    """The session's own calls are known by their lines, those of its subagents by their times."""

    def call(number: int, when: str) -> dict[str, Any]:
        return scene.answer(f"msg_{number}", FULL, request=f"req_{number}", time=when, session=SESSION)

    scene.append(
        SESSION,
        pr_link(7),
        call(10, "2026-03-02T11:00:00.000Z"),
        pr_link(8, timestamp="2026-03-02T11:01:00.000Z"),
        pr_link(9, prUrl=["no", "address"]),
        call(11, "2026-03-02T12:00:00.000Z"),
    )
    scene.append(f"{SESSION}/subagents/agent-a1", call(12, "2026-03-02T11:00:30.000Z"))
    data = ask("usage", "--more", "prs", "--json").data
    assert {row["pr_url"][-6:]: row["calls"] for row in data["rows"]} == {"pull/7": 4, "pull/8": 3}
    assert all(row["sessions"] == [SESSION] for row in data["rows"])
    whole = ask("usage", "--session", SESSION, "--json").data["totals"]["cost_micro_usd"]
    assert sum(row["cost_micro_usd"] for row in data["rows"]) == whole
    assert data["rows"][-1]["cost_micro_usd"] == 3 * round(COST)


def test_expensive_prompts(ask: Any) -> None:
    data = ask("expensive", "--json").data
    assert [(row["prompt"], row["calls"]) for row in data["rows"]] == [("Do the dear thing", 3), ("And a cheap one", 1)]
    assert data["totals"]["cost_micro_usd"] == ask("usage", "--json").data["totals"]["cost_micro_usd"]
    assert "Do the dear thing" in ask("expensive", "--limit", "1").out


def test_show_tokens(ask: Any) -> None:
    words = "10 in, 200 out, 30 written (5 min), 40 written (1 h), 500 read, $0.0035"
    assert words in ask("show", SESSION, "--all", "--tokens").out
    rows = ask("show", SESSION, "--all", "--tokens", "--json").data["rows"]
    assert round(COST) in [row["cost_micro_usd"] for row in rows]


def test_show_tokens_has_every_kind_and_the_marks_of_usage(ask: Any, scene: Scene) -> None:
    used = tokens(10, 200, output_tokens_details={"thinking_tokens": 80}, server_tool_use={"web_search_requests": 2})
    answer = scene.answer("msg_40", used, request="r40", session=SESSION, stop=None, version="2.0.77", parentUuid="u1")
    scene.append(SESSION, answer)
    assert "10 in, ≥200 out (80 thinking), 2 web searches, ≥$0.02" in ask("show", SESSION, "--all", "--tokens").out
    row = ask("show", SESSION, "--all", "--tokens", "--json").data["rows"][-1]
    assert (row["usage"]["thinking"], row["usage"]["web_searches"], row["lower_bound"]) == (80, 2, True)


@pytest.mark.parametrize(
    "terms",
    [{}, {"speed": "fast"}, {"inference_geo": "us"}, {"service_tier": "batch"},
     {"speed": "fast", "inference_geo": "us", "service_tier": "batch"}, {"inference_geo": "not_available"}],
)  # fmt: skip
def test_show_tokens_has_the_price_that_explain_has(ask: Any, scene: Scene, terms: dict[str, str]) -> None:
    answer = scene.answer(
        "msg_40", FULL | terms, request="r40", time="2026-03-10T10:00:00.000Z", session=SESSION,
        model="claude-opus-4-6", parentUuid="u1",
    )  # fmt: skip
    scene.append(SESSION, answer)
    [explained] = ask("usage", "--explain", "msg_40", "--json").data["rows"]
    row = ask("show", SESSION, "--all", "--tokens", "--json").data["rows"][-1]
    assert row["cost_micro_usd"] == explained["cost_micro_usd"] > 0


# -- budgets ----------------------------------------------------------------------------------------------------------
def test_budgets(ask: Any, scene: Scene) -> None:
    assert ask("budget").code == 0
    assert ask("budget", "set", "1/month").code == 0
    used = tokens(0, 0, read=1_000_000)
    scene.append(SESSION, scene.answer("msg_9", used, request="req_9", time=now(), model=OPUS, session=SESSION))
    state = ask("budget", "--json").data["rows"][0]
    assert (state["used_micro_usd"], state["percent"], state["state"]) == (500_000, 50.0, "ok")
    assert state["projected_micro_usd"] >= 500_000
    ask("budget", "set", "0.60/month")
    ran = ask("budget", "--quiet")
    assert ran.code == 0 and ran.out == "" and ran.err.startswith("warning: $0.50 of $0.60")
    ask("budget", "set", "0.40/month")
    ran = ask("budget")
    assert ran.code == 1 and "exceeded" in ran.out
    assert ask("budget", "remove", "month").code == 0
    assert ask("budget", "remove", "month").code == 1


def test_budget_of_a_project(ask: Any) -> None:
    ask("budget", "set", "5/day", "--project", "elsewhere")
    rows = ask("budget", "--json").data["rows"]
    assert [(row["project"], row["used_micro_usd"]) for row in rows] == [("elsewhere", 0)]


@pytest.mark.parametrize("text", ["50", "much/month", "-1/day", "5/fortnight"])
def test_no_budget(ask: Any, text: str) -> None:
    assert ask("budget", "set", "--", text).code == 7


@pytest.mark.parametrize("action", [["set", "5/day"], ["remove", "all"]])
@pytest.mark.parametrize("option", [["--timezone", "Asia/Tokyo"], ["--quiet"]])
def test_what_is_for_looking_at_budgets_alone(ask: Any, action: list[str], option: list[str]) -> None:
    assert ask("budget", *action, *option).code == 2
    assert ask("budget", "--json").data["rows"] == []


def test_nothing_is_written_into_the_home(ask: Any, scene: Scene) -> None:
    before = tree_state(scene.root)
    for arguments in (["usage"], ["usage", "--explain"], ["usage", "--more", "tools"], ["expensive"], ["budget"]):
        ask(*arguments)
    assert tree_state(scene.root) == before
