"""A real browser over a real server. Screenshots go to .cache/screenshots, which is not committed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.browser.chromium import find_chromium
from tests.web.scene import Scene, served

from recollect.testing import HomeBuilder, build_demo_home
from recollect.testing.toolcalls import bash, edit
from recollect.web.assets import LIBRARIES, VENDOR

REPOSITORY = Path(__file__).resolve().parents[2]
SCREENSHOTS = REPOSITORY / ".cache" / "screenshots"
AXE = REPOSITORY / ".cache" / "web-tests" / "axe.min.js"
HARMLESS_ERRORS = (
    "the server responded with a status of 404",
    "htmx:error: signal is aborted",  # a question that the next letter, or another page, made needless before its answer came
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    place = find_chromium()
    if place is None:
        pytest.skip("there is no Chromium (`python -m tests.browser.chromium` installs it on Debian)")
    missing = [name for name in LIBRARIES if not (VENDOR / name).is_file()]
    if missing:
        pytest.skip(f"the browser's libraries are not there: {', '.join(missing)} (`make web-assets` fetches them)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page with what went wrong on it."""

    page: Any
    scene: Scene
    problems: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def go(self, path: str) -> Any:
        answer = self.page.goto(self.scene.origin + path)
        self.page.wait_for_load_state("load")
        return answer


OpenTab = Callable[..., Tab]


@pytest.fixture
def open_tab(chromium: Any) -> Iterator[Callable[..., Tab]]:
    """Opens a signed-in page in a context of its own; afterwards nothing may have gone wrong on it."""
    contexts: list[Any] = []
    tabs: list[Tab] = []

    def make(scene: Scene, *, width: int = 1440, height: int = 900, scheme: str = "light", sign_in: bool = True) -> Tab:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        tab = Tab(context.new_page(), scene)
        tabs.append(tab)
        watch(tab)
        if sign_in:
            tab.page.goto(f"{scene.origin}/login?token={scene.access.issue_link()}")
            tab.page.wait_for_url(f"{scene.origin}/")
        return tab

    yield make
    for context in contexts:
        context.close()
    for tab in tabs:
        assert tab.problems == []
        assert tab.foreign == []


def watch(tab: Tab) -> None:
    def console(message: Any) -> None:
        if message.type == "error" and not any(words in message.text for words in HARMLESS_ERRORS):
            tab.problems.append(f"{message.text} @ {tab.page.url}")

    tab.page.on("console", console)
    tab.page.on("pageerror", lambda error: tab.problems.append(f"{error} @ {tab.page.url}"))

    def dialog(opened: Any) -> None:
        tab.problems.append(f"dialog {opened.message}")
        opened.dismiss()

    tab.page.on("dialog", dialog)
    tab.page.on(
        "request",
        lambda request: (
            tab.foreign.append(request.url) if not request.url.startswith((tab.scene.origin, "blob:")) else None
        ),
    )
    tab.page.add_init_script(
        "document.addEventListener('securitypolicyviolation', "
        "e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI))"
    )


@pytest.fixture(scope="session")
def shown_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, and a long session of 1,200 messages with a compaction in it."""
    root = tmp_path_factory.mktemp("shown") / "claude"
    build_demo_home(root)
    home = HomeBuilder(tmp_path_factory.mktemp("long") / "claude")
    t = home.session("/home/ada/code/long")
    for number in range(300):
        t.user(f"Question {number}: what about part {number}?")
        t.call(bash(f"make part-{number}", f"part {number} is fine\n"))
        t.assistant(f"Part **{number}** is fine.\n\n```python\nprint({number})\n```")
        if number == 150:
            t.compact(summary="Half of it is done.")
    t.call(edit("/home/ada/code/long/a.py", "a", "b", original="a\n"))
    t.title("A very long session")
    shutil.copytree(home.write() / "projects", root / "projects", dirs_exist_ok=True)
    return root


@pytest.fixture
def shown(shown_home: Path, tmp_path: Path) -> Iterator[Scene]:
    """A copy of it, served: tests may change it."""
    root = tmp_path / "home" / "claude"
    shutil.copytree(shown_home, root, symlinks=True)
    with served(root, tmp_path / "own") as scene:
        yield scene


@pytest.fixture(scope="session")
def looked_at(shown_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The home itself, served read-only for tests that only look."""
    with served(shown_home, tmp_path_factory.mktemp("own")) as scene:
        yield scene
