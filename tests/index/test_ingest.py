"""What the catalogue knows of a home: sessions, entries, calls, subagents, changed files, prompts, tasks, damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.index.contents import contents, words

from recollect.format.line import HARMLESS
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.schema import FLAGS, stored_uuid
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.store.home import Home
from recollect.store.read import EntryBytes
from recollect.testing import ALL_AGES, DAMAGES, HomeBuilder, build_age, uuid_from
from recollect.testing.toolcalls import bash, edit, read, write


def index_of(home: HomeBuilder | Path, folder: Path, **options: Any) -> Catalogue:
    root = home.write() if isinstance(home, HomeBuilder) else home
    catalogue = Catalogue.open(folder)
    bring_up_to_date(catalogue, [Home(root)], ("entries", "words"), **options)
    return catalogue


def row(catalogue: Catalogue, question: str, *values: Any) -> dict[str, Any]:
    cursor = catalogue.connection.execute(question, values)
    names = [column[0] for column in cursor.get_description()]
    (found,) = cursor.fetchall()
    return dict(zip(names, found, strict=True))


def test_a_session_at_a_glance(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app", git_branch="main", start="2026-03-02T09:00:00Z", step=10.0)
    t.user("Fix the `parser`, please")
    t.assistant("Done.", thinking="Easy", model="claude-opus-4-5")
    t.title("Parser trouble")
    t.state("tag", tag="urgent")
    catalogue = index_of(home, tmp_path / "index")
    session = row(catalogue, "SELECT * FROM sessions")
    assert session["session_id"] == t.session_id
    assert (session["project"], session["title"], session["tag"]) == ("/w/app", "Parser trouble", "urgent")
    assert (session["first_prompt"], session["git_branch"]) == ("Fix the `parser`, please", "main")
    assert (session["messages"], session["prompts"], session["damaged"]) == (3, 1, 0)
    assert session["lines"] == session["entries"] == len(t.lines)
    assert session["model"] == "claude-opus-4-5"
    assert session["created"] == 1772442000_000000
    assert session["threaded"] == 1
    assert session["reachable"] == 1.0


def test_an_entry_leads_back_to_its_bytes(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    asked = t.user("where is it")
    catalogue = index_of(home, tmp_path / "index")
    entry = row(catalogue, "SELECT * FROM entries WHERE uuid = ?", stored_uuid(asked))
    with EntryBytes(home.session_path(t)) as source:
        value = source.value_at(entry["offset"], entry["length"])
    assert value["uuid"] == asked
    assert (entry["type"], entry["role"], entry["status"]) == ("user", "user", "live")
    assert entry["flags"] == FLAGS["prompt"] | FLAGS["text"]


def test_calls_have_their_results_wherever_these_stand(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("go")
    t.parallel([bash("ls -l", "a b c"), read("/w/app/a", "text")], "two at once")
    t.call(edit("/w/app/a", "x\n", "y\nz\n", original="x\n"))
    t.assistant("open end", tools=[bash("sleep 9", "")])
    catalogue = index_of(home, tmp_path / "index")
    rows = catalogue.connection.execute(
        "SELECT name, target, result_entry_id IS NOT NULL, is_error, ended >= started FROM tool_calls ORDER BY entry_id"
    ).fetchall()
    assert rows == [
        ("Bash", "ls -l", 1, 0, 1),
        ("Read", "/w/app/a", 1, 0, 1),
        ("Edit", "/w/app/a", 1, 0, 1),
        ("Bash", "sleep 9", 0, None, None),
    ]
    change = row(catalogue, "SELECT path, lines_added, lines_removed, created FROM file_changes")
    assert change == {"path": "/w/app/a", "lines_added": 2, "lines_removed": 1, "created": 0}


def test_a_new_file_counts_its_lines(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("go")
    t.call(write("/w/app/new", "one\ntwo\nthree"))
    catalogue = index_of(home, tmp_path / "index")
    change = row(catalogue, "SELECT path, lines_added, lines_removed, created FROM file_changes")
    assert change == {"path": "/w/app/new", "lines_added": 3, "lines_removed": 0, "created": 1}


@pytest.mark.parametrize("age", ALL_AGES)
def test_every_age_of_the_client_is_taken_in(tmp_path: Path, age: str) -> None:
    """Subagents in all three places, titles of all kinds, lines whole or by block."""
    age_of = build_age(tmp_path / "claude", age)
    catalogue = index_of(tmp_path / "claude", tmp_path / "index")
    for session in (age_of.everyday, age_of.long, age_of.continued, age_of.rare):
        if session is None:
            continue
        found = row(catalogue, "SELECT * FROM sessions WHERE session_id = ?", session.session_id)
        assert (found["project"], found["lines"]) == (session.cwd, session.lines)
        subagents = catalogue.connection.execute(
            "SELECT subagent_id FROM subagents WHERE session_id = ?", (session.session_id,)
        ).fetchall()
        assert len(subagents) == len(session.subagents)
        live = catalogue.connection.execute(
            "SELECT count(*) FROM entries WHERE file_id = ? AND status = 'live'", (found["file_id"],)
        ).get
        assert live >= len(session.thread)


def test_a_subagent_is_known_by_its_note_and_its_call(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("go")
    helper = t.subagent("Look into it")
    helper.call(read("/w/app/a", "x"))
    helper.finish("seen")
    catalogue = index_of(home, tmp_path / "index")
    subagent = row(catalogue, "SELECT * FROM subagents")
    assert subagent["session_id"] == t.session_id
    assert subagent["tool_use_id"] is not None
    assert subagent["description"]
    assert subagent["prompt"] == "Look into it"
    statuses = catalogue.connection.execute(
        "SELECT DISTINCT status FROM entries WHERE subagent_id IS NOT NULL"
    ).fetchall()
    assert statuses == [("subagent",)]


def test_side_files_are_in_it(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("go")
    home.file(
        "history.jsonl", b'{"display":"/help","timestamp":1772442000000,"project":"/w/app","sessionId":"s"}\nnonsense\n'
    )
    home.file(f"tasks/{t.session_id}/2.json", b'{"id":"2","subject":"Sweep","status":"pending","owner":"me"}')
    home.file(f"todos/{t.session_id}.json", b'[{"content":"Dust","status":"completed","activeForm":"Dusting"}]')
    catalogue = index_of(home, tmp_path / "index")
    prompt = row(catalogue, "SELECT text, time, project, session_id FROM prompts")
    assert prompt == {"text": "/help", "time": 1772442000_000000, "project": "/w/app", "session_id": "s"}
    tasks = catalogue.connection.execute("SELECT source, subject, status, owner FROM tasks ORDER BY source").fetchall()
    assert tasks == [("task", "Sweep", "pending", "me"), ("todo", "Dust", "completed", None)]
    assert row(catalogue, "SELECT kind, line FROM damage") == {"kind": "not-json", "line": 2}


def test_damaged_lines_are_in_it_as_damage(tmp_path: Path) -> None:
    """Every recipe of damage: nothing raises, all that can be read is there, the rest is damage with its place."""
    folder = tmp_path / "claude" / "projects" / "-w-app"
    folder.mkdir(parents=True)
    made = {}
    for name, recipe in DAMAGES.items():
        path = folder / (recipe.rename or str)(f"{uuid_from(name)}.jsonl")
        made[name] = recipe.make(1)
        path.write_bytes(made[name])
    catalogue = index_of(tmp_path / "claude", tmp_path / "index")
    for name, data in made.items():
        below = f"projects/-w-app/{uuid_from(name)}.jsonl"
        rows: list[Any] = catalogue.connection.execute(
            "SELECT d.kind, d.line, d.offset, d.length FROM damage d JOIN files f ON f.id = d.file_id WHERE f.path = ?",
            (below,),
        ).fetchall()
        kinds = {kind for kind, _, _, _ in rows}
        expected = set(DAMAGES[name].kinds) - HARMLESS
        if "torn" in kinds and not data.endswith(b"\n"):  # of the last line no more is told until it has an end
            expected &= kinds
        if DAMAGES[name].rename is None:
            assert expected <= kinds, name
        for _, line, offset, length in rows:
            assert line >= 1, name
            assert 0 <= offset <= offset + length <= len(data), name
    assert catalogue.connection.execute("SELECT count(*) FROM sessions").get > 100
    again = index_of(tmp_path / "claude", tmp_path / "again")
    assert contents(again) == contents(catalogue)
    assert words(again) == words(catalogue)


def test_lone_surrogates_are_found_as_the_client_shows_them(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("before")
    t.raw(
        json.dumps(
            {"type": "user", "uuid": "u\ud800", "message": {"role": "user", "content": "torn \ud83d emoji"}}
        ).encode()
    )
    catalogue = index_of(home, tmp_path / "index")
    assert row(catalogue, "SELECT kind FROM damage")["kind"] == "surrogate"
    assert len(words(catalogue, "emoji")["emoji"]) == 1


def test_texts_are_words_and_not_copies_or_logs(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("Find the kumquat in getUserName, HTTPServer and user_profile_id")
    t.assistant("こんにちは世界", thinking="A tangerine, perhaps")
    t.call(bash("grep -r papaya .", "lychee"))
    t.user("only the model reads durian", meta=True)
    t.attachment("prompt_snapshot", content="snapshot of rambutan")
    t.state("api-request", params={"system": "log of jackfruit"})
    t.title("About the quince")
    catalogue = index_of(home, tmp_path / "index")
    asked = ["kumquat", "user", "getUserName", "server", "HTTPServer", "profile", "user_profile_id", "世界", "界"]
    found = words(catalogue, *asked, "tangerine", "papaya", "lychee", "quince")
    assert {word: len(places) for word, places in found.items() if word and len(places) != 1} == {}
    assert not any(
        words(catalogue, "durian", "rambutan", "jackfruit")[word] for word in ("durian", "rambutan", "jackfruit")
    )


def test_a_long_line_is_found_by_its_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.format.worded_entry.LONG_LINE", 5_000)
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("start " + "filler " * 2_000 + "finish")
    t.call(bash("cat", "pomelo " + "filler " * 2_000))
    catalogue = index_of(home, tmp_path / "index")
    found = words(catalogue, "start", "pomelo", "finish")
    assert (len(found["start"]), len(found["pomelo"]), len(found["finish"])) == (1, 1, 0)
    assert row(catalogue, "SELECT count(*) AS calls FROM tool_calls WHERE result_entry_id IS NOT NULL")["calls"] == 1
    assert row(catalogue, "SELECT messages FROM sessions")["messages"] == 3
