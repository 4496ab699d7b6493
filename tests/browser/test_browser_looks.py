"""Every page, light and dark, from a telephone to a wide screen: it fits, it is accessible, nothing goes wrong."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from playwright.sync_api import Error
from tests.browser.conftest import AXE, SCREENSHOTS, OpenTab
from tests.web.scene import CACHE_SESSION, DAMAGED_SESSION, Scene

PAGES = {
    "home": "/",
    "sessions": "/sessions",
    "session": f"/sessions/{CACHE_SESSION}",
    "branch": f"/sessions/{CACHE_SESSION}?branch=1",
    "tokens": f"/sessions/{CACHE_SESSION}/tokens",
    "files": f"/sessions/{CACHE_SESSION}/files",
    "tasks": f"/sessions/{CACHE_SESSION}/tasks",
    "findings": f"/sessions/{DAMAGED_SESSION}/findings",
    "rename": f"/sessions/{CACHE_SESSION}/actions/rename",
    "search": "/search?q=table",
    "search-mistake": "/search?q=%22unfinished",
    "usage": "/usage?span=all",
    "usage-projects": "/usage?span=all&by=project&unit=tokens",
    "explained": "/usage/explain?by=day&span=all&key=",
    "keep": "/health/keep",
    "nothing-found": "/sessions?q=zzzzzz",
    "file": f"/sessions/{CACHE_SESSION}/files?path=/home/ada/code/tidepool/tidepool/cache.py",
    "sql": "/sql",
    "health": "/health",
    "changes": "/changes",
    "bookmarks": "/bookmarks",
    "raw": f"/sessions/{CACHE_SESSION}/raw/0/1",
    "missing": "/sessions/zzzz",
}


def violations(page: Any) -> list[str]:
    if not AXE.is_file():
        pytest.skip("axe-core is not there (`make web-assets` fetches it)")
    page.evaluate(AXE.read_text("utf-8") + "; void 0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{item['id']}: {item['nodes'][0]['html'][:160]} {item['nodes'][0].get('failureSummary', '')[:200]}"
        for item in found
        if item["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 768), ("dark", 768), ("light", 360), ("dark", 360)]
)
def test_pages_fit_and_are_accessible(looked_at: Scene, open_tab: OpenTab, scheme: str, width: int) -> None:
    tab = open_tab(looked_at, width=width, scheme=scheme)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for name, path in PAGES.items():
        tab.go(path)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than the screen"
        with contextlib.suppress(Error):  # a picture for people to look at; a busy Chromium sometimes cannot take one
            tab.page.screenshot(path=str(SCREENSHOTS / f"{name}-{scheme}-{width}.png"))
        if (scheme, width) in (("light", 1440), ("dark", 360)):
            assert violations(tab.page) == [], name
    tab.problems[:] = [words for words in tab.problems if "status of 400" not in words]  # the browser notes the mistake


def test_the_theme_is_switched_and_remembered(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    before = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.page.keyboard.press("d")
    after = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    tab.go("/sessions")
    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == after


def test_nothing_jumps_while_a_page_loads(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    tab.page.add_init_script(
        "window.__shift = 0; new PerformanceObserver(l => { "
        "for (const e of l.getEntries()) if (!e.hadRecentInput) window.__shift += e.value; })"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    for path in ("/", "/sessions", f"/sessions/{CACHE_SESSION}", "/search?q=table"):
        tab.go(path)
        tab.page.wait_for_timeout(200)
        assert tab.page.evaluate("window.__shift") < 0.1, path
