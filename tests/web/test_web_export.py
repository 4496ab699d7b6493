"""Exports from the page of a session: choices, what is redacted, and the file."""

from __future__ import annotations

import json
import random
import string

import pytest
from tests.running import tree_state
from tests.web.scene import Scene, scene

from recollect.export.formats import FORMATS
from recollect.testing import HomeBuilder

SESSION = "00000000-0000-4000-8000-000000000001"
LETTERS = string.ascii_letters + string.digits
KEY = "sk-ant-api03-" + "".join(random.Random(7).choices(LETTERS, k=93)) + "AA"
"""A key of nobody, made of random letters."""


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A session that tells a key and a mail address."""
    root = tmp_path_factory.mktemp("telling")
    home = HomeBuilder(root / "claude")
    t = home.session("/work/app", session_id=SESSION)
    t.user(f"The key is {KEY}, write to ada.byron@analytical.org")
    t.assistant("I keep it to **myself**.")
    home.write()
    return scene(root / "claude", root / "own")


def test_what_is_redacted_is_told_before(telling: Scene) -> None:
    fragment = {"HX-Request": "true"}
    asked = telling.script.get(f"/sessions/{SESSION}/export", headers=fragment).text
    assert "Download" in asked
    assert 'hx-trigger="load"' in asked
    secrets = telling.script.get(f"/sessions/{SESSION}/export/preview?redact=secrets", headers=fragment).text
    assert "1 value will be replaced" in secrets
    assert "<code>anthropic-api-key</code> 1" in secrets
    assert KEY not in secrets
    personal = telling.script.get(f"/sessions/{SESSION}/export/preview?redact=personal", headers=fragment).text
    assert "<code>email</code> 1" in personal
    nothing = telling.script.get(f"/sessions/{SESSION}/export/preview?redact=none", headers=fragment).text
    assert "stay in the file" in nothing
    page = telling.script.get(f"/sessions/{SESSION}/export").text  # without script, on a page of its own
    assert "1 value will be replaced" in page


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_sent_as_a_file_without_the_secret(telling: Scene, name: str) -> None:
    before = tree_state(telling.root)
    answer = telling.script.get(f"/sessions/{SESSION}/export/file?format={name}")
    assert answer.status_code == 200, answer.text[:300]
    assert answer.headers["content-disposition"] == f'attachment; filename="recollect-00000000{FORMATS[name].suffix}"'
    assert "sandbox" in answer.headers["content-security-policy"]
    assert len(answer.content) == int(answer.headers["content-length"]) > 0
    assert KEY.encode() not in answer.content
    assert tree_state(telling.root) == before


def test_what_is_chosen_is_done(telling: Scene) -> None:
    file = f"/sessions/{SESSION}/export/file"
    assert KEY in telling.script.get(f"{file}?format=md&redact=none").text
    assert "myself" not in telling.script.get(f"{file}?format=html&depth=prompts").text
    assert "$" in telling.script.get(f"{file}?format=html&costs=1").text.partition("<h1>")[2].partition("</ul>")[0]
    assert json.loads(telling.script.get(f"{file}?format=json&redact=personal").content)["recollect_export"] == 1
    assert "analytical.org" not in telling.script.get(f"{file}?format=text&redact=personal&branches=1").text


@pytest.mark.parametrize("query", ["format=zip", "format=html&depth=deep", "format=html&redact=some", "format="])
def test_what_does_not_exist_is_refused(telling: Scene, query: str) -> None:
    answer = telling.script.get(f"/sessions/{SESSION}/export/file?{query}")
    assert answer.status_code == 403
    assert "no such" in answer.text


def test_the_button_is_on_the_session(telling: Scene) -> None:
    assert f'href="/sessions/{SESSION}/export"' in telling.script.get(f"/sessions/{SESSION}").text


def test_a_session_that_is_not_there_is_told(telling: Scene) -> None:
    assert telling.script.get("/sessions/zzzz/export/file").status_code == 404
