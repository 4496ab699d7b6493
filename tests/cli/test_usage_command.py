"""`usage`, `expensive`, `budget`, `statusline` and `show --tokens`, as they are typed."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import MODEL, Scene, tokens
from tests.running import Ran, run, tree_state

from recollect.cli.lean_usage import try_usage
from recollect.errors import StoreBusy
from recollect.index.catalogue import Catalogue

FULL = tokens(10, 200, 30, 40, 500)
COST = 10 * 3 + 200 * 15 + 30 * 3.75 + 40 * 6 + 500 * 0.3
OPUS = "claude-opus-4-5-20251101"
SESSION = "11111111-1111-4111-8111-111111111111"


def now(minutes_ago: float = 0) -> str:
    moment = datetime.fromtimestamp(time.time() - minutes_ago * 60, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "000Z"


def prompt(text: str, line: str, when: str) -> dict[str, Any]:
    return {
        "type": "user", "uuid": line, "parentUuid": None, "sessionId": SESSION, "timestamp": when, "cwd": "/work/a",
        "message": {"role": "user", "content": text},
    }  # fmt: skip


def bash(scene: Scene, number: int, command: str, when: str, done: str) -> list[dict[str, Any]]:
    call = scene.answer(
        f"msg_{number}", FULL, request=f"req_{number}", time=when, session=SESSION, stop="tool_use", parentUuid="u0"
    )
    call["message"]["content"] = [
        {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    ]
    result = {
        "type": "user", "uuid": f"r{number}", "parentUuid": call["uuid"], "sessionId": SESSION, "timestamp": done,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok " * 50}]},
    }  # fmt: skip
    return [call, result]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.write(
        SESSION,
        prompt("Do the dear thing", "u0", "2026-03-01T10:00:00.000Z"),
        made.answer("msg_1", FULL, time="2026-03-01T10:00:05.000Z", session=SESSION, parentUuid="u0"),
        *bash(made, 2, "git commit -m x", "2026-03-01T10:00:10.000Z", "2026-03-01T10:00:12.000Z"),
        prompt("And a cheap one", "u1", "2026-03-02T10:00:00.000Z"),
        made.answer(
            "msg_3", tokens(1, 2), request="req_3", time="2026-03-02T10:00:01.000Z", session=SESSION, parentUuid="u1"
        ),
    )
    made.write(
        f"{SESSION}/subagents/agent-a1",
        made.answer(
            "msg_4", FULL, request="req_4", time="2026-03-01T10:00:11.000Z", session=SESSION, model=OPUS, agentId="a1"
        ),
    )
    return made


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], scene: Scene) -> Any:
    def asked(*arguments: str) -> Ran:
        return run(capsys, scene.root, *arguments)

    return asked


def test_the_lean_way_gives_the_same_bytes(ask: Any, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    slow = ask("usage", "--json", "--timezone", "UTC", "--by", "week")
    arguments = ["--home", str(scene.root), "usage", "--json", "--timezone=UTC", "--by", "week"]
    assert try_usage(arguments) == slow.code == 0
    assert capsys.readouterr().out == slow.out


@pytest.mark.parametrize(
    "arguments",
    [["usage"], ["usage", "--json", "--by", "tool"], ["usage", "--json", "--home"], ["usage", "--json", "--csv"]],
)
def test_the_lean_way_leaves_the_rest_to_the_command(arguments: list[str]) -> None:
    assert try_usage(arguments) is None


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
    "by", ["day", "week", "month", "year", "session", "project", "model", "agent", "branch", "tool"]
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
    assert "days in Europe/Berlin" in ran.err


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
    assert calls("--agent", "main") == 3
    assert calls("--model", "opus") == calls("--status", "agent") == 1
    assert calls("--status", "live") + calls("--status", "abandoned") + calls("--status", "agent") <= 4
    assert ask("usage", "--project", "nowhere").code == 1


def test_explanations_add_up(ask: Any) -> None:
    data = ask("usage", "--explain", SESSION[:8], "--json").data
    assert data["total"] == 4 and data["omitted"]
    assert sum(row["cost_micro_usd"] for row in data["rows"]) == data["totals"]["cost_micro_usd"]
    for row in data["rows"]:
        assert sum(part["cost_micro_usd"] for part in row["parts"]) == row["cost_micro_usd"]
    text = ask("usage", "--explain", "msg_1").out
    assert f"{SESSION}.jsonl:2" in text and "price since 2025-09-29" in text and "$0.003532" in text
    assert ask("usage", "--explain", "msg_none").code == 1


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


def test_expensive_prompts(ask: Any) -> None:
    data = ask("expensive", "--json").data
    assert [(row["prompt"], row["calls"]) for row in data["rows"]] == [("Do the dear thing", 3), ("And a cheap one", 1)]
    assert data["totals"]["cost_micro_usd"] == ask("usage", "--json").data["totals"]["cost_micro_usd"]
    assert "Do the dear thing" in ask("expensive", "--limit", "1").out


def test_show_tokens(ask: Any) -> None:
    assert "10 in, 200 out, 70 written, 500 read, $0.0035" in ask("show", SESSION, "--all", "--tokens").out
    rows = ask("show", SESSION, "--all", "--tokens", "--json").data["rows"]
    assert round(COST) in [row["cost_micro_usd"] for row in rows]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plots(ask: Any, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"plot.{ending}"
    assert ask("usage", "--by", "month", "--plot", str(target)).code == 0
    data = target.read_bytes()
    assert data.startswith(b"<svg" if ending == "svg" else b"\x89PNG") and len(data) > 500


def test_a_plot_of_another_kind_is_refused(ask: Any, tmp_path: Path) -> None:
    assert ask("usage", "--plot", str(tmp_path / "plot.gif")).code == 2


def test_heat_map(ask: Any) -> None:
    out = ask("usage", "--heat").out
    assert out.splitlines()[1].startswith("Mon") and "█" in out


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


# -- status line ------------------------------------------------------------------------------------------------------
def status(ask: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    ran = ask("statusline", "--timezone", "UTC")
    assert ran.code == 0 and ran.err == "" and ran.out.count("\n") == 1
    return str(ran.out).strip()


def test_status_line(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(
        SESSION, scene.answer("msg_9", tokens(0, 0, read=100_000), request="req_9", time=now(), session=SESSION)
    )
    told = {"session_id": SESSION, "model": {"display_name": "Sonnet\x1b[31m"}, "cost": {"total_cost_usd": 9.0}}
    line = status(ask, monkeypatch, json.dumps(told))
    assert line.startswith("Sonnet | session $0.0") and "today $0.03" in line and "block $0.03 (" in line
    assert line.endswith("context 50%")


def test_status_line_looks_at_its_own_session_every_time(
    ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(number: int, session: str) -> dict[str, Any]:
        return scene.answer(
            f"msg_{number}", tokens(0, 0, read=100_000), request=f"r{number}", time=now(), session=session
        )

    told = json.dumps({"session_id": SESSION})
    scene.append(SESSION, answer(20, SESSION))
    before = status(ask, monkeypatch, told)
    scene.append(SESSION, answer(21, SESSION))
    other = "22222222-2222-4222-8222-222222222222"
    scene.write(other, answer(22, other))
    after = status(ask, monkeypatch, told)
    assert ("today $0.03" in before, "today $0.06" in after) == (True, True), (before, after)
    assert "today $0.09" in status(ask, monkeypatch, "{}")  # without a session everything is looked at


def test_status_line_waits_for_nobody(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("usage", "--timezone", "UTC")
    scene.append(SESSION, scene.answer("msg_30", FULL, request="r30", time=now(), session=SESSION))
    locks: list[float] = []

    def busy(self: Catalogue, seconds: float = 60.0) -> Any:
        locks.append(seconds)
        raise StoreBusy("another process is indexing")

    monkeypatch.setattr(Catalogue, "locked", busy)
    assert "session $" in status(ask, monkeypatch, json.dumps({"session_id": SESSION}))
    assert locks and max(locks) < 1


@pytest.mark.parametrize(
    "text", ["", "no json", "[]", "{}", '{"session_id": 5, "model": [], "cost": {"total_cost_usd": "x"}}']
)
def test_status_line_never_fails(ask: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert status(ask, monkeypatch, text)


def test_status_line_with_a_home_that_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"cost": {"total_cost_usd": 0.5}}'))
    ran = run(capsys, tmp_path / "nowhere", "statusline")
    assert (ran.code, ran.out.strip()) == (0, "session $0.50")


def test_nothing_is_written_into_the_home(ask: Any, scene: Scene) -> None:
    before = tree_state(scene.root)
    for arguments in (["usage"], ["usage", "--explain"], ["usage", "--more", "tools"], ["expensive"], ["budget"]):
        ask(*arguments)
    assert tree_state(scene.root) == before
