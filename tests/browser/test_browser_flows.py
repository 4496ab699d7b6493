"""What people do on the pages, in a real browser."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

from playwright.sync_api import expect
from tests.browser.conftest import OpenTab
from tests.web.scene import CACHE_SESSION, DAMAGED_SESSION, Scene, files_below


def long_session(scene: Scene) -> str:
    return next(item.session_id for item in scene.service.sessions() if item.title == "A very long session")


def test_a_used_link_says_what_to_do(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at, sign_in=False)
    tab.page.on("console", lambda _: None)
    token = looked_at.access.issue_link()
    looked_at.access.trade_link(token)
    assert tab.go(f"/login?token={token}").status == 401
    assert "used already" in tab.page.content()
    assert tab.go("/sessions").status == 401
    assert "recollect serve" in tab.page.content()
    tab.problems.clear()  # the browser notes both refusals


def test_the_list_is_filtered_while_typing(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    tab.go("/sessions")
    page = tab.page
    page.keyboard.press("/")
    page.keyboard.type("harbour")
    expect(page.locator(".session-row")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=harbour"))
    page.fill("[name=q]", "")
    expect(page.locator(".session-row")).to_have_count(14)
    page.select_option("[name=sort]", "bytes")
    expect(page.locator(".session-row .title").first).to_contain_text("A very long session")
    page.click(".facets a:has-text('notes/garden')")
    page.wait_for_url(re.compile("project="))
    expect(page.locator(".session-row")).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url(re.compile(r"/sessions/[0-9a-f]{8}-"))


def test_a_long_conversation_scrolls_page_by_page(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go(f"/sessions/{long_session(looked_at)}")
    assert page.locator("article.message").count() <= 100
    for wanted in (2, 3):
        page.locator(".next-page").scroll_into_view_if_needed()
        page.wait_for_selector(f"#page-{wanted}")
    expect(page.locator("article.message").nth(150)).to_be_attached()
    assert page.evaluate("getComputedStyle(document.querySelector('article.message')).contentVisibility") == "auto"
    page.click(".turns a >> nth=200")
    page.wait_for_url(re.compile(r"page=\d+#m-"))
    expect(page.locator("article.message.current")).to_contain_text(re.compile("Question (200|199)"))
    page.click(".before-page a")
    expect(page.locator(".page")).to_have_count(2)


def test_a_hash_leads_to_a_message_on_any_page(looked_at: Scene, open_tab: OpenTab) -> None:
    session = long_session(looked_at)
    rows = looked_at.script.get(f"/api/v1/sessions/{session}/messages?offset=700&limit=1").json()["rows"]
    tab = open_tab(looked_at)
    tab.go(f"/sessions/{session}#m-{rows[0]['uuid']}")
    tab.page.wait_for_url(re.compile(r"page=[78]#m-"))
    expect(tab.page.locator("article.message.current")).to_be_in_viewport()
    wanted = f"article.message.current:has(#m-{rows[0]['uuid']}), article.current#m-{rows[0]['uuid']}"
    expect(tab.page.locator(wanted)).to_have_count(1)


def test_finding_in_a_session_and_unfolding(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go(f"/sessions/{CACHE_SESSION}")
    page.fill(".find input", "dictionary")
    page.wait_for_selector(".finds mark")
    page.click(".finds a >> nth=0")
    page.wait_for_selector("article.message.current")
    page.click("[data-unfold]")
    expect(page.locator("details.call:not([open])")).to_have_count(0)
    expect(page.locator(".diff .added").first).to_be_attached()


def test_subagents_open_inside_their_call(looked_at: Scene, open_tab: OpenTab) -> None:
    session = next(item.session_id for item in looked_at.service.sessions() if item.title == "Harbour map as SVG")
    tab = open_tab(looked_at)
    tab.go(f"/sessions/{session}")
    tab.page.click("details.subagent > summary")
    tab.page.wait_for_selector(".nested article.message")
    tab.page.click(".nested details.subagent > summary")
    expect(tab.page.locator(".nested .nested").first).to_contain_text("1.0107")


def test_copying_a_message(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    tab.go(f"/sessions/{CACHE_SESSION}")
    tab.page.hover("article.message.user")
    tab.page.click("article.message.user [data-copy-from]")
    tab.page.wait_for_selector("#notices div")
    assert tab.page.evaluate("navigator.clipboard.readText()") == "Tables are computed on every request. Cache them.\n"


def test_the_raw_line_opens_in_a_dialog(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    tab.go(f"/sessions/{CACHE_SESSION}")
    tab.page.hover("article.message.user")
    tab.page.click("article.message.user a.raw")
    expect(tab.page.locator("dialog[open] .raw-json")).to_contain_text("parentUuid")
    tab.page.keyboard.press("Escape")
    tab.page.wait_for_selector("dialog[open]", state="detached")


def test_rename_with_plan_and_undo(shown: Scene, open_tab: OpenTab) -> None:
    before = files_below(shown.root)
    tab = open_tab(shown)
    page = tab.page
    tab.go(f"/sessions/{CACHE_SESSION}")
    page.click(".actions >> text=Rename")
    page.fill("dialog [name=title]", "Named in the browser")
    page.click("dialog >> text=Show the plan")
    page.wait_for_selector("dialog .steps")
    assert files_below(shown.root) == before
    page.click("dialog button >> text=Rename")
    page.wait_for_selector("dialog [role=status]")
    page.click("dialog >> text=Show the session")
    expect(page.locator("h1")).to_contain_text("Named in the browser")
    tab.go("/changes")
    page.click("button >> text=Undo")
    page.wait_for_selector("text=everything is as before")
    assert files_below(shown.root) == before


def test_delete_asks_and_can_be_undone_in_the_dialog(shown: Scene, open_tab: OpenTab) -> None:
    before = files_below(shown.root)
    tab = open_tab(shown)
    page = tab.page
    tab.go(f"/sessions/{CACHE_SESSION}")
    page.click(".actions >> text=Delete")
    page.click("dialog >> text=Show the plan")
    page.wait_for_selector("dialog .steps")
    page.click("dialog >> text=Cancel")
    assert files_below(shown.root) == before
    page.click(".actions >> text=Delete")
    page.click("dialog >> text=Show the plan")
    page.click("dialog button.danger")
    page.wait_for_selector("dialog [role=status]")
    assert files_below(shown.root) != before
    page.click("dialog button >> text=Undo")
    page.wait_for_selector("dialog >> text=everything is as before")
    assert files_below(shown.root) == before


def test_fork_from_a_message_and_repair(shown: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(shown)
    page = tab.page
    tab.go(f"/sessions/{CACHE_SESSION}")
    page.hover("article.message.assistant >> nth=1")
    page.click("article.message.assistant >> nth=1 >> text=fork")
    page.fill("dialog [name=title]", "A fork of it")
    page.click("dialog >> text=Show the plan")
    page.click("dialog button >> text=Fork")
    page.click("dialog >> text=Show the session")
    expect(page.locator("h1")).to_contain_text("A fork of it")
    tab.go(f"/sessions/{DAMAGED_SESSION}/findings")
    page.click("a.button:has-text('Repair')")
    page.click("dialog >> text=Show the plan")
    page.click("dialog button >> text=Repair")
    page.wait_for_selector("dialog [role=status]")


def grow(scene: Scene, session: str, words: str) -> None:
    """The session goes on, as if its client ran."""
    file = next(scene.root.glob(f"projects/*/{session}.jsonl"))
    entry: dict[str, Any] = {
        "type": "user",
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, words)),
        "parentUuid": scene.script.get(f"/api/v1/sessions/{session}").json()["leaf"],
        "sessionId": session,
    }
    entry |= {"timestamp": "2027-01-01T00:00:00.000Z", "message": {"role": "user", "content": words}}
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def test_a_running_session_grows_on_the_page(shown: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(shown)
    tab.go(f"/sessions/{CACHE_SESSION}")
    folded = tab.page.locator("details.call:not([open])")
    before = folded.count()
    folded.first.locator("summary").click()
    expect(folded).to_have_count(before - 1)
    grow(shown, CACHE_SESSION, "And now it grows")
    tab.page.wait_for_selector("article.message >> text=And now it grows")
    expect(folded).to_have_count(before - 1)  # what the reader opened stays open


def test_a_session_grows_while_a_subagent_is_open(shown: Scene, open_tab: OpenTab) -> None:
    session = next(item.session_id for item in shown.service.sessions() if item.title == "Harbour map as SVG")
    tab = open_tab(shown)
    tab.go(f"/sessions/{session}")
    tab.page.click("details.subagent > summary")
    inside = tab.page.locator(".nested article.message")
    expect(inside).not_to_have_count(0)
    before = inside.count()
    grow(shown, session, "And now it grows")
    tab.page.wait_for_selector("article.message >> text=And now it grows")
    expect(inside).to_have_count(before)
    expect(inside.first).to_be_visible()


def test_search_while_typing_opens_at_the_message(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go("/search")
    page.fill("[name=q]", "matplotlib")
    page.wait_for_selector(".hit mark", timeout=60_000)
    page.fill("[name=q]", '"unfinished')
    page.wait_for_selector(".problem mark")
    tab.problems[:] = [words for words in tab.problems if "status of 400" not in words]  # the browser notes the refusal
    page.fill("[name=q]", "zzzzzz")
    page.wait_for_selector("text=Nothing found")
    page.fill("[name=q]", "matplotlib")
    page.wait_for_selector(".hit mark")
    page.click(".hit >> nth=0")
    page.wait_for_url(re.compile(r"/sessions/.*#m-"))
    page.wait_for_selector("article.message.current")


def test_sql_as_table_and_chart(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go("/sql")
    page.fill("#sql-text", "SELECT project, count(*) AS n FROM sessions GROUP BY project ORDER BY n DESC")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#result table", timeout=60_000)
    page.wait_for_selector("#result .chart canvas")
    expect(page.locator("#result")).to_contain_text("/home/ada/code/tidepool")
    with page.expect_download() as download:
        page.click("button >> text=Save as CSV")
    assert download.value.suggested_filename == "answer.csv"


def test_the_context_window_is_drawn(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    tab.go(f"/sessions/{long_session(looked_at)}/tokens")
    tab.page.wait_for_selector(".chart canvas")


def test_keys_alone_are_enough(looked_at: Scene, open_tab: OpenTab) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("?")
    page.wait_for_selector("#key-help[open]")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url(re.compile("/sessions$"))
    tab.go(f"/sessions/{CACHE_SESSION}")
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator("article.current")).to_contain_text("Keep it simple")


TURN_AWAY = """(() => {
  let hidden = false;
  Object.defineProperty(document, "hidden", { get: () => hidden });
  window.turn = (away) => { hidden = away; document.dispatchEvent(new Event("visibilitychange")); };
})()"""
"""Headless Chromium shows all its tabs at once: this tells a page that another one is in front of it."""


def test_eight_tabs_are_open_and_only_the_one_in_front_listens(shown: Scene, open_tab: OpenTab) -> None:
    """Chromium allows a server six connections: streams of tabs behind would keep the seventh tab empty."""
    context = open_tab(shown).page.context
    context.add_init_script(TURN_AWAY)
    listeners = shown.app.state.live.listeners
    tabs: list[Any] = []
    for number in range(8):
        if tabs:
            tabs[-1].evaluate("turn(true)")
        page = context.new_page()
        page.goto(f"{shown.origin}/sessions/{CACHE_SESSION}" if number % 2 == 0 else f"{shown.origin}/sessions")
        expect(page.locator("main")).not_to_be_empty()
        tabs.append(page)
    with tabs[-1].expect_event("close"):
        tabs[-1].close()
    for _ in range(100):
        if len(listeners) <= 1:  # of the tab that signed in, which nothing was put in front of
            break
        tabs[0].wait_for_timeout(100)
    assert len(listeners) <= 1
    grow(shown, CACHE_SESSION, "And now it grows unseen")
    tabs[0].wait_for_timeout(500)
    expect(tabs[0].locator("article.message >> text=And now it grows unseen")).to_have_count(0)
    tabs[0].evaluate("turn(false)")
    expect(tabs[0].locator("article.message >> text=And now it grows unseen")).to_have_count(1)
    grow(shown, CACHE_SESSION, "And now it grows in sight")
    expect(tabs[0].locator("article.message >> text=And now it grows in sight")).to_have_count(1)
