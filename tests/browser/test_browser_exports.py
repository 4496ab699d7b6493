"""Exports opened from ``file://`` in a real browser: nothing of a transcript acts, nothing is asked for, everything is found."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, expect
from tests.browser.conftest import SCREENSHOTS, OpenTab
from tests.browser.test_browser_looks import violations
from tests.export.outputs import FolderOutput, export_html
from tests.export.test_html import rich_home
from tests.web.payloads import attacked_home
from tests.web.scene import CACHE_SESSION, Scene

from recollect.export import html
from recollect.export.document import Document, ExportOptions
from recollect.export.formats import SiteSession
from recollect.export.site import write_site
from recollect.library.library import Library, open_library

FRONT = "document.querySelectorAll('details').forEach(d => d.open = true);"
TOUCH = FRONT + (
    "document.querySelectorAll('main *').forEach(e => e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))"
)


@dataclass
class FileTab:
    """A page of an export with what went wrong on it."""

    page: Any
    folder: Path
    problems: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def go(self, name: str) -> Any:
        self.page.goto("about:blank")
        self.page.goto((self.folder / name.partition("#")[0]).as_uri() + "".join(name.partition("#")[1:]))
        return self.page


OpenFile = Callable[..., FileTab]


@pytest.fixture
def open_file(chromium: Any) -> Iterator[OpenFile]:
    """Opens the pages of a folder from the disk; afterwards nothing may have gone wrong on them."""
    tabs: list[FileTab] = []

    def make(folder: Path, *, width: int = 1440, scheme: str = "light", script: bool = True) -> FileTab:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script,
            permissions=["clipboard-read", "clipboard-write"] if script else [],
        )  # fmt: skip
        context.set_default_timeout(15_000)
        tab = FileTab(context.new_page(), folder)
        tabs.append(tab)
        own = (folder.as_uri() + "/", "data:", "about:")
        page = tab.page
        page.on("console", lambda told: tab.problems.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: tab.problems.append(str(error)))
        page.on("dialog", lambda opened: tab.problems.append(f"dialog {opened.message}"))
        page.on("request", lambda asked: None if asked.url.startswith(own) else tab.foreign.append(asked.url))
        if script:
            page.add_init_script(
                "document.addEventListener('securitypolicyviolation', "
                "e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))"
            )
        return tab

    yield make
    for tab in tabs:
        tab.page.context.close()
    for tab in tabs:
        assert tab.problems == []
        assert tab.foreign == []


def write_all(library: Library, folder: Path, options: ExportOptions) -> FolderOutput:
    """Write a site of all sessions."""

    def opening(session_id: str) -> Any:
        @contextmanager
        def make() -> Iterator[Document]:
            with library.session(session_id) as session:
                yield Document(session, options)

        return make

    out = FolderOutput(folder)
    ids = sorted(item.session_id for item in library.sessions())
    write_site([SiteSession(item, None, opening(item)) for item in ids], out, options)
    return out


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> FolderOutput:
    """Everything that tries to act, at every depth: pages, folders of pages and a site."""
    root = tmp_path_factory.mktemp("attacked")
    attacked_home(root / "claude")
    library = open_library([str(root / "claude")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "MOST_MESSAGES", 200)
        patch.setattr(html, "PAGE_MESSAGES", 150)
        return write_all(library, root / "site", ExportOptions(depth="all", view="all", costs=True))


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> FolderOutput:
    """One session with everything, as a file."""
    root = tmp_path_factory.mktemp("rich")
    return export_html(*rich_home(root / "claude"), root / "out", depth="all", branches=True, costs=True)


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> FolderOutput:
    """The same as a folder of pages."""
    root = tmp_path_factory.mktemp("paged")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "MOST_MESSAGES", 3)
        patch.setattr(html, "PAGE_MESSAGES", 4)
        return export_html(*rich_home(root / "claude"), root / "out", depth="all")


def test_nothing_of_a_transcript_acts(attacked: FolderOutput, open_file: OpenFile) -> None:
    tab = open_file(attacked.folder)
    pages = sorted(name for name in attacked.files if name.endswith(".html"))
    assert any("/page-" in name for name in pages)
    for name in pages:
        page = tab.go(name)
        page.evaluate(TOUCH)
        assert page.evaluate("window.__acted") is None, name
    page = tab.go("index.html")
    page.fill(".find input", "script")
    expect(page.locator("#hits li").first).to_be_visible()
    assert page.evaluate("window.__acted") is None


def test_the_watch_would_notice(rich: FolderOutput, open_file: OpenFile) -> None:
    """That is, the test above could fail."""
    tab = open_file(rich.folder)
    page = tab.go("talk.html")
    with page.expect_console_message(lambda told: "policy: script-src" in told.text):
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=//x.invalid onerror=window.__acted=1>')")
    assert page.evaluate("window.__acted") is None
    tab.problems.clear()
    tab.foreign.clear()


def test_search_counts_and_opens_folds(rich: FolderOutput, open_file: OpenFile) -> None:
    page = open_file(rich.folder).go("talk.html")
    page.keyboard.press("/")
    page.keyboard.type("nothing there")
    expect(page.locator(".count")).to_have_text("2 found")  # the result of the call, and the subagent's own words
    expect(page.locator("details.subagent .nested")).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator(".count")).to_have_text("2 of 2")
    expect(page.locator("details.subagent .nested")).to_be_visible()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".count")).to_have_text("1 of 2")
    page.fill(".find input", "return 1")  # across the colours of code, in a fold
    expect(page.locator(".count")).to_have_text("1 found")
    page.fill(".find input", "zzzz")
    expect(page.locator(".count")).to_have_text("nothing found")


def test_a_link_to_a_message_opens_its_folds(rich: FolderOutput, open_file: OpenFile) -> None:
    text = rich.text("talk.html")
    inside = text.partition('<div class="nested">')[2]
    uuid = re.findall(r'id="m-([0-9a-f-]{36})"', inside)[-1]
    page = open_file(rich.folder).go(f"talk.html#m-{uuid}")
    expect(page.locator(f"[id='m-{uuid}']")).to_be_in_viewport()


def test_copying_theme_and_folding(rich: FolderOutput, open_file: OpenFile) -> None:
    page = open_file(rich.folder).go("talk.html")
    page.click("article.user [data-copy] >> nth=0")
    expect(page.locator("article.user [data-copy] >> nth=0")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == "The first question\n"
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[data-theme-switch]")
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after
    page.click("[data-unfold]")
    expect(page.locator("main details:not([open])")).to_have_count(0)


def test_it_can_be_read_without_script(rich: FolderOutput, open_file: OpenFile) -> None:
    page = open_file(rich.folder, script=False).go("talk.html")
    expect(page.locator("article.user >> nth=0")).to_contain_text("The first question")
    expect(page.locator("form.find")).to_be_hidden()
    expect(page.locator("[data-copy] >> nth=0")).to_be_hidden()
    page.click("details.subagent > summary")
    expect(page.locator("details.subagent .nested")).to_be_visible()
    page.click(".outline a >> nth=1")
    expect(page.locator("article.user:has-text('Look at this')")).to_be_in_viewport()


def test_print_shows_the_conversation_alone(rich: FolderOutput, open_file: OpenFile) -> None:
    page = open_file(rich.folder, scheme="dark").go("talk.html")
    page.emulate_media(media="print")
    for gone in (".bar", ".outline", ".message-tools >> nth=0"):
        expect(page.locator(gone)).to_be_hidden()
    expect(page.locator("article.user >> nth=0")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_folder_of_pages_is_searched_and_linked(paged: FolderOutput, open_file: OpenFile) -> None:
    page = open_file(paged.folder).go("talk/page-002.html")
    page.click("text=Next page >> nth=0")
    page.wait_for_url(re.compile(r"page-003\.html"))
    page.fill(".find input", "first question")
    page.click("text=Search all pages")
    page.wait_for_url(re.compile(r"index\.html#q="))
    expect(page.locator(".count")).to_have_text("in 1 message")
    page.click("#hits a")
    page.wait_for_url(re.compile(r"page-001\.html#m-"))
    uuid = re.findall(r'id="m-([0-9a-f-]{36})"', paged.text("talk/page-003.html"))[-1]
    page.goto((paged.folder / "talk" / "index.html").as_uri() + f"#m-{uuid}")
    page.wait_for_url(re.compile(rf"page-003\.html#m-{uuid}"))


def test_a_site_is_searched(attacked: FolderOutput, open_file: OpenFile) -> None:
    page = open_file(attacked.folder).go("days.html")
    page.fill(".find input", "every place")
    expect(page.locator("#hits li")).to_have_count(1)
    page.click("#hits a")
    page.wait_for_url(re.compile(r"/sessions/.*#m-"))
    expect(page.locator("text=Every place >> nth=0")).to_be_in_viewport()
    page.goto((attacked.folder / "index.html").as_uri())
    page.click("text=By day")
    page.wait_for_url(re.compile(r"days\.html"))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("dark", 360), ("light", 360)])
def test_exports_fit_and_are_accessible(
    rich: FolderOutput, paged: FolderOutput, attacked: FolderOutput, open_file: OpenFile, scheme: str, width: int
) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    shown = {
        "export": (rich, "talk.html"), "export-contents": (paged, "talk/index.html"),
        "export-page": (paged, "talk/page-002.html"), "export-site": (attacked, "index.html"),
    }  # fmt: skip
    for name, (out, file) in shown.items():
        page = open_file(out.folder, width=width, scheme=scheme).go(file)
        page.evaluate(FRONT)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than the screen"
        with contextlib.suppress(Error):  # a picture for people to look at
            page.screenshot(path=str(SCREENSHOTS / f"{name}-{scheme}-{width}.png"))
        if (scheme, width) in (("light", 1440), ("dark", 360)):
            assert violations(page) == [], name


def test_a_session_is_exported_from_its_page(
    looked_at: Scene, open_tab: OpenTab, open_file: OpenFile, tmp_path: Path
) -> None:
    tab = open_tab(looked_at)
    page = tab.page
    tab.go(f"/sessions/{CACHE_SESSION}")
    page.click(".actions >> text=Export")
    expect(page.locator("#redaction")).to_contain_text("Nothing was found")
    page.select_option("[name=redact]", "none")
    expect(page.locator("#redaction")).to_contain_text("stay in the file")
    page.select_option("[name=redact]", "personal")
    expect(page.locator("#redaction")).to_contain_text("will be replaced")
    page.screenshot(path=str(SCREENSHOTS / "export-dialog.png"))
    assert violations(page) == []
    page.check("[name=costs]")
    with page.expect_download() as download:
        page.click("dialog button >> text=Download")
    assert download.value.suggested_filename == "recollect-30504200.html"
    download.value.save_as(tmp_path / "saved.html")
    saved = open_file(tmp_path).go("saved.html")
    expect(saved.locator("h1")).to_have_text("Cache the tide tables")
    expect(saved.locator("text=/redacted/i >> nth=0")).to_be_visible()
