"""The conversation page: pages of messages, links, seams, branches, calls with results, pictures, long lines."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.web.scene import CACHE_SESSION, Scene, scene

from recollect.testing import HomeBuilder, TranscriptBuilder
from recollect.testing.toolcalls import ToolCall, bash, edit, read

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def picture(media_type: str = "image/png", data: bytes = PIXEL) -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


class Built:
    """A home with one session, served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = HomeBuilder(folder / "claude")
        self.session: TranscriptBuilder = self.home.session("/work/app")

    def scene(self) -> Scene:
        self.home.write()
        return scene(self.folder / "claude", self.folder / "own")

    @property
    def address(self) -> str:
        return f"/sessions/{self.session.session_id}"


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path)


def test_pages_of_a_hundred_messages_and_links_into_them(built: Built) -> None:
    uuids = []
    for number in range(130):
        uuids.append(built.session.user(f"Question {number}"))
        built.session.assistant(f"Answer {number}")
    script = built.scene().script
    first = script.get(built.address).text
    assert first.count("<article") == 100
    assert "page=2" in first
    assert "Question 49" in first
    assert 'id="m-' + uuids[60] not in first
    part = script.get(f"{built.address}?page=3", headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert part.count("<article") == 60
    assert 'data-last="yes"' in part
    link = script.get(f"{built.address}/m/{uuids[129]}")
    assert link.status_code == 303
    assert link.headers["location"] == f"{built.address}?page=3#m-{uuids[129]}"
    before = script.get(f"{built.address}?page=2&before=1", headers={"HX-Request": "true"}).text
    assert before.count("<article") == 100
    assert "before-page" in before
    assert "next-page" not in before
    assert script.get(f"{built.address}?page=last").text.count("<article") == 60


def test_a_call_is_shown_with_its_result_and_only_once(built: Built) -> None:
    built.session.user("Run it")
    built.session.call(bash("make test", "\x1b[32m12 passed\x1b[0m in 0.1s\n"))
    built.session.call(read("/work/app/a.py", "print(1)\n"))
    text = built.scene().script.get(built.address).text
    assert '<span class="ansi-green">12 passed</span>' in text
    assert text.count("12 passed") == 1
    assert "make test" in text
    assert "no result" not in text


def test_edits_are_differences(built: Built) -> None:
    built.session.user("Change it")
    built.session.call(edit("/work/app/a.py", "old words", "new words", original="old words\n"))
    text = built.scene().script.get(built.address).text
    assert re.search(r'<span class="removed">-\s*old words', text)
    assert re.search(r'<span class="added">\+\s*new words', text)
    assert "/work/app/a.py" in text


def test_pictures_are_served_as_pictures_and_nothing_else_is(built: Built) -> None:
    evil = b"<script>alert(1)</script>"
    built.session.user(
        [{"type": "text", "text": "See"}, picture(), picture("text/html", evil), picture("image/svg+xml", evil)]
    )
    built.session.assistant(tools=[ToolCall("Read", {"file_path": "/a.png"}, content=[picture("image/jpeg")])])
    built.session.results()
    script = built.scene().script
    text = script.get(built.address).text
    places = re.findall(r'(?:src|href)="(/sessions/[^"]+/media/[^"]+)"', text)
    assert len(set(places)) == 4
    kinds = {}
    for place in sorted(set(places)):
        answer = script.get(place)
        assert answer.status_code == 200
        assert "sandbox" in answer.headers["content-security-policy"]
        kinds[place.rpartition("/media/")[2]] = answer.headers["content-type"]
        if answer.headers["content-type"] == "application/octet-stream":
            assert "attachment" in answer.headers["content-disposition"]
    assert sorted(kinds.values()) == ["application/octet-stream", "application/octet-stream", "image/jpeg", "image/png"]
    assert script.get(f"{built.address}/media/0/1/99").status_code == 404


def test_a_very_long_line_is_cut_with_a_link_to_all_of_it(built: Built) -> None:
    long = "word " * 2_000_000
    built.session.user("Short")
    built.session.user(long)
    built.session.call(bash("cat big", "x" * 50_000))
    script = built.scene().script
    text = script.get(built.address).text
    assert len(text) < 200_000
    assert "too long to be shown here" in text
    assert "The result is longer" in text
    number = next(at for at, line in enumerate(built.session.lines, 1) if len(line) > 9_000_000)
    shown = script.get(f"{built.address}/raw/0/{number}")
    assert len(shown.text) < 1_000_000
    whole = script.get(f"{built.address}/raw/0/{number}?download=1")
    assert "attachment" in whole.headers["content-disposition"]
    assert "sandbox" in whole.headers["content-security-policy"]
    assert json.loads(whole.content)["message"]["content"] == long


def test_compactions_are_seams_with_what_was_before(built: Built) -> None:
    built.session.user("Before the seam")
    built.session.assistant("Old answer")
    built.session.compact(summary="A summary of it all")
    built.session.user("After the seam")
    built.session.assistant("New answer")
    script = built.scene().script
    everything = script.get(built.address, headers={"HX-Request": "true"}).text
    assert everything.index("Before the seam") < everything.index('class="seam"') < everything.index("After the seam")
    resumed = script.get(f"{built.address}?view=resumed", headers={"HX-Request": "true"}).text
    assert "Before the seam" not in resumed
    assert "A summary of it all" in resumed


def test_branches_stand_at_the_side_and_where_they_left(demo: Scene) -> None:
    text = demo.script.get(f"/sessions/{CACHE_SESSION}").text
    assert "Branch 1 left here" in text
    assert "Put them into Redis." in text
    branch = demo.script.get(f"/sessions/{CACHE_SESSION}?branch=1").text
    assert "There is no Redis here" in branch
    assert "This is branch 1" in branch


def test_subagents_are_nested(demo: Scene) -> None:
    item = next(found for found in demo.service.sessions() if found.title == "Harbour map as SVG")
    text = demo.script.get(f"/sessions/{item.session_id}").text
    assert "Compare projections" in text
    subagents = set(re.findall(r"\?subagent=([^&\"]+)&amp;nested=1", text))
    assert len(subagents) == 1
    nested = demo.script.get(
        f"/sessions/{item.session_id}?subagent={subagents.pop()}&nested=1", headers={"HX-Request": "true"}
    ).text
    assert "Comparing by hand then." in nested
    assert "Check the formula" in nested


def test_finding_in_a_session(built: Built) -> None:
    for number in range(120):
        built.session.user(f"Plain question {number}")
    built.session.user("The Nadel in the haystack <b>")
    script = built.scene().script
    text = script.get(f"{built.address}/find?q=nadel", headers={"HX-Request": "true"}).text
    assert "<mark>Nadel</mark>" in text
    assert "page=2#m-" in text
    assert "&lt;b&gt;" in text
    assert "No message" in script.get(f"{built.address}/find?q=zzzz").text
    assert script.get(f"{built.address}/find?q=").status_code == 200
    assert script.get(f"{built.address}/find?q=(").status_code == 200


def test_copying_as_markdown(built: Built) -> None:
    uuid = built.session.user("A *question* with ``` in it")
    built.session.call(bash("ls", "a\nb\n"), "I look.")
    script = built.scene().script
    assert script.get(f"{built.address}/markdown?message={uuid}").text == "A *question* with \\`\\`\\` in it\n"
    whole = script.get(f"{built.address}/markdown")
    assert whole.headers["content-type"].startswith("text/plain")
    assert whole.text.startswith("# ")
    assert "## You" in whole.text
    assert script.get(f"{built.address}/markdown?message=nobody").status_code == 404


def test_half_surrogates_and_control_characters_are_shown(built: Built) -> None:
    built.session.user(b"half \\ud800 here".decode("unicode_escape"))
    built.session.assistant("a\u202eb \x00 c")
    script = built.scene().script
    text = script.get(f"{built.address}?view=all").text
    assert "⟨U+D800⟩" in text
    assert "⟨U+202E⟩" in text
    assert "\u202e" not in text
    rows = script.get(f"/api/v1/sessions/{built.session.session_id}/messages?view=all").json()["rows"]
    assert "\ud800" in rows[0]["text"]


def test_tokens_are_told(demo: Scene) -> None:
    text = demo.script.get(f"/sessions/{CACHE_SESSION}/tokens").text
    assert "Context window" in text
    rows = demo.script.get(f"/api/v1/sessions/{CACHE_SESSION}/context").json()["rows"]
    assert rows
    assert all(row["context"] > 0 for row in rows)


def test_files_with_versions_and_differences(demo: Scene) -> None:
    text = demo.script.get(f"/sessions/{CACHE_SESSION}/files").text
    assert "cache.py" in text
    one = demo.script.get(
        f"/sessions/{CACHE_SESSION}/files", params={"path": "/home/ada/code/tidepool/tidepool/cache.py"}
    ).text
    assert "tuple[float, ...]" in one
    assert demo.script.get(f"/sessions/{CACHE_SESSION}/files", params={"path": "/etc/passwd"}).status_code == 404


def test_tasks(demo: Scene) -> None:
    text = demo.script.get(f"/sessions/{CACHE_SESSION}/tasks").text
    assert "Write the cache" in text
    assert "completed" in text
