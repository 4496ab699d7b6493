"""Search, usage and SQL pages: the same answers as the command line, and progress while there is none yet."""

from __future__ import annotations

import csv
import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene as Spent
from tests.analysis.scene import tokens
from tests.web.scene import CACHE_SESSION, Scene, scene, until

from recollect.export.usage_remarks import remarks
from recollect.export.wording import money
from recollect.testing import HomeBuilder
from recollect.web.session_choice import asked_of


def test_search_marks_what_was_looked_for_and_leads_to_the_message(demo: Scene) -> None:
    script = demo.script
    text = until(lambda: script.get("/search", params={"q": "matplotlib"}).text, "<mark>")
    assert "<mark>matplotlib</mark>" in text
    links = re.findall(r'href="(/sessions/[^"]+/m/[^"]+)"', text)
    assert links
    answer = script.get(links[0])
    assert answer.status_code == 303
    place, _, uuid = answer.headers["location"].partition("#m-")
    assert f'id="m-{uuid}"' in script.get(place).text
    assert "<html" not in script.get("/search?q=matplotlib", headers={"HX-Request": "true"}).text
    assert "Projects" in text


def test_every_hit_leads_to_something_that_is_shown(demo: Scene) -> None:
    script = demo.script
    for words in ("table", "days", "pytest", "projection"):
        text = until(lambda asked=words: script.get("/search", params={"q": asked}).text, "match")  # type: ignore[misc]
        for link in set(re.findall(r'href="(/sessions/[^"]+/m/[^"]+)"', text)):
            place, _, uuid = script.get(link).headers["location"].partition("#m-")
            assert f'id="m-{uuid}"' in script.get(place).text, link


def test_mistakes_in_a_query_are_shown_with_their_place(demo: Scene) -> None:
    answer = demo.script.get("/search", params={"q": 'tide "unfinished'})
    assert answer.status_code == 400
    assert "<mark>" in answer.text


def test_nothing_found_gives_advice(demo: Scene) -> None:
    assert "Nothing found" in until(lambda: demo.script.get("/search?q=zzzzqqqq").text, "Nothing found")


def test_usage_adds_up(demo: Scene) -> None:
    script = demo.script
    text = until(lambda: script.get("/usage?span=all&by=model").text, "<tfoot>")
    assert "opus" in text
    chart = re.search(r'data-values="([^"]+)"', text)
    assert chart is not None
    told = json.loads(unescape(chart[1]))
    assert len(told["times"]) == len(told["series"][0]["values"])
    for by in ("day", "week", "month", "project", "session", "tool", "branch", "subagent", "nonsense"):
        assert "<tfoot>" in until(lambda by=by: script.get(f"/usage?span=all&by={by}").text, "<tfoot>")  # type: ignore[misc]
    rows = script.get("/usage.csv?span=all&by=model").text.splitlines()
    assert rows[0].startswith("model,calls,input")
    explained = script.get("/usage/explain", params={"by": "day", "span": "all", "key": "2026-03-26"}).text
    assert CACHE_SESSION[:8] in explained


def _chart(text: str) -> dict[str, Any]:
    found = re.search(r'data-values="([^"]+)"', text)
    assert found is not None
    told: dict[str, Any] = json.loads(unescape(found[1]))
    return told


@pytest.mark.parametrize("by", ["day", "week", "month", "model", "project", "session", "tool", "branch", "subagent"])
def test_charts_hold_what_the_table_says(demo: Scene, by: str) -> None:
    text = until(lambda: demo.script.get(f"/usage?span=all&by={by}").text, "<tfoot>")
    told = _chart(text)
    rows = demo.script.get(f"/usage.csv?span=all&by={by}").text.splitlines()
    cost = rows[0].split(",").index("cost_micro_usd")
    assert sum(sum(series["values"]) for series in told["series"]) == sum(
        int(row[cost]) for row in csv.reader(rows[1:])
    )
    assert len(told["keys"]) == len(told["times"])
    explained = demo.script.get(
        "/usage/explain", params={"by": told["period"], "span": "all", "key": told["keys"][0]}
    ).text
    assert "/sessions/" in explained


