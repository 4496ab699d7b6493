"""A sum that is a lower bound, or of counts that are none, says so wherever it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens
from tests.cli.usage_scene import SESSION, ask, now, scene

from recollect.environment import own_folder

__all__ = ["ask", "scene"]
LOWER = {"stop": None, "version": "2.0.50"}


@pytest.fixture
def cut_off(scene: Scene) -> Scene:
    """A session whose last answer before a commit was cut off; the commit is linked to a pull request."""
    call = scene.answer("msg_9", tokens(10, 1), request="req_9", time="2026-03-02T11:00:00Z", session=SESSION, **LOWER)
    call["message"]["content"] = [{"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "git commit"}}]
    link = {"type": "pr-link", "prUrl": "https://example.invalid/1", "sessionId": SESSION}
    scene.append(SESSION, call, link)
    return scene


@pytest.mark.parametrize("topic", ["cache", "changes", "commits", "prs", "blocks"])
def test_topics_mark_lower_bounds(ask: Any, cut_off: Scene, topic: str) -> None:
    ran = ask("usage", "--more", topic)
    assert "≥$" in ran.out and "≥ output of 1 call is a lower bound" in ran.err
    data = ask("usage", "--more", topic, "--json").data
    assert max(row["lower_bound_calls"] for row in data["rows"]) == 1
    assert min(row["lower_bound_calls"] for row in data["rows"]) == (0 if topic != "changes" and topic != "prs" else 1)


def test_what_comes_of_a_cost_has_its_marks(ask: Any, cut_off: Scene) -> None:
    """Without a cache, in an hour, at the end of a block; what was saved does not depend on the output."""
    total = ask("usage", "--more", "cache").out.splitlines()[-1].split()
    assert [amount[:2] for amount in total[-3:]] == ["≥$", "≥$", "$0"]
    newest = ask("usage", "--more", "blocks").out.splitlines()[1]
    assert newest.count("≥$") == 3


def test_a_commit_is_on_the_branch_of_the_call_that_made_it(ask: Any, scene: Scene) -> None:
    """Not on that of a subagent which worked in a worktree of its own before."""
    subagent = scene.answer("msg_a", tokens(1, 1), request="ra", time="2026-03-01T10:00:08.000Z", session=SESSION)
    scene.write(f"{SESSION}/subagents/agent-a2", subagent | {"gitBranch": "worktree", "isSidechain": True})
    (row,) = ask("usage", "--more", "commits", "--json").data["rows"]
    assert (row["branch"], row["calls"]) == ("main", 3)


def test_topics_without_a_lower_bound_have_no_mark(ask: Any) -> None:
    for topic in ("cache", "changes", "commits"):
        ran = ask("usage", "--more", topic)
        assert "≥" not in ran.out + ran.err


def test_a_picture_marks_lower_bounds(ask: Any, cut_off: Scene, tmp_path: Path) -> None:
    target = tmp_path / "plot.svg"
    assert ask("usage", "--plot", str(target)).code == 0
    assert "Cost by day: ≥$" in target.read_text("utf-8")


def test_a_budget_marks_lower_bounds(ask: Any, scene: Scene) -> None:
    used = tokens(0, 0, read=100_000)
    scene.append(SESSION, scene.answer("msg_9", used, request="r9", time=now(), session=SESSION, **LOWER))
    ask("budget", "set", "0.035/month")
    ran = ask("budget")
    assert "≥$0.03" in ran.out and "≥ output of 1 call is a lower bound" in ran.err
    assert "warning: ≥$0.03 of $0.04 a month" in ran.err
    assert ask("budget", "--json").data["rows"][0]["lower_bound_calls"] == 1


@pytest.mark.parametrize(
    ("used", "words", "odd"),
    [
        ({"input_tokens": 10.0, "output_tokens": 100}, "10 in, 100 out, $0.0015", False),
        ({"input_tokens": "x", "output_tokens": 100}, "0 in, 100 out, $0.0015 (a count is missing or none)", True),
        ({"output_tokens": 100}, "0 in, 100 out, $0.0015 (a count is missing or none)", True),
    ],
)  # fmt: skip
def test_show_tokens_of_odd_counts(ask: Any, scene: Scene, used: dict[str, Any], words: str, odd: bool) -> None:
    scene.append(SESSION, scene.answer("msg_9", used, request="req_9", session=SESSION, parentUuid="u1"))
    lines = ask("show", SESSION, "--all", "--tokens").out.splitlines()
    assert [line for line in lines if line.endswith(words)]
    assert ask("show", SESSION, "--all", "--tokens", "--json").data["rows"][-1]["odd"] is odd
    assert ask("usage", "--json").data["totals"]["odd_calls"] == odd


def test_budgets_of_a_period_are_removed_one_by_one(ask: Any) -> None:
    def there() -> list[tuple[str, str | None]]:
        return [(row["period"], row["project"]) for row in ask("budget", "--json").data["rows"]]

    for words in (
        ["5/month"],
        ["1/month", "--project", "a"],
        ["2/month", "--project", "b"],
        ["1/day", "--project", "a"],
    ):
        ask("budget", "set", *words)
    assert ask("budget", "remove", "month").code == 0
    assert there() == [("month", "a"), ("month", "b"), ("day", "a")]
    assert ask("budget", "remove", "month").code == 1
    assert ask("budget", "remove", "month", "--project", "b").code == 0
    assert there() == [("month", "a"), ("day", "a")]
    ask("budget", "set", "5/month")
    assert ask("budget", "remove", "all", "--project", "a").code == 0
    assert there() == [("month", None)]


def test_the_total_of_an_explanation_is_a_lower_bound_where_a_part_is(ask: Any, scene: Scene) -> None:
    assert "total of 4 calls: $" in ask("usage", "--explain").out
    scene.append(SESSION, scene.answer("p", tokens(10, 1), request="p", session=SESSION, stop=None, version="2.0.0"))
    assert "total of 5 calls: ≥$" in ask("usage", "--explain").out


def test_a_budget_of_nothing_is_kept_while_nothing_is_used(ask: Any) -> None:
    ask("budget", "set", "0/day")
    ran = ask("budget", "--json")
    assert (ran.code, ran.data["rows"][0]["state"]) == (0, "ok")
    assert ask("budget", "--quiet").err == ""


def test_a_budget_for_no_project_is_none(ask: Any) -> None:
    assert ask("budget", "set", "5/day", "--project", "").code == 2
    assert ask("budget", "--json").data["rows"] == []


@pytest.mark.parametrize(
    "written",
    [
        [{"amount": 5, "period": "decade"}],
        [{"amount": -5, "period": "day"}],
        [{"amount": 5, "period": "day", "project": ""}],
        [{"amount": 5, "period": "day"}, {"amount": 6, "period": "day"}],
    ],
)
def test_a_file_of_budgets_that_are_none_is_damaged(ask: Any, written: Any) -> None:
    ask("budget", "set", "5/day")
    (own_folder("config") / "budgets.json").write_text(json.dumps(written))
    ran = ask("budget")
    assert ran.code == 4 and "bad-budgets" in ran.err
