"""Words that try to act, in every field that a page shows: none of them does, and the page's policy is never even asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.conftest import OpenTab
from tests.web.payloads import attacked_home
from tests.web.scene import Scene, served


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, str, list[str]]]:
    root: Path = tmp_path_factory.mktemp("attacked")
    everything, others = attacked_home(root / "claude")
    with served(root / "claude", root / "own") as scene:
        yield scene, everything, others


def test_nothing_of_a_transcript_acts(attacked: tuple[Scene, str, list[str]], open_tab: OpenTab) -> None:
    scene, everything, others = attacked
    tab = open_tab(scene)
    paths = [
        "/",
        "/sessions",
        "/search?q=script",
        "/usage?span=all&by=project",
        "/usage?span=all&by=branch",
        "/health",
        "/changes",
    ]
    for session in (everything, *others):
        paths += [
            f"/sessions/{session}{part}"
            for part in ("/files", "/tasks", "/tokens", "/findings", "/find?q=script", "/raw/0/2")
        ]
        last = scene.script.get(f"/sessions/{session}?view=all&page=last").text
        pages = int(re.findall(r'data-page="(\d+)"', last)[-1])
        paths += [f"/sessions/{session}?view=all&page={page}" for page in range(1, pages + 1)]
        paths.append(f"/sessions/{session}/actions/rename")
    for path in paths:
        tab.go(path)
        tab.page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true);"
            "document.querySelectorAll('main *').forEach(e => e.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})))"
        )
        assert tab.page.evaluate("window.__acted") is None, path


def test_the_watch_would_notice(attacked: tuple[Scene, str, list[str]], open_tab: OpenTab) -> None:
    """That is, the test above could fail."""
    tab = open_tab(attacked[0])
    with tab.page.expect_console_message(lambda message: "policy: script-src" in message.text):
        tab.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.__acted=1>')")
    assert any("policy: script-src" in words for words in tab.problems)
    tab.problems.clear()
    tab.foreign.clear()