def test_every_row_is_explained_by_calls_that_add_up_to_it(demo: Scene) -> None:
    script = demo.script
    for by in ("tool", "model", "project"):
        until(lambda by=by: script.get(f"/usage?span=all&by={by}").text, "<tfoot>")  # type: ignore[misc]
        rows = list(csv.DictReader(script.get(f"/usage.csv?span=all&by={by}").text.splitlines()))
        assert len(rows) > 1
        for row in rows:
            text = script.get("/usage/explain", params={"by": by, "span": "all", "key": row[by].lstrip("'")}).text
            assert money(int(row["cost_micro_usd"])) + " in " in text, row
    everything = script.get("/usage/explain?by=day&span=all&key=").text
    whole = sum(int(row["cost_micro_usd"]) for row in rows)
    assert f"{money(whole)} in {sum(int(row['calls']) for row in rows):,} calls" in everything


def test_what_the_command_says_below_its_table_stands_on_the_page(tmp_path: Path) -> None:
    """Odd counts, times without a zone or none at all, unknown prices, lower bounds, copies."""
    home = Spent(tmp_path)
    rows = [
        home.answer("m1", tokens(10, 200), request="r1", time="2026-03-01T10:00:00"),
        home.answer("m2", tokens(-5, 200), request="r2"),
        home.answer("m3", tokens(10, 200), request="r3", time=None),
        home.answer("m4", tokens(10, 200), request="r4", model="claude-<nobody>-9"),
        home.answer("m5", tokens(10, 1), request="r5", stop=None),
    ]
    home.write("s", *rows)
    home.write("t", *({**row, "sessionId": "t"} for row in rows[:1]))
    with home.open() as ledger:
        told = remarks(ledger.usage("day"), more="see the calls behind their row")
    assert len(told) == 7
    script = scene(home.root, tmp_path / "own").script
    text = until(lambda: script.get("/usage?span=all").text, "<tfoot>")
    shown = [unescape(line) for line in re.findall("<li>(.*?)</li>", text[text.index("How it is counted") :])]
    assert [line.partition(";")[2] for line in shown[:1]] == [
        line.partition(";")[2] for line in told[:1]
    ]  # zones differ
    assert shown[1:] == told[1:]
    assert "calls behind their row" in text and "&lt;nobody&gt;" in text and "<nobody>" not in text
    whole = text[text.index("<tfoot>") : text.index("</tfoot>")]
    assert whole.count(">≥</abbr>") == 2 and whole.count(">+?</abbr>") == 1
    for heading in ("What the cache saved", "Blocks of five hours"):
        table = text[text.index(heading) :].partition("</table>")[0]
        assert ">≥</abbr>" in table and ">+?</abbr>" in table, heading
    tiles = text[text.index('class="tiles"') : text.index("</section>")]
    assert tiles.count(">≥</abbr>") == 3 and tiles.count(">+?</abbr>") == 1
    explained = script.get("/usage/explain?by=day&span=all&key=").text
    whole = explained[explained.index("<h1>") : explained.index(" in 5 calls")]
    assert ">≥</abbr>$0." in whole and ">+?</abbr>" in whole
    exact = script.get("/usage/explain?by=model&span=all&key=claude-%3Cnobody%3E-9").text
    assert "≥" not in exact and ">+?</abbr> in 1 call" in exact
    assert explained.count("no zone, taken as UTC") == explained.count("a count is missing or none") == 1


