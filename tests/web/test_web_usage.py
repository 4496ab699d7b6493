"""Search, usage and SQL pages: the same answers as the command line, and progress while there is none yet."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from html import unescape

import pytest
from tests.web.scene import CACHE_SESSION, Scene

from recollect.library.library import Library
from recollect.web.session_choice import asked_of
from recollect.web.work import Chores, IndexWork, StillIndexing


def until(ask: Callable[[], str], words: str) -> str:
    """A page, asked for again while it is still being worked out."""
    for _ in range(200):
        text = ask()
        if words in text:
            return text
        time.sleep(0.1)
    raise AssertionError(f"{words!r} never came: {text[:2000]}")


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
    for by in ("day", "week", "month", "project", "session", "tool", "branch", "agent", "nonsense"):
        assert "<tfoot>" in until(lambda by=by: script.get(f"/usage?span=all&by={by}").text, "<tfoot>")  # type: ignore[misc]
    rows = script.get("/usage.csv?span=all&by=model").text.splitlines()
    assert rows[0].startswith("model,calls,input")
    explained = script.get("/usage/explain", params={"by": "day", "span": "all", "key": "2026-03-26"}).text
    assert CACHE_SESSION[:8] in explained


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
    assert browser.post("/sql", data={"sql": "SELEKT 1"}).status_code == 400
    assert browser.post("/sql", data={"sql": ""}).status_code == 400


def test_the_first_index_is_built_in_the_background(demo: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(self: IndexWork) -> None:
        self.done, self.total = 10, 40
        assert go_on.wait(20)

    monkeypatch.setattr(IndexWork, "_build", slow)
    with pytest.raises(StillIndexing) as told:
        demo.desk.index.ask(lambda _: 1, patience=0.05)
    assert (told.value.done, told.value.total) == (10, 40)
    go_on.set()
    assert demo.desk.index.ask(lambda library: isinstance(library, Library), patience=20) is True


def test_a_failed_index_is_tried_again(demo: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = iter([OSError("no room"), None])

    def build(self: IndexWork) -> None:
        problem = next(tries)
        if problem is not None:
            raise problem

    monkeypatch.setattr(IndexWork, "_build", build)
    with pytest.raises(OSError, match="no room"):
        demo.desk.index.ask(lambda _: 1, patience=20)
    assert demo.desk.index.ask(lambda _: 2, patience=20) == 2


def test_a_chore_runs_once_at_a_time_and_tells_what_went_wrong() -> None:
    chores, go_on = Chores(), threading.Event()
    first = chores.start("x", lambda _: go_on.wait(20))
    assert chores.start("x", lambda _: 1) is first
    go_on.set()
    for _ in range(200):
        if not first.running:
            break
        time.sleep(0.02)
    assert first.result is True
    second = chores.start("x", lambda _: 1 / 0)
    for _ in range(200):
        if not second.running:
            break
        time.sleep(0.02)
    assert "ZeroDivisionError" in (second.problem or "")


def test_the_filter_survives_its_own_address() -> None:
    asked = asked_of({"q": "a&b=c+d", "project": "/x/ü y", "sort": "bytes"})
    from urllib.parse import parse_qs

    again = asked_of({key: value[0] for key, value in parse_qs(asked.query()).items()})
    assert again == asked
