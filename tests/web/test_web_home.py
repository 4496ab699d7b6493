"""The first page: activity by day, what will be deleted, damage; and keeping, which it leads to."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from tests.running import tree_state
from tests.web.scene import DAMAGED_SESSION, Scene, scene, until

from recollect.library.background import IndexWorker
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash
from recollect.vault import vault
from recollect.web.routes.home import WEEKS, heat_map

LONG = "cccc0000-0000-4000-8000-000000000001"


def day(back: int) -> datetime:
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=back)


@pytest.fixture
def pausing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A session that was worked in on three days with pauses between them."""
    monkeypatch.setenv("TZ", "UTC")
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/a", session_id=LONG, start=day(20))
    for back in (20, 13, 6):
        t.at((20 - back) * 86_400)
        t.user("Go on")
        t.call(bash("true", "ok\n"))
        t.assistant("Done.")
    home.write()
    return scene(tmp_path / "claude", tmp_path / "own")


def test_days_of_the_heat_map_are_those_on_which_something_happened(pausing: Scene) -> None:
    middle = day(13).date().isoformat()
    text = until(lambda: pausing.script.get("/").text, f'"{middle}: 1 session"')
    shown = set(re.findall(r'aria-label="(\d{4}-\d\d-\d\d): 1 session"', text))
    assert shown == {day(back).date().isoformat() for back in (20, 13, 6)}
    assert "3 days with sessions" in text
    assert LONG in pausing.script.get(f"/sessions?day={middle}").text
    assert LONG not in pausing.script.get(f"/sessions?day={day(12).date().isoformat()}").text


def test_a_heat_map_ends_today_and_is_darkest_on_the_busiest_day() -> None:
    today = date(2026, 3, 4)
    made = heat_map(Counter({"2026-03-04": 8, "2026-03-03": 1, "2024-01-01": 99}), today)
    assert len(made.weeks) == WEEKS
    assert made.weeks[-1][-1].day == "2026-03-04"
    assert [cell.level for cell in made.weeks[-1]] == [0, 1, 4]
    assert made.days == 2


def test_every_number_is_a_link(demo: Scene) -> None:
    text = until(lambda: demo.script.get("/").text, "in 30 days")
    tiles = re.findall(r'<(\w+) class="tile[ "]', text)
    assert len(tiles) >= 7
    assert set(tiles) == {"a"}
    for link in re.findall(r'class="tile[^"]*" href="([^"]+)"', text):
        assert demo.script.get(link.replace("&amp;", "&")).status_code == 200, link


def test_damage_is_found_without_being_asked_for(demo: Scene) -> None:
    until(lambda: demo.script.get("/").text, '/sessions?status=damaged"><b>1</b>')
    assert DAMAGED_SESSION in demo.script.get("/sessions?status=damaged").text


def test_the_first_reading_is_told(demo: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    go_on = threading.Event()

    def slow(self: IndexWorker) -> None:
        self.done, self.total = 10_000, 40_000
        assert go_on.wait(30)

    monkeypatch.setattr(IndexWorker, "_build", slow)
    try:
        text = until(lambda: demo.script.get("/").text, "Reading your history")
        assert "10.0 KB of 40.0 KB" in text
        assert 'hx-trigger="every 1500ms' in text
    finally:
        go_on.set()


def test_keeping_shows_what_it_will_take_and_asks(demo: Scene) -> None:
    before = tree_state(demo.root)
    browser = demo.browser
    plan = browser.get("/health/keep").text
    assert "13 sessions" in plan
    assert "Cache the tide tables" in plan
    assert not demo.service.library.vault.exists
    assert browser.post("/health/keep", data={"go": "1"}).status_code == 303
    until(lambda: demo.script.get("/health").text, "Kept ")
    assert tree_state(demo.root) == before
    assert "Every session is in the vault" in browser.get("/health/keep", headers={"HX-Request": "true"}).text
    assert "of them not kept" not in until(lambda: demo.script.get("/").text, "sessions")


def test_a_vault_of_another_machine_is_told(demo: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "machine_id", lambda: "a" * 32)
    monkeypatch.setattr(vault, "machine_name", lambda: "<b>the laptop</b>")
    demo.service.library.keep()
    assert "another machine" not in demo.script.get("/health").text
    monkeypatch.setattr(vault, "machine_id", lambda: "b" * 32)
    assert "kept by another machine, &lt;b&gt;the laptop&lt;/b&gt;" in demo.script.get("/health").text


def test_nothing_is_kept_from_a_page_that_only_shows(demo: Scene) -> None:
    demo.service.read_only = True
    assert demo.browser.get("/health/keep").status_code == 403
    assert demo.browser.post("/health/keep", data={"go": "1"}).status_code == 403
    assert "/health/keep" not in demo.script.get("/health").text


def test_sessions_by_cost(demo: Scene) -> None:
    script = demo.script
    until(lambda: script.get("/sessions").text, 'class="cost"')
    text = script.get("/sessions?sort=cost").text
    found = [float(words) for words in re.findall(r'class="cost"[^>]*>\$([\d.]+)', text)]
    assert len(found) > 5
    assert found == sorted(found, reverse=True)


def test_the_same_days_as_json(pausing: Scene) -> None:
    rows = pausing.script.get("/api/v1/activity").json()["rows"]
    assert rows == [{"day": day(back).date().isoformat(), "sessions": 1} for back in (20, 13, 6)]


def test_retention_as_json(demo: Scene) -> None:
    (row,) = demo.script.get("/api/v1/retention").json()["rows"]
    assert row["sessions"] == 13
    assert row["kept"] == 0
    assert set(row["expiring_not_kept"]) <= set(row["expiring"])
