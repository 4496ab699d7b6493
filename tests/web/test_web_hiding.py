"""The switch that hides secrets: on every page of a session, until it is switched off; and the badge that counts them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.secrets.made_up import API_KEY, PASSWORD, build
from tests.web.scene import Scene, scene

from recollect.library import service


@pytest.fixture
def shown(tmp_path: Path) -> Scene:
    build(tmp_path / "claude").write()
    return scene(tmp_path / "claude", tmp_path / "own")


def session_id(shown: Scene) -> str:
    return shown.library.session("last").id


PAGES = ("", "?view=all", "/tokens", "/files", "/tasks", "/findings", "/find?q=key", "/markdown", "/raw/0/1")


def test_no_page_of_a_session_shows_a_hidden_secret(shown: Scene) -> None:
    browser, address = shown.browser, f"/sessions/{session_id(shown)}"
    before = {page: browser.get(address + page) for page in PAGES}
    assert all(answer.status_code == 200 for answer in before.values())
    assert API_KEY in before[""].text and PASSWORD in before[""].text and API_KEY in before["/raw/0/1"].text
    answer = browser.post(address + "/secrets", data={"hide": "yes"}, follow_redirects=True)
    assert answer.status_code == 200 and "Redacted: 4 values" in answer.text
    assert "Hide secrets" in before[""].text and "Show secrets" in answer.text
    for page in PAGES:
        hidden = browser.get(address + page)
        assert hidden.status_code == 200, page
        assert API_KEY not in hidden.text and PASSWORD not in hidden.text, page
    assert "[redacted: anthropic-api-key]" in browser.get(address).text
    assert "/actions/rename" in browser.get(address).text
    browser.post(address + "/secrets", data={"hide": "no"})
    assert API_KEY in browser.get(address).text


def test_another_browser_sees_the_session_as_it_is(shown: Scene) -> None:
    address = f"/sessions/{session_id(shown)}"
    shown.browser.post(address + "/secrets", data={"hide": "yes"})
    assert API_KEY in shown.browser.get(address).text


def test_the_badge_counts_secrets(shown: Scene) -> None:
    browser, address = shown.browser, f"/sessions/{session_id(shown)}/secrets"
    told = browser.get(address, headers={"HX-Request": "true"}).text
    assert "4 secrets" in told and "1 anthropic-api-key" in told and API_KEY not in told
    assert "hidden" not in told
    browser.post(address, data={"hide": "yes"}, follow_redirects=False)
    assert "4 secrets hidden" in browser.get(address, headers={"HX-Request": "true"}).text


def test_a_session_without_secrets_has_no_badge(demo: Scene) -> None:
    found = demo.library.session("last").id
    assert demo.browser.get(f"/sessions/{found}/secrets", headers={"HX-Request": "true"}).text.strip() == ""


def test_a_session_that_grows_is_redacted_again(shown: Scene) -> None:
    browser, address = shown.browser, f"/sessions/{session_id(shown)}"
    browser.post(address + "/secrets", data={"hide": "yes"})
    row = shown.library.session("last").file.path.read_bytes().splitlines()[-1]
    with open(shown.library.session("last").file.path, "ab") as stream:
        stream.write(row.replace(b'"text":"Done."', f'"text":"again {API_KEY}"'.encode()) + b"\n")
    shown.service.look_again(at_once=True)
    text = browser.get(address + "?view=all").text
    assert API_KEY not in text and "again [redacted: anthropic-api-key]" in text


def test_copies_are_removed(shown: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST_COPIES", 1)
    session = shown.service.session("last")
    first, second = shown.service.redacted(session), shown.service.redacted(session, "all")
    assert not first.file.path.exists() and second.file.path.exists()
    assert shown.service.redacted(session, "all") is second
    shown.service.close()
    assert not second.file.path.exists()
