"""Charts, the menu of a small screen, and keeping, in a real browser."""

from __future__ import annotations

import re
import threading

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import OpenTab
from tests.web.scene import Scene

from recollect.library.background import IndexWorker


def test_a_chart_is_zoomed_hovered_taken_apart_and_explained(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go("/usage?span=all&by=project")
    page.wait_for_selector(".chart canvas", timeout=60_000)
    place = page.locator(".u-over").bounding_box()
    assert place is not None
    middle = (place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    height = page.locator(".u-legend").bounding_box()["height"]
    page.mouse.move(*middle)
    expect(page.locator(".u-legend .u-value").first).to_have_text(re.compile(r"\d{4}-\d\d-\d\d"))
    assert page.locator(".u-legend").bounding_box()["height"] == height  # nothing jumps while the numbers come

    series = page.locator(".u-legend .u-series")
    expect(series.nth(2)).to_be_attached()
    series.nth(1).locator("th").click()
    expect(series.nth(1)).to_have_class(re.compile("u-off"))
    series.nth(1).locator("th").click()

    first_label = "document.querySelector('.chart').dataset.values.length"
    assert page.evaluate(first_label) > 0
    page.mouse.move(place["x"] + place["width"] * 0.4, middle[1])
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.6, middle[1], steps=4)
    page.mouse.up()
    page.wait_for_timeout(400)
    assert "/usage?" in page.url  # a drag zooms, and does not lead away
    page.mouse.dblclick(*middle)
    page.wait_for_timeout(400)
    assert "/usage?" in page.url
    page.mouse.click(*middle)
    page.wait_for_url(re.compile(r"/usage/explain\?by=day.*key=\d{4}"))
    expect(page.locator("tbody tr").first).to_be_visible()


def test_a_row_leads_to_its_calls_and_csv_is_saved(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go("/usage?span=all&by=tool")
    page.wait_for_selector("tfoot", timeout=60_000)
    page.click("tbody a.title >> nth=0")
    page.wait_for_url(re.compile("/usage/explain"))
    page.go_back()
    page.wait_for_selector("#blocks")
    with page.expect_download() as download:
        page.click("text=Save as CSV")
    assert download.value.suggested_filename == "usage-by-tool.csv"


def test_all_pages_are_in_reach_of_a_telephone(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at, width=360, height=740)
    page = tab.page
    tab.go("/sessions")
    expect(page.locator("nav#pages")).to_be_hidden()
    page.click(".menu-button")
    expect(page.locator("nav#pages a")).to_have_count(8)
    expect(page.locator("nav#pages >> text=Changes")).to_be_in_viewport()
    page.click("nav#pages >> text=Health")
    page.wait_for_url(re.compile("/health$"))
    expect(page.locator(".menu-button")).to_contain_text("Health")


def test_keeping_is_asked_for_in_a_dialog(shown: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(shown)
    page = tab.page
    tab.go("/health")
    page.click("text=Keep everything now")
    expect(page.locator("dialog[open]")).to_contain_text("not in the vault")
    page.click("dialog >> text=Cancel")
    assert not shown.service.library.vault.exists
    page.click("text=Keep everything now")
    page.click("dialog button.primary")
    page.wait_for_selector("text=/Kept [0-9.]+ [KM]?B new/", timeout=60_000)
    assert shown.service.library.vault.exists


def test_a_store_that_vanishes_while_it_is_open(shown: Scene, open_tab: OpenTab) -> None:
    import shutil

    tab = open_tab(shown)
    tab.go("/sessions")
    session = tab.page.locator(".session-row a.title").first.get_attribute("href")
    shutil.rmtree(shown.root)
    shown.service.look_again(at_once=True)
    assert tab.go(session).status == 404
    expect(tab.page.locator("main")).to_contain_text("All sessions")
    tab.go("/")
    expect(tab.page.locator("main")).to_contain_text("No sessions yet")


def test_the_first_reading_goes_on_while_home_is_open(
    shown: Scene, open_tab: OpenTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slow(self: IndexWorker) -> None:
        self.total = 40_000
        while not go_on.wait(0.5):
            self.done += 1000

    monkeypatch.setattr(IndexWorker, "_build", slow)
    try:
        page = open_tab(shown).page
        page.wait_for_selector("text=Reading your history")
        for _ in range(2):  # more than once: it asks again after every answer
            before = page.locator("progress").get_attribute("value")
            expect(page.locator("progress")).not_to_have_attribute("value", before, timeout=15_000)
    finally:
        go_on.set()
    expect(page.locator("text=Reading your history")).to_have_count(0, timeout=15_000)
    expect(page.locator("text=with damage")).not_to_contain_text("…", timeout=15_000)
