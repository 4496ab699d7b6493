"""Every page answers, says what it should, and helps when something is missing, empty, damaged or gone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.running import tree_state
from tests.web.scene import CACHE_SESSION, DAMAGED_SESSION, Scene, scene

from recollect.library import session_lists
from recollect.testing import HomeBuilder, build_demo_home
from recollect.web import assets

PAGES = (
    "/",
    "/sessions",
    "/sessions?sort=bytes",
    "/sessions?q=tide",
    "/sessions?status=expiring",
    "/sessions/last",
    f"/sessions/{CACHE_SESSION}",
    f"/sessions/{CACHE_SESSION}?view=all",
    f"/sessions/{CACHE_SESSION}?view=resumed",
    f"/sessions/{CACHE_SESSION}?branch=1",
    f"/sessions/{CACHE_SESSION}/tokens",
    f"/sessions/{CACHE_SESSION}/files",
    f"/sessions/{CACHE_SESSION}/tasks",
    f"/sessions/{CACHE_SESSION}/findings",
    f"/sessions/{CACHE_SESSION}/raw/0/1",
    f"/sessions/{CACHE_SESSION}/find?q=redis",
    f"/sessions/{CACHE_SESSION}/markdown",
    f"/sessions/{DAMAGED_SESSION}",
    "/search",
    "/search?q=table",
    "/sql",
    "/health",
    "/changes",
)


@pytest.mark.parametrize("path", PAGES)
def test_pages_answer_and_change_nothing(demo: Scene, path: str) -> None:
    before = tree_state(demo.root)
    for headers in ({}, {"HX-Request": "true"}):
        answer = demo.script.get(path, headers=headers)
        assert answer.status_code == 200, answer.text[:500]
    assert tree_state(demo.root) == before


def test_home_tells_what_there_is(demo: Scene) -> None:
    text = demo.script.get("/").text
    assert "<b>13</b>" in text
    assert "Cache the tide tables" in text
    assert 'href="/sessions?day=' in text


def test_the_list_is_filtered_sorted_and_faceted(demo: Scene) -> None:
    script = demo.script
    text = script.get("/sessions?project=/home/ada/code/tidepool").text
    assert "Harbour map as SVG" in text  # its worktree counts to the repository
    assert "Crop rotation" not in text
    assert "Harbour map as SVG" in script.get("/sessions?q=harbour").text
    assert "No session fits" in script.get("/sessions?q=zzzzzz").text
    assert "worktree-harbour-map" in script.get("/sessions?branch=worktree-harbour-map").text
    titles = [item.title for item in demo.service.sessions()]
    assert len(titles) == 13
    by_size = script.get("/sessions?sort=bytes", headers={"HX-Request": "true"}).text
    assert by_size.index("Cache the tide tables") < by_size.index("Crop rotation")


def test_a_long_list_comes_in_parts(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    for number in range(70):
        home.session(f"/work/p{number % 3}").user(f"Question number {number}")
    home.write()
    script = scene(tmp_path / "claude", tmp_path / "own").script
    first = script.get("/sessions").text
    assert first.count('class="session-row"') == 60
    assert "start=60" in first
    rest = script.get("/sessions?start=60", headers={"HX-Request": "true"}).text
    assert rest.count('class="session-row"') == 10
    assert "<html" not in rest
    assert script.get("/sessions?start=-1").status_code == 200
    assert script.get("/sessions?start=99999999999").status_code == 200


@pytest.mark.parametrize(
    "path", ["/sessions/zzzz", "/sessions/30504200-0000-0000-0000-000000000000", "/nowhere", "/sessions/" + "a" * 5000]
)
def test_unknown_places_are_helpful(demo: Scene, path: str) -> None:
    answer = demo.script.get(path)
    assert answer.status_code == 404
    assert "All sessions" in answer.text
    assert "Traceback" not in answer.text


def test_the_nearest_id_is_offered(demo: Scene) -> None:
    wrong = CACHE_SESSION[:-1] + ("0" if CACHE_SESSION[-1] != "0" else "1")
    assert f'href="/sessions/{CACHE_SESSION}"' in demo.script.get(f"/sessions/{wrong}").text


@pytest.mark.parametrize(
    "query", ["branch=9", "branch=x", "branch=-1", "subagent=nobody", "page=0", "page=99", "page=x", "page=" + "9" * 50]
)
def test_unknown_parts_of_a_session(demo: Scene, query: str) -> None:
    assert demo.script.get(f"/sessions/{CACHE_SESSION}?{query}").status_code == 404


def test_a_damaged_session_is_shown_with_its_findings(demo: Scene) -> None:
    text = demo.script.get(f"/sessions/{DAMAGED_SESSION}").text
    assert "2 damaged places" in text
    findings = demo.script.get(f"/sessions/{DAMAGED_SESSION}/findings").text
    assert "NUL bytes" in findings
    assert "actions/repair" in findings
    assert demo.script.get(f"/sessions/{DAMAGED_SESSION}/raw/0/6").status_code == 200


def test_an_empty_home_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    script = scene(tmp_path / "claude", tmp_path / "own").script
    assert "No sessions yet" in script.get("/").text
    for path in ("/sessions", "/search?q=x", "/sql", "/health", "/changes"):
        assert script.get(path).status_code == 200, path
    assert script.get("/sessions/last").status_code == 404


def test_a_store_that_vanishes(demo: Scene) -> None:
    script = demo.script
    assert script.get(f"/sessions/{CACHE_SESSION}").status_code == 200
    shutil.rmtree(demo.root)
    for path in ("/", "/sessions", "/health", f"/sessions/{CACHE_SESSION}", f"/sessions/{CACHE_SESSION}/raw/0/1"):
        answer = script.get(path)
        assert answer.status_code in (200, 404), (path, answer.text[:300])
        assert "Traceback" not in answer.text


def test_a_session_that_is_deleted_and_another_that_comes(tmp_path: Path) -> None:
    root = tmp_path / "claude"
    build_demo_home(root)
    found = scene(root, tmp_path / "own")
    script = found.script
    assert script.get(f"/sessions/{CACHE_SESSION}").status_code == 200
    file = next(root.glob(f"projects/*/{CACHE_SESSION}.jsonl"))
    file.rename(file.with_name("00000000-0000-4000-8000-000000000001.jsonl"))
    assert script.get(f"/sessions/{CACHE_SESSION}").status_code == 404
    assert script.get("/sessions/00000000-0000-4000-8000-000000000001").status_code == 200


def test_growth_is_seen_at_once(demo: Scene) -> None:
    script = demo.script
    assert "A new line" not in script.get(f"/sessions/{CACHE_SESSION}").text
    file = next(demo.root.glob(f"projects/*/{CACHE_SESSION}.jsonl"))
    last = script.get(f"/api/v1/sessions/{CACHE_SESSION}").json()["leaf"]
    entry = {
        "type": "user",
        "uuid": "11111111-1111-4111-8111-111111111111",
        "parentUuid": last,
        "sessionId": CACHE_SESSION,
    }
    entry |= {"timestamp": "2027-01-01T00:00:00.000Z", "message": {"role": "user", "content": "A new line"}}
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")
    assert "A new line" in script.get(f"/sessions/{CACHE_SESSION}").text


def test_a_subagent_that_goes_on_is_seen(demo: Scene) -> None:
    script = demo.script
    item = next(found for found in demo.service.sessions() if found.title == "Harbour map as SVG")
    subagent = item.file.subagents[0]
    address = f"/sessions/{item.session_id}?subagent={subagent.subagent_id}"
    assert "One more thing" not in script.get(address).text
    lines = subagent.path.read_bytes().splitlines()
    last = json.loads(lines[-1])
    entry = last | {"uuid": "22222222-2222-4222-8222-222222222222", "parentUuid": last["uuid"], "type": "user"}
    entry["message"] = {"role": "user", "content": "One more thing"}
    with subagent.path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")
    demo.service.look_again(at_once=True)
    assert "One more thing" in script.get(address).text


def test_pages_without_the_fetched_libraries_say_what_is_missing(
    demo: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "LIBRARIES", ())
    assert "make web-assets" not in demo.script.get("/").text
    monkeypatch.undo()
    monkeypatch.setattr(assets, "VENDOR", tmp_path)
    for path in ("/", "/sessions", "/usage", "/sql"):
        answer = demo.script.get(path)
        assert answer.status_code == 200
        assert "htmx.min.js" in answer.text
        assert "make web-assets" in answer.text
        assert "pip install --force-reinstall" in answer.text


def test_messages_of_a_large_store_are_counted_by_the_index(demo: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = {item.session_id: item.messages for item in demo.library.sessions(count=True)}
    monkeypatch.setattr(session_lists, "COUNT_BUDGET", 0)
    assert {item.messages for item in demo.service.sessions()} - {0} == {None}
    first = demo.script.get("/sessions?sort=messages").text
    assert "are not counted yet" in first
    demo.service.index.begin().result(60)
    known = {item.session_id: item.messages for item in demo.service.sessions() if item.messages is not None}
    assert len(known) > 5
    assert known == {key: exact[key] for key in known}
    most = max(known, key=lambda key: known[key] or 0)
    rows = demo.script.get("/sessions?sort=messages").text
    assert f"{known[most]} messages" in rows
    assert rows.index(f'"/sessions/{most}"') == min(rows.index(f'"/sessions/{key}"') for key in known)
