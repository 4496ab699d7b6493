"""Every field of every line and side file set to every kind of value: no command and no page may fail on it.

`make test` looks at some of them, the same ones each time; RECOLLECT_SOAK=1 at a few hundred times as many.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.faults.odd_values import OddHome
from tests.faults.places import SOAK, quick_folder
from tests.running import Ran, run
from tests.web.scene import scene, until

from recollect.testing import HomeBuilder
from recollect.web.api_endpoints import ENDPOINTS

__all__ = ["quick_folder"]

SEEDS = range(52 if SOAK else 1)
SHARE = 6
"""One of so many kinds of places holds an odd value, but in the longer run."""


def _listed(words: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in words.split(";"))


ABOUT_HOMES = _listed("""
    overview; list; list --json --limit 0; list --sort messages; index; search text;
    search x --json --facets --limit 1000; search --substring e --limit 1000 --json;
    search --regex [a-z]+ --limit 1000; search --everything e --jsonl; usage; usage --json --by session,model;
    usage --by project,branch,subagent,tool; usage --explain; usage --more tools; usage --more cache;
    usage --more speed; usage --more context; usage --more blocks; usage --more hours; usage --more changes;
    usage --more commits; usage --more prs; expensive; expensive --json; budget; statusline; todos;
    todos --json; history; history --json; plans; plans --json; config; config --json; flags; flags --json;
    doctor; doctor --deep --json; check --severity info --json; check --severity info;
    repair --all --home-files; repair --all --home-files --json; migrate --all --to 2.1; keep; keep --status;
    verify; restore --all --dry-run; prune --dry-run; split; bookmark; changes
""")
ABOUT_A_SESSION = _listed("""
    show {}; show {} --all --thinking --tokens --tools full; show {} --history --json; thread {} --json;
    thread {}; tree {}; tree {} --json; subagents {}; subagents {} --json; tools {}; tools {} --json; files {};
    files {} --json; cat {}; check {} --severity info; repair {} --json; migrate {} --to 2.1;
    usage --session {} --explain; todos {}; append {} hello --dry-run; rename {} title --dry-run;
    tag {} word --dry-run; archive {} --dry-run; fork {} --dry-run --yes; delete {} --dry-run;
    todo {} add more --dry-run
""")
CHANGES = _listed("""
    rename {} title; tag {} word; archive {}; append {} hello; fork {} --yes; todo {} add more; delete {} --yes
""")
CHANGES_OF_HOMES = _listed("""
    repair --all --home-files --apply --yes; migrate --all --to 2.1 --apply --yes;
    move /home/dev/teapot /home/dev/kettle --yes --force; keep; verify; index
""")
PAGES = _listed("""
    /; /sessions; /sessions?sort=messages; /search?q=text; /search?q=e&mode=substring;
    /search?q=[a-z]&mode=regex; /usage; /usage.csv; /usage/explain; /sql; /health; /changes; /bookmarks;
    /api/v1/sessions?limit=1000; /api/v1/projects; /api/v1/openapi.json
""")
_TABS = _listed("""
    ; ?view=all; /find?q=e; /markdown; /tokens; /files; /tasks; /findings; /bookmark; /actions/rename;
    /actions/fork; /actions/delete; /raw/0/1; /raw/0/2; /media/0/1/0
""")
PAGES_OF_A_SESSION = (
    *(f"/sessions/{{id}}{tab}" for tab in _TABS),
    *(f"/api/v1{asked.path}" for asked in ENDPOINTS if "{id}" in asked.path and asked.method == "GET"),
)


@pytest.fixture(autouse=True)
def loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that nobody expected comes out as it is."""
    monkeypatch.setenv("RECOLLECT_DEBUG", "1")


@pytest.fixture(params=SEEDS)
def odd(request: pytest.FixtureRequest, quick_folder: Path) -> OddHome:
    return OddHome(quick_folder, request.param, each=1 if SOAK else SHARE)


def well(done: Ran, words: str) -> None:
    assert done.code <= 8, f"{words}: exit {done.code}\n{done.err[-3000:]}"
    assert "a bug:" not in done.err and "Traceback" not in done.err, f"{words}\n{done.err[-3000:]}"


def test_every_question_about_homes_is_answered(odd: OddHome, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ABOUT_HOMES:
        well(run(capsys, odd.home, *words.split()), words)


def test_every_question_about_a_session_is_answered(odd: OddHome, capsys: pytest.CaptureFixture[str]) -> None:
    for session in odd.sessions[:: 1 if SOAK else 4]:
        for words in ABOUT_A_SESSION:
            well(run(capsys, odd.home, *words.format(session).split()), words.format(session))


def test_every_page_is_shown(odd: OddHome, tmp_path: Path) -> None:
    served = scene(odd.home, tmp_path / "own")
    browser = served.browser
    own = [page.replace("{id}", name) for name in odd.sessions[:: 1 if SOAK else 4] for page in PAGES_OF_A_SESSION]
    for page in (*PAGES, *own):
        client = served.script if page.startswith("/api/") else browser
        assert client.get(page).status_code < 500, page


def test_every_change_is_made_or_refused_and_taken_back(odd: OddHome, capsys: pytest.CaptureFixture[str]) -> None:
    for words in CHANGES_OF_HOMES:
        well(run(capsys, odd.home, *words.split()), words)
    for session in odd.sessions[:: 1 if SOAK else 8]:
        for words in CHANGES:
            well(run(capsys, odd.home, *words.format(session).split()), words.format(session))
    for _ in range(10):
        well(run(capsys, odd.home, "undo", "--yes"), "undo")


HALF = "before \ud800 behind"


@pytest.fixture
def half_pairs(tmp_path: Path) -> Path:
    """A home with half surrogate pairs where they did the most harm, and a list of sessions with a list for a name."""
    home = HomeBuilder(tmp_path / "claude", version="1.0.0")
    session = home.session("/home/dev/odd")
    session.user("hello marmalade")
    session.assistant("hi")
    lines = [json.loads(line) for line in session.to_bytes().splitlines()]
    lines[0]["cwd"] = "/home/dev/" + HALF
    system = {**lines[-1], "type": "system", "content": HALF, "uuid": HALF, "parentUuid": lines[-1]["uuid"]}
    subagent = {**lines[0], "isSidechain": True, "uuid": "\ud800 subagent", "parentUuid": None}
    lines += [{"type": "tag", "tag": HALF, "sessionId": session.session_id}, system, subagent]
    home.damage(session, b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    home.session("/home/dev/odd").user("a second one")
    home.sessions_index("/home/dev/odd", [{**home.index_entry(session), "sessionId": ["x"]}, home.index_entry(session)])
    return home.write()


def test_half_a_pair_hides_nothing_from_search(half_pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, half_pairs, "search", "marmalade").code == 0
    assert run(capsys, half_pairs, "search", "behind").code == 0


@pytest.mark.parametrize("page", ["/", "/sessions"])
def test_half_a_pair_is_shown_as_a_replacement_character(half_pairs: Path, tmp_path: Path, page: str) -> None:
    browser = scene(half_pairs, tmp_path / "own").browser
    assert browser.get(page).status_code == 200
    until(lambda: re.sub(r"<[^>]*>", "", browser.get(page).text), "before \ufffd behind")


@pytest.mark.parametrize(
    "words",
    [
        "migrate --all --to 2.1 --apply --yes",
        "repair --home-files --apply --yes",
        "move /home/dev/odd /home/dev/even --yes",
        "delete last --yes",
    ],
)
def test_a_list_for_a_name_and_half_a_pair_stop_no_change(
    half_pairs: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    well(run(capsys, half_pairs, *words.split()), words)
