"""Tokens and money as verbs of the library: usage, one session's usage, prompts, budgets, and the same sums in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.errors import NotFound, QueryError, Unavailable
from recollect.export.sql_answer import answer_csv
from recollect.library.budgets import Budgets
from recollect.library.library import Library
from recollect.library.moments import read_moment
from recollect.library.session import Session
from recollect.store.home import Home

OPUS, HAIKU = "claude-opus-4-5", "claude-haiku-4-5"
DEAR, CHEAP = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Two sessions: one of few dear tokens, one of many cheap ones and with a subagent, a day later."""
    scene = Scene(tmp_path)
    prompt = {"type": "user", "uuid": "p1", "sessionId": DEAR, "timestamp": "2026-03-02T09:59:00.000Z"}
    prompt["message"] = {"role": "user", "content": "Draw a map"}  # type: ignore[assignment]
    scene.write(
        DEAR, prompt, scene.answer("m1", tokens(10, 1_000), time="2026-03-02T10:00:00.000Z", model=OPUS, session=DEAR)
    )
    scene.write(
        CHEAP, scene.answer("m2", tokens(10, 3_000), request="r2", time="2026-03-03T10:00:00.000Z", model=HAIKU, session=CHEAP)
    )  # fmt: skip
    scene.write(
        f"{CHEAP}/subagents/agent-a1",
        scene.answer("m3", tokens(0, 100), request="r3", time="2026-03-03T23:30:00.000Z", model=HAIKU, session=CHEAP),
    )
    with Library([Home(scene.root)], own_folder=lambda kind: tmp_path / kind) as opened:
        yield opened


def test_the_dearest_group_comes_first_and_not_the_one_with_the_most_tokens(library: Library) -> None:
    groups = library.usage("session", timezone="UTC").groups
    assert [group.key for group in groups] == [DEAR, CHEAP]
    assert groups[0].totals.cost > groups[1].totals.cost
    assert groups[0].totals.counts.tokens < groups[1].totals.counts.tokens


def test_a_session_has_the_usage_of_its_subagents(library: Library) -> None:
    found = library.session(CHEAP).usage
    assert (found.calls, found.counts.output) == (2, 3_100)
    assert found == library.usage("day", session=CHEAP[:8]).totals
    assert library.session(DEAR).usage.cost + found.cost == library.usage().totals.cost


def test_a_session_without_a_library_says_so(library: Library) -> None:
    with pytest.raises(Unavailable, match="without a library"):
        _ = Session(library.session(DEAR).file).usage


@pytest.mark.parametrize(
    ("since", "until", "calls"),
    [
        ("2026-03-03", None, 2),
        (None, "2026-03-02", 1),  # a day is meant as a whole
        (None, "2026-03-03", 3),
        (date(2026, 3, 3), None, 2),
        (datetime(2026, 3, 3, 12, tzinfo=UTC), None, 1),
        (None, datetime(2026, 3, 2, 10, tzinfo=UTC), 0),
    ],
)
def test_a_time_is_a_datetime_or_what_people_type(
    library: Library, since: datetime | str | None, until: datetime | str | None, calls: int
) -> None:
    assert library.usage(since=since, until=until, timezone="UTC").totals.calls == calls


def test_days_are_those_of_the_named_zone(library: Library) -> None:
    days = [group.key for group in library.usage("day", timezone="Europe/Berlin").groups]
    assert days == ["2026-03-02", "2026-03-03", "2026-03-04"]
    assert library.usage(since="2026-03-04", timezone="Europe/Berlin").totals.calls == 1


def test_what_does_not_exist_is_named(library: Library) -> None:
    for wrong in ({"by": "colour"}, {"since": "soon"}, {"prices": "tomorrow"}, {"timezone": "Nowhere/Town"}):
        with pytest.raises(QueryError):
            library.usage(**wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        library.usage(session="no such session")
    with pytest.raises(QueryError, match="'soon' is not a time"):
        read_moment("soon")


def test_prompts_by_what_they_cost(library: Library) -> None:
    found = library.expensive(limit=1, timezone="UTC")
    ((prompt, text),) = found.rows
    assert (text, prompt.session_id, prompt.totals.cost) == ("Draw a map", DEAR, library.session(DEAR).usage.cost)
    assert found.total == 2 and found.totals.cost == library.usage().totals.cost
    assert found.data()[0]["prompt"] == "Draw a map"


def test_sql_has_the_same_sums_as_whole_numbers(library: Library) -> None:
    usage = {group.key: group.totals.cost for group in library.usage("session").groups}
    sessions = library.sql("SELECT session_id, cost_micro_usd FROM sessions ORDER BY 1")
    assert {row[0]: row[1] for row in sessions.rows} == usage
    assert [column.type for column in sessions.columns] == ["VARCHAR", "BIGINT"]
    assert "".join(answer_csv(sessions)).splitlines()[1:] == [f"{key},{usage[key]}" for key in sorted(usage)]
    responses = library.sql("SELECT session_id, sum(cost_micro_usd)::BIGINT FROM responses GROUP BY 1 ORDER BY 1")
    assert {row[0]: row[1] for row in responses.rows} == usage


def test_a_budget_stands_as_the_ledger_of_the_same_library_counts(library: Library, tmp_path: Path) -> None:
    library.budgets.set("0.01/day")
    library.budgets.set("5/month", "/work/a")
    now = round(datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp() * 1_000_000)
    states = library.budgets.states(ledger=library.ledger("UTC"), now=now)
    spent = library.session(DEAR).usage.cost
    assert [(item.budget.period, item.used, item.state) for item in states] == [
        ("day", spent, "exceeded"),
        ("month", library.usage().totals.cost, "ok"),
    ]
    assert [item.period for item in library.budgets.all("/work/a")] == ["month"]
    assert [item.period for item in library.budgets.remove("day")] == ["day"]
    assert len(Budgets(tmp_path / "config").all()) == 1
    with pytest.raises(Unavailable, match="without a library"):
        Budgets(tmp_path / "config").states()


def test_each_call_of_a_group_is_explained_and_its_shares_add_up(library: Library) -> None:
    ledger = library.ledger("UTC")
    for by in ("day", "model", "session", "tool"):
        for group in ledger.usage(by).groups:
            found = ledger.explain_group(by, group.key)
            assert sum(row["share"] for row in found.rows) == found.totals.cost == group.totals.cost
            assert found.total == group.totals.calls
    assert [row["message_id"] for row in ledger.explain().rows] == ["m1", "m2", "m3"]
    assert [row["message_id"] for row in ledger.explain(ident="2026-03-02").rows] == ["m1"]
    assert len(ledger.explain_group("day", "", limit=1).rows) == 1


def test_a_closed_library_opens_its_index_again(library: Library) -> None:
    before = library.usage().totals
    library.close()
    assert library.usage().totals == before
    assert library.search("map").total == 1
    library.close()
    assert library.search("map").total == 1
