"""What `usage` reports beyond its table is of the homes, days and calls that were asked for, and of no others."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens
from tests.cli.usage_scene import COST, FULL, OPUS, SESSION, ask, bash, now, prompt, scene
from tests.running import Ran, run

__all__ = ["ask", "scene"]

OTHER = "22222222-2222-4222-8222-222222222222"


def edit(scene: Scene, number: int, when: str, session: str = SESSION, **more: Any) -> list[dict[str, Any]]:
    """A `Write` of a new file with two lines, and its result."""
    path = f"/work/a/f{number}"
    call = scene.answer(f"w{number}", FULL, request=f"w{number}", time=when, session=session, stop="tool_use", **more)
    call["message"]["content"] = [
        {"type": "tool_use", "id": f"e{number}", "name": "Write", "input": {"file_path": path, "content": "a\nb\n"}}
    ]
    told = {"type": "create", "filePath": path, "content": "a\nb\n", "structuredPatch": []}
    content = [{"type": "tool_result", "tool_use_id": f"e{number}", "content": "ok"}]
    result = {
        "type": "user", "uuid": f"wr{number}", "parentUuid": call["uuid"], "sessionId": session, "timestamp": when,
        "message": {"role": "user", "content": content}, "toolUseResult": told,
    }  # fmt: skip
    return [call, result]


def boundary(when: str) -> dict[str, Any]:
    return {
        "type": "system", "subtype": "compact_boundary", "uuid": f"c{when}", "parentUuid": None, "sessionId": SESSION,
        "timestamp": when, "content": "Conversation compacted",
    }  # fmt: skip


def three_days(scene: Scene) -> None:
    """A commit and a changed file on each of three days; on the third by another model, on another branch."""
    rows: list[dict[str, Any]] = []
    for day in (1, 2, 3):
        more = {"model": OPUS, "gitBranch": "dev"} if day == 3 else {}
        commit = bash(
            scene, day, f"git commit -m {day}", f"2026-03-0{day}T10:00:00.000Z", f"2026-03-0{day}T10:00:05.000Z"
        )
        if day == 3:
            commit[0]["message"]["model"], commit[0]["gitBranch"] = OPUS, "dev"
        rows += [*commit, *edit(scene, day, f"2026-03-0{day}T10:01:00.000Z", **more)]
        rows += [boundary(f"2026-03-0{day}T11:00:00.000Z")]
    scene.write(SESSION, prompt("Go on", "u0", "2026-03-01T09:00:00.000Z"), *rows)
    scene.path(f"{SESSION}/subagents/agent-a1").unlink()


@pytest.mark.parametrize(
    "chosen",
    [["--since", "2026-03-02", "--until", "2026-03-02"], ["--model", "opus"], ["--branch", "dev"], ["--since", "2026-03-03"]],
)  # fmt: skip
def test_tools_changes_and_commits_are_those_of_the_calls_that_were_asked_for(
    ask: Any, scene: Scene, chosen: list[str]
) -> None:
    three_days(scene)

    def rows(topic: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ask("usage", "--more", topic, "--json", "--timezone", "UTC", *chosen).data["rows"]
        return found

    whole = ask("usage", "--json", "--timezone", "UTC", *chosen).data["totals"]
    assert {row["tool"]: row["calls"] for row in rows("tools")} == {"Bash": 1, "Write": 1}
    [changed] = rows("changes")
    assert (changed["files"], changed["added"]) == (1, 2)
    assert changed["cost_micro_usd"] == whole["cost_micro_usd"] == changed["micro_usd_per_line"] * 2
    [commit] = rows("commits")
    assert commit["calls"] == 1 and commit["cost_micro_usd"] * 2 == whole["cost_micro_usd"]
    assert commit["command"] == f"git commit -m {2 if '--until' in chosen else 3}"
    compacted = 1 if "--since" in chosen else 3  # a compaction has neither model nor branch
    assert [row["compactions"] for row in rows("context")] == [compacted]


def test_without_a_choice_it_is_everything(ask: Any, scene: Scene) -> None:
    three_days(scene)
    tools = ask("usage", "--more", "tools", "--json").data["rows"]
    assert {row["tool"]: row["calls"] for row in tools} == {"Bash": 3, "Write": 3}
    [changed] = ask("usage", "--more", "changes", "--json").data["rows"]
    assert (changed["files"], changed["added"], changed["removed"]) == (3, 6, 0)
    assert [row["calls"] for row in ask("usage", "--more", "commits", "--json").data["rows"]] == [1, 2, 2]


def test_a_commit_at_the_end_of_a_long_command_is_one(ask: Any, scene: Scene) -> None:
    long = "git add " + "src/a/long/path.py " * 30 + "&& git commit -m x"
    for number, command in enumerate((long, long.replace("commit", "status"))):
        scene.append(
            SESSION, *bash(scene, 40 + number, command, f"2026-03-01T12:0{number}:00.000Z", "2026-03-01T12:05:00.000Z")
        )
    commands = [row["command"] for row in ask("usage", "--more", "commits", "--json").data["rows"]]
    assert [command for command in commands if command.startswith("git add")] == [long[:200]]


def test_what_results_added_is_shared_out_among_all_that_came_between(ask: Any, scene: Scene) -> None:
    """Of what a prompt grew by, a result that was not asked for has its part, too."""
    first, answer = bash(scene, 1, "ls", "2026-03-01T10:00:00.000Z", "2026-03-01T10:00:01.000Z")
    second, other = bash(scene, 2, "ls", "2026-03-01T10:00:02.000Z", "2026-03-01T10:00:03.000Z")
    second["message"]["model"] = OPUS
    last = scene.answer("m9", tokens(0, 1, read=1780), request="r9", time="2026-03-01T10:00:04.000Z", session=SESSION)
    scene.write(SESSION, first, answer, second, other, last)
    [row] = ask("usage", "--more", "tools", "--json", "--model", "sonnet").data["rows"]
    assert (row["calls"], row["tokens_fed_back"]) == (1, (1780 - 580 - 200) // 2)


def test_whole_turns_are_those_that_were_asked_for(ask: Any, scene: Scene) -> None:
    def turn(number: int, day: int) -> list[dict[str, Any]]:
        when = f"2026-04-0{day}T10:00:00.000Z"
        return [
            scene.answer(f"t{number}", FULL, request=f"t{number}", time=when, session=SESSION),
            {"type": "system", "subtype": "turn_duration", "durationMs": 1000 * day, "uuid": f"td{number}",
             "sessionId": SESSION, "timestamp": when},
        ]  # fmt: skip

    scene.append(SESSION, *turn(1, 1), *turn(2, 2))
    asked = ("usage", "--more", "speed", "--json", "--timezone", "UTC")
    assert ask(*asked).data["turns"]["count"] == 2
    assert ask(*asked, "--since", "2026-04-02").data["turns"] == {"count": 1, "p50": 2.0, "p95": 2.0}


def test_a_home_is_asked_for_alone_though_another_holds_a_longer_copy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ours, other = Scene(tmp_path / "a"), Scene(tmp_path / "b")
    begun = [
        prompt("First", "u0", "2026-03-01T09:00:00.000Z"),
        ours.answer("m1", FULL, time="2026-03-01T10:00:00.000Z", session=SESSION),
    ]
    ours.write(SESSION, *begun)
    gone_on = [
        prompt("Second", "u1", "2026-03-01T09:30:00.000Z"), *begun[1:],
        *bash(other, 2, "git commit -m x", "2026-03-01T11:00:00.000Z", "2026-03-01T11:00:01.000Z"),
        *edit(other, 3, "2026-03-01T11:01:00.000Z"), boundary("2026-03-01T11:02:00.000Z"),
    ]  # fmt: skip
    state = {"type": "cost-state", "sessionId": SESSION, "totalCostUSD": 5.0, "modelUsage": {}}
    other.write(SESSION, begun[0], *gone_on, state)
    other.write(SESSION[:-1] + "2", prompt("Another", "u9", "2026-03-01T09:00:00.000Z"))

    def told(*homes: Path) -> list[Ran]:
        named = [word for home in homes for word in ("--home", str(home))]
        topics = [["usage", "--more", topic] for topic in ("changes", "commits", "context", "tools", "speed")]
        asked = [*topics, ["expensive"], ["usage", "--by", "tool"], ["usage", "--session", SESSION[:8]]]
        return [run(capsys, None, *named, *words, "--json") for words in [*asked, ["usage", "--check"]]]

    alone = told(ours.root)
    theirs = told(other.root)
    assert [ran.data["rows"][0]["added"] for ran in theirs[:1]] == [2] and theirs[1].data["total"] == 1
    assert told(ours.root) == alone
    both = told(ours.root, other.root)
    assert {row["prompt"] for row in both[5].data["rows"]} == {"First", "Second"}
    assert sum(row["calls"] for row in both[5].data["rows"]) == 3
    assert both[1].data["total"] == 1 and both[0].data["rows"][0]["files"] == 1
    assert [row["ours"] for row in both[-1].data["rows"]] == [row["ours"] for row in theirs[-1].data["rows"]]


@pytest.mark.parametrize(("first", "second"), [(SESSION, OTHER), (OTHER, SESSION)])
def test_a_fork_without_calls_of_its_own_takes_nothing_away(ask: Any, scene: Scene, first: str, second: str) -> None:
    """Whichever of the two sorts first."""
    rows = [
        prompt("Go on", "u0", "2026-03-01T09:00:00.000Z") | {"sessionId": first},
        *({**row, "sessionId": first} for row in bash(
            scene, 1, "git commit -m x", "2026-03-01T10:00:00.000Z", "2026-03-01T10:00:05.000Z")),
        *edit(scene, 2, "2026-03-01T10:01:00.000Z", first),
    ]  # fmt: skip
    for name in (SESSION, OTHER):
        scene.path(name).unlink(missing_ok=True)
    scene.write(first, *rows)
    copied = [
        {**row, "sessionId": second, "forkedFrom": {"sessionId": first, "messageUuid": row["uuid"]}} for row in rows
    ]
    scene.write(second, *copied)
    chosen = ("--subagent", "main")
    [changed] = ask("usage", "--more", "changes", "--json", *chosen).data["rows"]
    assert (changed["files"], changed["added"], changed["cost_micro_usd"]) == (1, 2, 2 * round(COST))
    [commit] = ask("usage", "--more", "commits", "--json", *chosen).data["rows"]
    assert (commit["session_id"], commit["calls"]) == (first, 1)
    tools = ask("usage", "--more", "tools", "--json", *chosen).data["rows"]
    assert {row["tool"]: row["calls"] for row in tools} == {"Bash": 1, "Write": 1}


# -- the client's own count -------------------------------------------------------------------------------------------
def test_the_clients_count_is_told_of_the_sessions_in_the_report(ask: Any, scene: Scene) -> None:
    state = {"type": "cost-state", "sessionId": OTHER, "totalCostUSD": 5.0, "modelUsage": {}}
    scene.write(
        OTHER,
        scene.answer("m8", FULL, request="r8", session=OTHER, cwd="/work/b", time="2026-02-01T10:00:00.000Z"),
        state,
    )
    differs = "Claude Code's own count differs for 1 session"
    assert differs in ask("usage").err and differs in ask("usage", "--project", "b").err
    for chosen in (["--project", "a"], ["--since", "2026-03-01"], ["--model", "opus"]):
        assert differs not in ask("usage", *chosen).err
        assert ask("usage", *chosen, "--json").data["client_counts"] == []
    assert ask("usage", "--check", "--project", "a").code == 1
    assert [row["session_id"] for row in ask("usage", "--check", "--project", "b", "--json").data["rows"]] == [OTHER]
    assert ask("usage", "--check", "--limit", "0", "--json").data["rows"] == []


@pytest.mark.parametrize(
    ("report", "option"),
    [
        *((["--check"], option) for option in ("--since", "--until", "--model", "--branch", "--subagent", "--status")),
        *((report, "--by") for report in (["--check"], ["--heat"], ["--explain"], ["--more", "cache"])),
        (["--heat"], "--limit"),
    ],
)
def test_what_a_report_cannot_follow_is_refused(ask: Any, report: list[str], option: str) -> None:
    values = {"--since": "7d", "--until": "7d", "--status": "live", "--by": "model", "--limit": "1"}
    ran = ask("usage", *report, f"{option}={values.get(option, 'x')}")
    assert ran.code == 2 and f"{report[0]} has no {option}" in ran.err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *(("usage", option) for option in ("--project", "--session", "--model", "--branch", "--subagent")),
        ("expensive", "--project"), ("expensive", "--session"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["", " "])
def test_a_choice_that_says_nothing_is_refused(ask: Any, command: str, option: str, value: str) -> None:
    ran = ask(command, option, value)
    assert ran.code == 2 and "it is empty" in ran.err


def test_odd_counts_are_told_with_where_to_look(ask: Any, scene: Scene) -> None:
    scene.append(SESSION, scene.answer("m9", tokens(-1, 5), request="r9", session=SESSION))
    assert "those are taken as nought, see --explain" in ask("usage").err


# -- limits -----------------------------------------------------------------------------------------------------------
def test_a_limit_holds_for_csv_of_explanations(ask: Any) -> None:
    for limit in (0, 1, 3):
        rows = list(csv.DictReader(io.StringIO(ask("usage", "--explain", "--csv", "--limit", str(limit)).out)))
        assert len(rows) == limit
    assert ask("usage", "--explain", "--csv", "--limit", "0").out.startswith("time,day,session_id")


def test_the_total_of_the_cache_stays_and_is_no_model(ask: Any) -> None:
    lines = ask("usage", "--more", "cache", "--limit", "1").out.splitlines()
    assert [line.split()[0] for line in lines] == ["model", lines[1].split()[0], "total"]
    assert lines[2].split()[1] == "4"
    data = ask("usage", "--more", "cache", "--json", "--limit", "1").data
    assert data["total"] == 2 and len(data["rows"]) == 1 and data["totals"]["calls"] == 4
    assert "total_row" not in data and "total" not in [row["model"] for row in data["rows"]]
    rows = list(csv.DictReader(io.StringIO(ask("usage", "--more", "cache", "--csv").out)))
    assert len(rows) == 2


def test_what_an_advisor_used_is_explained_with_its_message(ask: Any, scene: Scene) -> None:
    rounds = [
        {"type": "message", "input_tokens": 10, "output_tokens": 100},
        {"type": "advisor_message", "model": OPUS, "input_tokens": 1000, "output_tokens": 200},
    ]
    scene.append(SESSION, scene.answer("m7", tokens(10, 100, iterations=rounds), request="r7", session=SESSION))
    for ident in ("m7", "m7#advisor"):
        data = ask("usage", "--explain", ident, "--json").data
        assert [row["message_id"] for row in data["rows"]] == ["m7", "m7#advisor"]
        assert data["totals"]["cost_micro_usd"] == 10 * 3 + 100 * 15 + 1000 * 5 + 200 * 25


@pytest.mark.parametrize(
    ("project", "calls"),
    [
        ("/work/a", 1),
        ("/work/a/", 1),
        ("/home/me", 1),
        ("/home/me/work/a", 1),
        ("/a", 0),
        ("a", 2),
        ("work/a", 2),
        ("/", 2),
    ],
)
def test_a_whole_path_is_that_place_and_no_other(ask: Any, scene: Scene, project: str, calls: int) -> None:
    rows = [
        scene.answer(f"m{n}", FULL, request=f"r{n}", session=SESSION, cwd=cwd)
        for n, cwd in enumerate(("/work/a", "/home/me/work/a"))
    ]
    scene.write(SESSION, *rows)
    scene.path(f"{SESSION}/subagents/agent-a1").unlink()
    assert ask("usage", "--project", project, "--json").data["totals"]["calls"] == calls


def test_answers_whose_rows_go_back_in_time_say_nothing_of_speed(ask: Any, scene: Scene) -> None:
    asked = prompt("Go", "u0", "2026-03-01T10:00:00.000Z")
    first = scene.answer("m1", FULL, session=SESSION, time="2026-03-01T10:00:04.000Z", parentUuid="u0")
    then = scene.answer("m1", FULL, session=SESSION, time="2026-03-01T10:00:02.000Z", parentUuid=first["uuid"])
    scene.path(f"{SESSION}/subagents/agent-a1").unlink()
    scene.write(SESSION, asked, first, then)
    (row,) = ask("usage", "--more", "speed", "--json").data["rows"]
    assert (row["answers"], row["left_out"]) == (0, 1)
    scene.write(SESSION, asked, then | {"parentUuid": "u0"}, first)
    (row,) = ask("usage", "--more", "speed", "--json").data["rows"]
    assert (row["answers"], row["left_out"], row["seconds_to_first_row"]["p50"]) == (1, 0, 2.0)


def test_columns_of_csv_do_not_hang_on_the_first_row(ask: Any, scene: Scene) -> None:
    """The rate of a model with lower bounds alone is not known; that of the other one is nested, and has its own columns."""
    asked = [prompt("Go", f"u{n}", f"2026-03-01T10:0{n}:00.000Z") for n in range(3)]
    answers = [
        scene.answer(
            f"m{n}", FULL, request=f"r{n}", session=SESSION, time=f"2026-03-01T10:0{n}:04.000Z", parentUuid=f"u{n}",
            stop=None if n < 2 else "end_turn", model=OPUS if n < 2 else "claude-sonnet-4-5-20250929", version="2.0.0",
        )
        for n in range(3)
    ]  # fmt: skip
    scene.path(f"{SESSION}/subagents/agent-a1").unlink()
    scene.write(SESSION, *(row for pair in zip(asked, answers, strict=True) for row in pair))
    rows = list(csv.DictReader(io.StringIO(ask("usage", "--more", "speed", "--csv").out)))
    assert "output_tokens_per_second" not in rows[0]
    assert [bool(row["output_tokens_per_second_p50"]) for row in rows] == [False, True]


@pytest.mark.parametrize("topic", ["context", "blocks", "hours"])
def test_what_is_drawn_is_for_people(ask: Any, topic: str) -> None:
    assert "drawn" not in ask("usage", "--more", topic, "--json").data["rows"][0]
    assert "drawn" not in ask("usage", "--more", topic, "--csv").out.splitlines()[0]


def test_a_project_is_named_by_any_path_that_leads_to_it(
    scene: Scene, ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `list --project` does. A budget keeps the whole path: whoever asks later may stand elsewhere."""
    work = tmp_path / "work"
    (work / "app" / "below").mkdir(parents=True)
    (work / "link").symlink_to(work / "app")
    (work / "other").mkdir()
    when = now()
    for number, folder in enumerate(("app", "app/below", "other")):
        row = scene.answer(f"p{number}", tokens(10**number, 0), request=f"p{number}", time=when)
        scene.write(f"p{number}", row | {"cwd": str(work / folder)})
    monkeypatch.setenv("HOME", str(work))
    monkeypatch.chdir(work / "app")
    for name in (".", "./", "../app", "~/app", "~/link", str(work / "link"), f"{work}/app/"):
        report = ask("usage", "--project", name, "--json").data
        assert report["totals"]["input"] == 11, name
    assert ask("usage", "--project", "..", "--json").data["totals"]["input"] == 111
    assert ask("usage", "--project", "app", "--json").data["totals"]["input"] == 11
    assert ask("expensive", "--project", ".").code in (0, 1)
    assert ask("budget", "set", "50/month", "--project", ".").code == 0
    monkeypatch.chdir(work / "other")
    (state,) = ask("budget", "--json").data["rows"]
    assert (state["project"], state["used_micro_usd"]) == (str((work / "app").resolve()), 33)
    ask("budget", "set", "0/month", "--project", "other")
    assert ask("budget").code == 1
    assert [row["project"] for row in ask("budget", "--project", "../app", "--json").data["rows"]] == [state["project"]]
    assert ask("budget", "--project", "../app").code == 0
    assert ask("budget", "--project", "nowhere").code == 0
    assert ask("budget", "remove", "month", "--project", "../app").code == 0


def test_an_end_before_all_days(ask: Any) -> None:
    assert ask("usage", "--until", "0001-01-01T00:00:00Z", "--timezone", "UTC").code == 1
