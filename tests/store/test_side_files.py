"""Side files of a home: found, typed, and bad ones are values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.format.todos import Todo
from recollect.store.home import Home
from recollect.store.layout import FileKind
from recollect.store.side_files import (
    backup_reader,
    custom_title,
    file_backups,
    memories,
    paste_text,
    pastes,
    plans,
    prompt_history,
    running_sessions,
    sessions_index,
    subagent_meta,
    survey,
    task_lists,
    todo_lists,
    tool_results,
    walk_files,
)
from recollect.testing import HomeBuilder, uuid_from

ONE, TWO = uuid_from("one"), uuid_from("two")


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude")


def written(builder: HomeBuilder) -> Home:
    return Home(builder.write())


def test_an_empty_home_gives_empty_answers(builder: HomeBuilder) -> None:
    home = written(builder)
    assert todo_lists(home) == []
    assert task_lists(home) == []
    assert plans(home) == []
    assert memories(home) == {}
    assert list(prompt_history(home)) == []
    assert pastes(home) == []
    assert running_sessions(home) == []
    assert file_backups(home, ONE) == {}
    assert custom_title(home, home.projects / "-w" / ONE) is None
    assert sessions_index(home, home.projects / "-w") is None
    assert survey(home) == {}


def test_todos_of_all_namings(builder: HomeBuilder) -> None:
    todo = {"content": "x", "status": "pending"}
    builder.todos(TWO, [todo, todo], subagent="a753668")
    builder.todos(TWO, [todo], subagent=TWO)
    builder.todos(ONE, [])
    builder.file("todos/README", "not a list")
    home = written(builder)
    assert [(found.session_id, found.subagent_id, len(found.todos.items)) for found in todo_lists(home)] == sorted(
        [(ONE, None, 0), (TWO, None, 1), (TWO, "a753668", 2)], key=lambda row: (row[0], row[1] or "")
    )
    (main, subagent) = todo_lists(home, TWO)
    assert main.todos.items == (Todo(content="x", status="pending"),)
    assert subagent.file.modified is not None


def test_tasks_in_order_with_their_mark(builder: HomeBuilder) -> None:
    for number in (2, 10, 1):
        builder.task(ONE, number, f"task {number}")
    builder.file(f"tasks/{ONE}/3.json", b"{broken")
    builder.task(TWO, 1, "other")
    (found,) = task_lists(written(builder), ONE)
    assert [(task.id, task.subject) for task in found.tasks] == [
        ("1", "task 1"),
        ("2", "task 2"),
        ("3", None),
        ("10", "task 10"),
    ]
    assert found.tasks[2].problem == "not JSON at character 1"
    assert found.high_water_mark == 10
    assert found.modified is not None


def test_plans_newest_first(builder: HomeBuilder) -> None:
    builder.file("plans/old.md", "# Old\n", modified="2026-01-01T00:00Z")
    builder.file("plans/new.md", "# New\n", modified="2026-02-01T00:00Z")
    builder.file("plans/notes.txt", "no plan")
    assert [(plan.name, plan.document.title) for plan in plans(written(builder))] == [("new", "New"), ("old", "Old")]


def test_memories_by_project_folder(builder: HomeBuilder) -> None:
    builder.memory("/w/app", "# Facts\n")
    builder.memory("/w/app", "---\nname: habits\n---\n", name="deep/habits.md")
    found = memories(written(builder))
    assert {folder: [memory.name for memory in files] for folder, files in found.items()} == {
        "-w-app": ["MEMORY", "deep/habits"]
    }


def test_history_streams_and_pastes_are_found(builder: HomeBuilder) -> None:
    builder.history("first", "/w/app", ONE)
    builder.history("second [Pasted text #1]", "/w/app", ONE, pasted={1: "pasted"})
    before = builder.files["history.jsonl"].content
    builder.file("history.jsonl", before + b"torn{\n")
    name = Path(builder.paste("a long text")).stem
    home = written(builder)
    entries = list(prompt_history(home))
    assert [entry.display for entry in entries] == ["first", "second [Pasted text #1]", None]
    assert entries[2].problem is not None
    assert paste_text(home, name) == "a long text"
    assert paste_text(home, "../history") is None
    assert [paste.path.stem for paste in pastes(home)] == [name]


def test_running_sessions_and_never_their_keys(builder: HomeBuilder) -> None:
    builder.running(77, ONE, "/w/app", status="busy")
    builder.session_key(77)
    builder.file("sessions/78.json", b"")
    found = running_sessions(written(builder))
    assert [(running.pid, running.session_id, running.problem) for running in found] == [
        (77, ONE, None),
        (78, None, "the file is empty"),
    ]


def test_backups_of_a_session(builder: HomeBuilder) -> None:
    builder.backup(ONE, "/w/app/a", 1, b"\xff\x00raw")
    builder.file(f"file-history/{ONE}/notes", "no backup")
    home = written(builder)
    (name,) = file_backups(home, ONE)
    read = backup_reader(home, ONE)
    assert read(name) == b"\xff\x00raw"
    assert read("../../settings.json") is None
    assert read("0123456789abcdef@v9") is None


def test_files_of_a_session(builder: HomeBuilder) -> None:
    session = builder.session("/w/app", session_id=ONE)
    session.user("go")
    subagent = session.subagent("look")
    subagent.finish("done")
    builder.tool_output(session, "b12345678", "long output")
    builder.custom_title_file("/w/app", ONE, "Mine")
    builder.sessions_index("/w/app", [builder.index_entry(session)])
    builder.session_env(ONE)
    home = written(builder)
    folder = home.projects / "-w-app" / ONE
    assert {name: info.size for name, info in tool_results(home, folder).items()} == {"b12345678": 11}
    title = custom_title(home, folder)
    assert title is not None
    assert title.title == "Mine"
    index = sessions_index(home, folder.parent)
    assert index is not None
    assert [entry.session_id for entry in index.entries] == [ONE]
    subagent_path = builder.subagent_path(subagent)
    assert subagent_path is not None
    meta = subagent_meta(home, subagent_path)
    assert meta is not None
    assert meta.tool_use_id is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_links_out_of_the_home_and_pipes_are_not_read(builder: HomeBuilder, tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text('[{"content": "stolen"}]')
    builder.link(f"todos/{ONE}.json", str(tmp_path / "outside.json"))
    builder.folder("plans")
    home = written(builder)
    (found,) = todo_lists(home)
    assert found.todos.items == ()
    assert found.todos.problem is not None
    assert "leads out of" in found.todos.problem
    os.mkfifo(home.root / "plans" / "pipe.md")
    (plan,) = plans(home)
    assert plan.document.problem is not None
    assert "not a regular file" in plan.document.problem


def test_a_folder_of_the_store_may_be_a_link_and_nothing_in_it_may_lead_out(
    builder: HomeBuilder, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / f"{ONE}-agent-{ONE}.json").write_text("[]")
    builder.link("todos", str(tmp_path / "elsewhere"))
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "x.md").write_text("x")
    builder.link("plans/linked", str(tmp_path / "planted"))
    home = written(builder)
    assert len(todo_lists(home)) == 1
    assert [path.name for path in walk_files(home, home.root / "plans")] == ["linked"]


def test_a_link_to_the_home_itself_ends(builder: HomeBuilder) -> None:
    builder.link("plans/loop", "..")
    builder.plan("a", "# A")
    home = written(builder)
    assert [path.name for path in walk_files(home, home.root)] == ["a.md"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs permissions that bind")
def test_a_file_without_permission_says_so(builder: HomeBuilder) -> None:
    builder.todos(ONE, [])
    home = written(builder)
    (home.root / "todos" / f"{ONE}.json").chmod(0)
    (found,) = todo_lists(home)
    assert found.todos.problem is not None


def test_a_file_beyond_the_limit_is_not_read(builder: HomeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    builder.todos(ONE, [{"content": "x" * 100, "status": "pending"}])
    monkeypatch.setattr("recollect.store.side_files.SIZE_LIMIT", 64)
    (found,) = todo_lists(written(builder))
    assert found.todos.items == ()
    assert found.todos.problem is not None
    assert "not read" in found.todos.problem


def test_survey_counts_every_file(builder: HomeBuilder) -> None:
    builder.session("/w/app", session_id=ONE).user("hi")
    builder.todos(ONE, [])
    builder.credentials()
    builder.session_key(1)
    builder.file("strange/thing", "1234")
    counted = survey(written(builder))
    assert {kind: count for kind, (count, _) in counted.items()} == {
        FileKind.TRANSCRIPT: 1,
        FileKind.TODOS: 1,
        FileKind.SECRET: 2,
        FileKind.UNKNOWN: 1,
    }
    assert counted[FileKind.UNKNOWN] == (1, 4)