def test_blocks_with_the_running_one_ahead(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    now = datetime.now(UTC)
    for hours in (50, 26, 0.2):
        t = home.session("/w/a", start=now - timedelta(hours=hours))
        t.user("Go on")
        t.assistant("Done.")
    home.write()
    script = scene(tmp_path / "claude", tmp_path / "own").script
    text = until(lambda: script.get("/usage").text, "<tfoot>")
    blocks = text[text.index('id="blocks"') : text.index('id="budgets"')]
    assert blocks.count("<tr data-row") == 3
    assert blocks.count("running</span>") == 1
    first = blocks[blocks.index("<tbody>") : blocks.index("</tr>", blocks.index("<tbody>"))]
    assert "running" in first
    assert re.search(r"\$[\d.]+ at \d\d:\d\d", first)


def test_budgets_and_cache_are_told(demo: Scene) -> None:
    demo.service.library.budgets.set("1/year")
    text = until(lambda: demo.script.get("/usage?span=all").text, "<tfoot>")
    assert "$1.00 a year" in text
    assert "<meter" in text
    cache = text[text.index('id="cache"') : text.index('id="budgets"')]
    assert re.search(r"\d+\.\d %", cache)


@pytest.mark.parametrize(("project", "amount", "bar"), [("nowhere", "1/year", 0), (None, "0/year", 100)])
def test_the_bar_of_a_budget(tmp_path: Path, project: str | None, amount: str, bar: int) -> None:
    """Of which nothing is used, or nothing may be."""
    home = Spent(tmp_path)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    home.write("s", home.answer("m1", tokens(10, 1), stop=None, time=now))
    found = scene(home.root, tmp_path / "own")
    found.service.library.budgets.set(amount, project)
    text = until(lambda: found.script.get("/usage?span=all").text, "<tfoot>")
    assert re.findall('<meter [^>]*value="([^"]*)"', text) == [f"{bar:.1f}" if project else f"{bar}"]
    assert "None" not in text[text.index('id="budgets"') :]
    tiles = text[text.index('class="tiles"') : text.index("</section>")]
    assert tiles.count(">≥</abbr>$0.0") == (3 if project else 4)  # all, the block and what it leads to, the budget


def test_money_is_written_as_the_command_does() -> None:
    assert [money(amount) for amount in (None, 0, 15, 15_000, -5_000, 1_234_567_890)] == [
        "", "$0.00", "$0.000015", "$0.02", "-$0.0050", "$1,234.57",
    ]  # fmt: skip


def test_costs_are_on_the_lists_and_the_messages(demo: Scene) -> None:
    script = demo.script
    listed = until(lambda: script.get("/sessions").text, 'class="cost"')
    assert "model=claude-opus-5" in listed
    assert "Cache the tide tables" in script.get("/sessions?model=claude-opus-5").text
    assert "Missing day" not in script.get("/sessions?model=claude-opus-5").text
    shown = script.get(f"/sessions/{CACHE_SESSION}").text
    assert re.search(r"in, [\d.k]+ out, \$\d", shown)


def test_sql_answers_charts_and_csv(demo: Scene) -> None:
    browser = demo.browser
    sql = "SELECT project, count(*) AS n FROM sessions GROUP BY project ORDER BY n DESC"
    text = until(lambda: browser.post("/sql", data={"sql": sql}).text, "<tbody>")
    assert "/home/ada/code/tidepool" in text
    assert 'data-kind="columns"' in text
    saved = browser.post("/sql", data={"sql": "SELECT '=1+1' AS \"x\", 2 AS n", "as": "csv"})
    assert saved.text.splitlines() == ["x,n", "'=1+1,2"]
    as_json = browser.post("/sql", data={"sql": "SELECT 'a' AS x, 2 AS n", "as": "json"})
    assert as_json.json() == {"columns": ["x", "n"], "rows": [["a", 2]], "cut": ""}
    assert '<th scope="col" title="BIGINT" class="n">n</th>' in text
    assert browser.post("/sql", data={"sql": "SELEKT 1"}).status_code == 400
    assert browser.post("/sql", data={"sql": ""}).status_code == 400


def test_the_filter_survives_its_own_address() -> None:
    asked = asked_of({"q": "a&b=c+d", "project": "/x/ü y", "sort": "bytes"})
    from urllib.parse import parse_qs

    again = asked_of({key: value[0] for key, value in parse_qs(asked.query()).items()})
    assert again == asked
