"""Changes from the page and from scripts: the plan first, then the change, then its undo; none of it when read-only."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from tests.web.scene import CACHE_SESSION, DAMAGED_SESSION, Scene, files_below, scene

from recollect.testing import build_demo_home
from recollect.web.changing import ACTIONS

GO = {"go": "on"}
ADDRESS = f"/sessions/{CACHE_SESSION}/actions"
FORMS = {
    "rename": {"title": "A new name"},
    "tag": {"tag": "blue"},
    "fork": {"title": "A fork"},
    "delete": GO,
}


def number_of_change(text: str) -> int:
    found = re.search(r"/changes/(\d+)/undo", text)
    assert found is not None, text[:500]
    return int(found[1])


@pytest.mark.parametrize("action", FORMS)
def test_plan_do_undo(demo: Scene, action: str) -> None:
    browser = demo.browser
    before = files_below(demo.root)
    form = browser.get(f"{ADDRESS}/{action}")
    assert "Show the plan" in form.text
    plan = browser.post(f"{ADDRESS}/{action}", data=FORMS[action])
    assert plan.status_code == 200
    assert "<ol" in plan.text
    assert "/undo" not in plan.text
    assert files_below(demo.root) == before
    done = browser.post(f"{ADDRESS}/{action}", data={**FORMS[action], "step": "do"})
    assert done.status_code == 200
    assert files_below(demo.root) != before
    number = number_of_change(done.text)
    assert f"/changes/{number}/undo" in browser.get("/changes").text
    assert browser.post(f"/changes/{number}/undo", data=GO).status_code == 200
    assert files_below(demo.root) == before


def test_the_title_is_shown_at_once(demo: Scene) -> None:
    browser = demo.browser
    browser.post(f"{ADDRESS}/rename", data={"title": "A <b>new</b> name", "step": "do"})
    assert "A &lt;b&gt;new&lt;/b&gt; name" in browser.get("/sessions").text
    assert "A &lt;b&gt;new&lt;/b&gt; name" in browser.get(f"/sessions/{CACHE_SESSION}").text


def test_rewinding_to_a_message(demo: Scene) -> None:
    rows = demo.script.get(f"/api/v1/sessions/{CACHE_SESSION}/messages").json()["rows"]
    first = rows[0]["uuid"]
    done = demo.browser.post(f"{ADDRESS}/rewind", data={"at": first, "step": "do"})
    assert done.status_code == 200
    assert demo.script.get(f"/api/v1/sessions/{CACHE_SESSION}").json()["leaf"] == first
    assert demo.browser.post(f"{ADDRESS}/rewind", data={"at": "nobody"}).status_code == 404


def test_a_fork_up_to_a_message_is_there_to_look_at(demo: Scene) -> None:
    rows = demo.script.get(f"/api/v1/sessions/{CACHE_SESSION}/messages").json()["rows"]
    done = demo.browser.post(f"{ADDRESS}/fork", data={"at": rows[2]["uuids"][-1], "title": "Half", "step": "do"})
    link = re.search(r'href="(/sessions/[0-9a-f-]{36})"', done.text)
    assert link is not None
    assert "Half" in demo.browser.get(link[1]).text


def test_a_damaged_session_is_repaired(demo: Scene) -> None:
    address = f"/sessions/{DAMAGED_SESSION}/actions/repair"
    before = files_below(demo.root)
    plan = demo.browser.post(address, data=GO)
    assert "In reach of a resume" in plan.text
    assert files_below(demo.root) == before
    done = demo.browser.post(address, data={"step": "do"})
    assert done.status_code == 200
    assert "damaged place" not in demo.script.get(f"/sessions/{DAMAGED_SESSION}").text
    demo.browser.post(f"/changes/{number_of_change(done.text)}/undo", data=GO)
    assert files_below(demo.root) == before
    assert demo.browser.post(f"{ADDRESS}/repair", data=GO).status_code in (200, 403)


def test_a_deleted_session_comes_back_from_the_vault(demo: Scene) -> None:
    browser = demo.browser
    assert browser.post("/health/keep", data=GO).status_code == 303
    _wait(demo, "keep")
    before = files_below(demo.root)
    assert "13 of 13" in browser.get("/health").text
    browser.post(f"{ADDRESS}/delete", data={"step": "do"})
    demo.service.look_again(at_once=True)
    assert "only in the vault" in browser.get("/sessions?status=only+in+the+vault").text
    shown = browser.get(f"/sessions/{CACHE_SESSION}")
    assert "actions/restore" in shown.text
    assert "actions/delete" not in shown.text
    done = browser.post(f"{ADDRESS}/restore", data={"step": "do"})
    assert done.status_code == 200, done.text
    after = files_below(demo.root)
    name = next(path for path in before if path.endswith(f"{CACHE_SESSION}.jsonl"))
    assert after[name] == before[name]
    browser.post("/health/verify", data=GO)
    _wait(demo, "verify")
    assert "every byte is what it was" in browser.get("/health").text


def _wait(demo: Scene, name: str) -> None:
    for _ in range(400):
        job = demo.service.jobs.get(name)
        if job is not None and not job.running:
            assert job.problem is None
            return
        time.sleep(0.05)
    raise AssertionError(f"{name} did not end")


def test_the_check_of_everything(demo: Scene) -> None:
    demo.browser.post("/health/check", data=GO)
    _wait(demo, "check")
    text = demo.browser.get("/health").text
    assert "13 sessions checked" in text
    assert DAMAGED_SESSION[:8] in text


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_read_only_takes_changes_away(demo_home: Path, tmp_path: Path, action: str) -> None:
    quiet = scene(demo_home, tmp_path / "own", read_only=True)
    before = files_below(demo_home)
    browser = quiet.browser
    page = browser.get(f"/sessions/{CACHE_SESSION}").text
    assert "/actions/" not in page
    assert browser.get(f"{ADDRESS}/{action}").status_code == 403
    values = {"title": "x", "tag": "x", "at": "x", "step": "do"}
    assert browser.post(f"{ADDRESS}/{action}", data=values).status_code == 403
    body = {"rename": {"title": "x"}, "rewind": {"at": "x"}}.get(action, {})
    answer = quiet.script.post(f"/api/v1/sessions/{CACHE_SESSION}/{action}", json=body)
    assert (answer.status_code, answer.json()["error"]["slug"]) == (403, "read-only")
    assert browser.post("/changes/1/undo", data=GO).status_code == 403
    assert browser.post("/health/keep", data=GO).status_code == 403
    assert files_below(demo_home) == before


def test_a_session_in_use_is_refused_and_may_be_forced(tmp_path: Path) -> None:
    import os

    build_demo_home(tmp_path / "claude", running_pid=os.getppid())
    found = scene(tmp_path / "claude", tmp_path / "own")
    session = found.service.sessions()[0].session_id
    assert found.service.is_running(session)
    address = f"/sessions/{session}/actions/rename"
    refused = found.browser.post(address, data={"title": "x", "step": "do"})
    assert refused.status_code == 409
    assert 'name="force"' in refused.text
    assert found.browser.post(address, data={"title": "x", "step": "do", "force": "1"}).status_code == 200


def test_bad_input_is_told(demo: Scene) -> None:
    browser = demo.browser
    assert browser.post(f"{ADDRESS}/rename", data={"title": "   "}).status_code == 403
    assert browser.post(f"{ADDRESS}/nothing", data=GO).status_code == 404
    assert browser.post("/sessions/zzzz/actions/rename", data={"title": "x"}).status_code == 404
    assert browser.post("/changes/999/undo", data=GO).status_code == 404
    assert browser.post(f"{ADDRESS}/fork", data={"branch": "x"}).status_code == 404


def test_scripts_may_plan_change_and_undo(demo: Scene) -> None:
    script = demo.script
    before = files_below(demo.root)
    address = f"/api/v1/sessions/{CACHE_SESSION}/rename"
    plan = script.post(address, json={"title": "New", "dry_run": True}).json()
    assert plan["change"] is None
    assert plan["steps"]
    assert files_below(demo.root) == before
    done = script.post(address, json={"title": "New"}).json()
    assert script.get(f"/api/v1/sessions/{CACHE_SESSION}").json()["title"] == "New"
    assert script.get("/api/v1/changes").json()["rows"][0]["number"] == done["change"]
    assert script.post(f"/api/v1/changes/{done['change']}/undo").json()["undone"] is True
    assert files_below(demo.root) == before


def test_bookmarks_of_a_session_and_of_a_message(demo: Scene) -> None:
    browser, script = demo.browser, demo.script
    before = files_below(demo.root)
    uuid = script.get(f"/api/v1/sessions/{CACHE_SESSION}/messages").json()["rows"][0]["uuid"]
    address = f"/sessions/{CACHE_SESSION}/bookmark"
    assert "No bookmarks yet" in browser.get("/bookmarks").text
    assert browser.get(address, params={"at": uuid}).status_code == 200
    assert browser.post(address, data={"note": "the <b>whole</b>"}).status_code == 200
    assert browser.post(address, data={"at": uuid, "note": "first"}).status_code == 200
    assert browser.post(address, data={"at": uuid, "note": "once more"}).status_code == 200
    assert browser.post(address, data={"at": "nobody"}).status_code == 404
    text = browser.get("/bookmarks").text
    assert "the &lt;b&gt;whole&lt;/b&gt;" in text
    assert f"/sessions/{CACHE_SESSION}/m/{uuid}" in text
    rows = script.get("/api/v1/bookmarks").json()["rows"]
    assert [(row["message"], row["note"]) for row in rows] == [(uuid, "once more"), (None, "the <b>whole</b>")]
    assert browser.post("/bookmarks/remove", data={"session": CACHE_SESSION, "at": uuid}).status_code == 303
    assert browser.post("/bookmarks/remove", data={"session": CACHE_SESSION, "at": uuid}).status_code == 404
    assert script.get("/api/v1/bookmarks").json()["total"] == 1
    assert files_below(demo.root) == before
    (demo.service.library.own_folder("data") / "bookmarks.json").write_text("broken", "utf-8")
    assert browser.get("/bookmarks").status_code == 422
