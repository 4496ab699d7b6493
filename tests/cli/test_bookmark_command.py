"""`recollect bookmark`: marks of sessions and messages, shared with the pages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.running import run, tree_state
from tests.web.scene import scene

from recollect.environment import own_folder
from recollect.library.bookmarks import add_bookmark, read_bookmarks
from recollect.testing import HomeBuilder

FIRST = "aaaa0000-0000-4000-8000-000000000001"
OTHER = "aaaa0000-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    first = builder.session("/w/a", session_id=FIRST)
    first.user("Two queues?")
    first.assistant("One is enough.")
    first.title("Queues")
    builder.session("/w/b", session_id=OTHER).user("Something else")
    return builder.write()


def test_nothing_is_marked_at_first(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, home, "bookmark")
    assert (ran.code, ran.out) == (0, "")
    assert "bookmark add" in ran.err
    assert run(capsys, home, "bookmark", "--json").data == {"rows": [], "total": 0}


def test_marking_a_session_and_a_message(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(home)
    made = run(capsys, home, "bookmark", "add", "queues", "--note", "  the\nidea ", "--json").data
    assert {key: made[key] for key in ("session_id", "message", "note", "title", "gone")} == {
        "session_id": FIRST, "message": None, "note": "the idea", "title": "Queues", "gone": False,
    }  # fmt: skip
    rows = run(capsys, home, "thread", FIRST, "--json").data["rows"]
    uuid = rows[-1]["uuid"]
    assert run(capsys, home, "bookmark", "add", FIRST, uuid[:8]).code == 0
    listed = run(capsys, home, "bookmark", "--json").data
    assert [(row["session_id"], row["message"]) for row in listed["rows"]] == [(FIRST, uuid), (FIRST, None)]
    assert listed["total"] == 2
    assert [
        json.loads(line)["message"] for line in run(capsys, home, "bookmark", "list", "--jsonl").out.splitlines()
    ] == [
        uuid,
        None,
    ]
    shown = run(capsys, home, "bookmark").out
    assert "the idea" in shown
    assert uuid[:8] in shown
    assert tree_state(home) == before


def test_marking_again_changes_the_note(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, home, "bookmark", "add", FIRST, "--note", "one")
    run(capsys, home, "bookmark", "add", FIRST, "--note", "two")
    assert [row["note"] for row in run(capsys, home, "bookmark", "--json").data["rows"]] == ["two"]


def test_taking_marks_away(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uuid = run(capsys, home, "thread", FIRST, "--json").data["rows"][0]["uuid"]
    run(capsys, home, "bookmark", "add", FIRST)
    run(capsys, home, "bookmark", "add", FIRST, uuid)
    gone = run(capsys, home, "bookmark", "remove", FIRST, uuid[:6], "--json").data
    assert gone == {"session_id": FIRST, "message": uuid, "removed": True}
    ran = run(capsys, home, "bookmark", "remove", FIRST, uuid)
    assert ran.code == 3
    assert "not marked" in ran.err
    assert run(capsys, home, "bookmark", "remove", "Queues").code == 0
    assert run(capsys, home, "bookmark", "--json").data["rows"] == []


def test_a_session_that_is_gone_keeps_its_mark_and_can_lose_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, home, "bookmark", "add", FIRST)
    next(home.glob(f"projects/*/{FIRST}.jsonl")).unlink()
    (row,) = run(capsys, home, "bookmark", "--json").data["rows"]
    assert (row["title"], row["gone"]) == ("Queues", True)
    assert run(capsys, home, "bookmark", "remove", FIRST[:8]).code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add",), 2),
        (("remove",), 2),
        (("list", FIRST), 2),
        (("frobnicate",), 2),
        (("add", "nobody"), 3),
        (("add", FIRST, "zzzz"), 3),
        (("add", FIRST, ""), 3),
        (("remove", FIRST), 3),
    ],
)
def test_mistakes(home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int) -> None:
    assert run(capsys, home, "bookmark", *arguments).code == code
    assert read_bookmarks(own_folder("data")) == []


def test_the_start_of_several_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = HomeBuilder(tmp_path / "many")
    session = builder.session("/w/a", session_id=FIRST)
    for number in range(40):
        session.user(f"Question {number}")
    home = builder.write()
    uuids = [row["uuid"] for row in run(capsys, home, "thread", FIRST, "--json").data["rows"]]
    letter = next(letter for letter in "0123456789abcdef" if sum(uuid.startswith(letter) for uuid in uuids) > 1)
    ran = run(capsys, home, "bookmark", "add", FIRST, letter)
    assert ran.code == 3
    assert "its first four characters" in ran.err  # fewer name nothing


def test_a_damaged_list_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, home, "bookmark", "add", FIRST)
    (own_folder("data") / "bookmarks.json").write_text("{", "utf-8")
    ran = run(capsys, home, "bookmark", "add", OTHER)
    assert ran.code == 4
    assert "bookmarks.json" in ran.err
    assert (own_folder("data") / "bookmarks.json").read_text("utf-8") == "{"


def test_the_pages_show_the_same_marks(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, home, "bookmark", "add", FIRST, "--note", "from the terminal")
    found = scene(home, own_folder("data").parent)
    assert "from the terminal" in found.script.get("/bookmarks").text


def test_many_processes_lose_no_mark(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from recollect.library.bookmarks import add_bookmark\n"
        "for n in range(10): add_bookmark(Path(sys.argv[1]), f'{sys.argv[2]}-{n}', None, '', '')"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(number)]) for number in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    add_bookmark(tmp_path, "last", None, "", "")
    assert len(read_bookmarks(tmp_path)) == 31
