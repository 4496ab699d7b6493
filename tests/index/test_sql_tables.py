"""The tables of SQL: what they say of a store, and that only what changed is copied again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.analysis.scene import MODEL, Scene, tokens

import recollect
from recollect.index.sql import refresh as sql_refresh
from recollect.index.sql.tables import TABLES, names
from recollect.library.library import Library
from recollect.library.questions import prepare
from recollect.testing import HomeBuilder, build_demo_home


def rows(library: Library, sql: str) -> list[tuple[Any, ...]]:
    """The answer without a process of its own: what the tables hold is one thing, how they are asked another."""
    with duckdb.connect(str(prepare(library, sql).database), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def whole(library: Library) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that the tables hold, in an order of its own; times as text, numbers of entries left out."""
    database = prepare(library, "SELECT * FROM sessions").database
    found: dict[str, list[tuple[Any, ...]]] = {}
    with duckdb.connect(str(database), read_only=True) as connection:
        for table, columns in names().items():
            kept = ", ".join(f"{name}::VARCHAR" for name in columns if name not in ("entry_id", "parent_id"))
            found[table] = sorted(connection.execute(f"SELECT {kept} FROM {table}").fetchall(), key=repr)
    return found


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude", version="2.1.325")


def test_every_documented_column_is_there_with_its_type(builder: HomeBuilder) -> None:
    builder.session("/w/app").user("hello")
    library = recollect.open(builder.write())
    database = prepare(library, "SELECT 1").database
    shown = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ"}
    with duckdb.connect(str(database), read_only=True) as connection:
        for table in TABLES:
            found = connection.execute(f"DESCRIBE {table.name}").fetchall()
            documented = [(column.name, column.type) for column in table.columns]
            assert [(row[0], shown.get(row[1], row[1])) for row in found] == documented
            assert all(column.doc for column in table.columns)
            assert len(set(dict(documented))) == len(documented)
    assert {
        "sessions", "messages", "responses", "tool_calls", "subagents", "entries", "prompts", "tasks", "file_changes", "projects",
    } <= set(names())  # fmt: skip


def test_numbers_agree_with_the_library(tmp_path: Path) -> None:
    root = tmp_path / "claude"
    build_demo_home(root)
    library = recollect.open(root)
    listed = {item.session_id: item for item in library.sessions(count=True)}
    sql = "SELECT session_id, project, title, messages, subagents, lines, bytes, git_branch FROM sessions"
    assert len(rows(library, sql)) == len(listed) > 10
    asked = rows(library, f"{sql} WHERE damaged = 0")  # a line without an end is not counted before it has one
    assert len(asked) == len(listed) - 1
    for session_id, project, title, messages, subagents, lines, size, branch in asked:
        item = listed[session_id]
        told = (
            item.project,
            item.title,
            item.messages,
            item.subagents,
            item.lines,
            item.file.size,
            item.git_branch or None,
        )
        assert (project, title, messages, subagents, lines, size, branch) == told
    counted = rows(library, "SELECT session_id, count(*) FROM messages WHERE subagent_id IS NULL GROUP BY ALL")
    for session_id, count in counted:
        assert listed[session_id].messages is not None
        assert count <= (listed[session_id].messages or 0)
    grouped = rows(library, "SELECT project, sessions FROM projects")
    assert dict(grouped) == {
        project.path: len(project.sessions) for project in library.projects(separate_worktrees=True)
    }
    for session in ("last",):
        opened = library.session(session)
        calls = rows(library, f"SELECT tool_use_id, name FROM tool_calls WHERE session_id = '{opened.id}'")
        assert len(calls) == len(set(calls))


def test_a_response_counts_once_with_its_largest_numbers(builder: HomeBuilder) -> None:
    first = builder.session("/w/app")
    first.user("hi")
    first.assistant("one", thinking="hm", usage={"input_tokens": 7, "output_tokens": 1234})
    copy = builder.session("/w/app")
    copy.fork_copy(first, style="branch")
    copy.user("more")
    copy.assistant("two", usage={"input_tokens": 5, "output_tokens": 6})
    library = recollect.open(builder.write())
    asked = rows(
        library, "SELECT session_id, input_tokens, output_tokens, copies FROM responses ORDER BY output_tokens DESC"
    )
    assert asked == [(first.session_id, 7, 1234, 2), (copy.session_id, 5, 6, 1)]
    assert rows(library, "SELECT count(*) FROM messages WHERE kind = 'answer'")[0][0] > 2


def test_kinds_and_statuses(builder: HomeBuilder) -> None:
    t = builder.session("/w/app")
    t.user("try this")
    t.assistant("no")
    t.rewind(None)
    t.user("try that")
    t.assistant("yes")
    library = recollect.open(builder.write())
    found = rows(library, "SELECT kind, status, count(*) FROM messages GROUP BY ALL ORDER BY ALL")
    assert found == [
        ("answer", "abandoned", 1),
        ("answer", "live", 1),
        ("prompt", "abandoned", 1),
        ("prompt", "live", 1),
    ]
    chained = rows(
        library,
        "SELECT count(*) FROM messages m JOIN messages p ON p.entry_id = m.parent_id JOIN entries e ON e.entry_id = m.entry_id "
        "WHERE e.parent_uuid = p.uuid",
    )
    assert chained == [(2,)]


def test_texts_of_all_kinds_survive(builder: HomeBuilder) -> None:
    nasty = 'quote " comma , two\nlines\r\n tab\t nul\x00 percent % \\N \\" é 漢字 \U0001f331 ~' + "0" * 32 + " \u2028"
    t = builder.session('/w/a,b "c"')
    t.user(nasty)
    t.title("")
    t.title(nasty)
    library = recollect.open(builder.write())
    ((prompt, title, project),) = rows(library, "SELECT first_prompt, title, project FROM sessions")
    listed = library.sessions(count=True)[0]
    assert (prompt, title, project) == (listed.first_prompt, listed.title, listed.project)
    assert "nul\x00" in prompt
    assert '"' in project


def test_ids_that_are_no_uuids_survive(tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    lines = [
        '{"type":"user","uuid":"u\\"1,","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"a"}}',
        '{"type":"user","uuid":"~0123456789abcdef0123456789abcdef","parentUuid":"u\\"1,","message":{"role":"user","content":"b"}}',
        '{"type":"user","uuid":"U3","parentUuid":"nowhere","message":{"role":"user","content":"c"}}',
    ]
    (folder / "3bd243c5-9aab-4dfb-96c2-f29bbf73324a.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    library = recollect.open(tmp_path / "claude")
    asked = rows(library, "SELECT uuid, parent_uuid, parent_id IS NULL FROM entries ORDER BY line")
    assert asked == [('u"1,', None, True), (asked[1][0], 'u"1,', False), ("U3", "nowhere", True)]


def test_damage_is_in_it(builder: HomeBuilder) -> None:
    t = builder.session("/w/app")
    t.user("hello")
    t.assistant("there")
    content = t.to_bytes()
    builder.damage(t, content[: len(content) // 2] + b"\n" + b'{"type": nonsense}\n')
    library = recollect.open(builder.write())
    assert rows(library, "SELECT count(*) > 0 FROM damage") == [(True,)]
    assert rows(library, "SELECT sum(damaged) = (SELECT count(*) FROM damage) FROM sessions") == [(True,)]


# -- only what changed ------------------------------------------------------------------------------------------------
class Loads:
    """Counts the lines that are copied for tables whose rows belong to files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: list[list[int]] = []
        original = sql_refresh._Refreshing._batches

        def batches(own: Any, files: Any) -> Any:
            self.files.append(sorted(files))
            return original(own, files)

        monkeypatch.setattr(sql_refresh._Refreshing, "_batches", batches)


def test_nothing_changed_opens_nothing(builder: HomeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    builder.session("/w/app").user("hello")
    root = builder.write()
    path = prepare(recollect.open(root), "SELECT 1").database
    before = path.stat()
    monkeypatch.setattr(sql_refresh, "_Refreshing", None)
    assert prepare(recollect.open(root), "SELECT 1").database == path
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_changed_files_are_copied_and_the_rest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "claude"
    build_demo_home(root)
    library = recollect.open(root)
    whole(library)
    loads = Loads(monkeypatch)
    transcripts = sorted((root / "projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
    grown, gone, cut = transcripts[-1], transcripts[-2], transcripts[-3]
    with open(grown, "ab") as stream:
        stream.write(
            b'\n{"type":"user","uuid":"new","parentUuid":null,"message":{"role":"user","content":"one more"}}\n'
        )
    after_growth = whole(library)
    assert len(loads.files[-1]) == 1
    gone.unlink()
    cut.write_bytes(b"".join(cut.read_bytes().splitlines(keepends=True)[:3]))
    (root / "projects" / "-new").mkdir()
    (root / "projects" / "-new" / "00000000-0000-4000-8000-000000000001.jsonl").write_bytes(
        b'{"type":"user","uuid":"n1","cwd":"/new","message":{"role":"user","content":"hello"}}\n'
    )
    changed = whole(library)
    assert 3 <= len(loads.files[-1]) <= 8
    assert changed != after_growth
    library.catalogue.make_anew()
    assert whole(library) == changed
    assert whole(recollect.open(root)) == changed


def test_a_store_that_changed_a_lot_is_copied_whole(builder: HomeBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_refresh, "MOST_CHANGED", 0.0)
    for number in range(25):
        builder.session("/w/app").user(f"number {number}")
    root = builder.write()
    library = recollect.open(root)
    assert rows(library, "SELECT count(*) FROM sessions") == [(25,)]
    loads = Loads(monkeypatch)
    for path in (root / "projects").glob("*/*.jsonl"):
        path.write_bytes(path.read_bytes() + b'{"type":"user","uuid":"x","message":{"role":"user","content":"y"}}\n')
    assert rows(library, "SELECT count(*) FROM messages") == [(50,)]
    assert len(loads.files[-1]) >= 25


def test_a_broken_or_foreign_file_is_made_anew(builder: HomeBuilder) -> None:
    builder.session("/w/app").user("hello")
    library = recollect.open(builder.write())
    path = prepare(library, "SELECT 1").database
    path.write_bytes(b"garbage")
    assert library.sql("SELECT count(*) FROM sessions").rows == [[1]]
    info = path.stat()
    content = bytearray(path.read_bytes())
    content[4096:20000] = os.urandom(20000 - 4096)
    path.write_bytes(content)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))  # nothing tells of it but the bytes
    assert library.sql("SELECT count(*) FROM sessions").rows == [[1]]


def test_what_a_killed_run_left_is_cleared_away(builder: HomeBuilder) -> None:
    builder.session("/w/app").user("hello")
    library = recollect.open(builder.write())
    path = prepare(library, "SELECT 1").database
    for name in (".rows-abc.csv", f"{path.name}.staged", f"{path.name}.staged-anew"):
        (path.parent / name).write_bytes(b"left")
    builder.session("/w/app").user("again")
    builder.write()
    assert library.sql("SELECT count(*) FROM sessions").rows == [[2]]
    assert [item.name for item in path.parent.iterdir() if "rows" in item.name or "staged" in item.name] == []


def test_homes_are_kept_apart_and_together(tmp_path: Path) -> None:
    roots = []
    for name in ("one", "two"):
        home = HomeBuilder(tmp_path / name, version="2.1.325")
        home.session(f"/w/{name}").user("hello")
        roots.append(home.write())
    sql = "SELECT project FROM sessions ORDER BY project"
    assert rows(recollect.open(roots[0]), sql) == [("/w/one",)]
    assert rows(recollect.open(roots[1]), sql) == [("/w/two",)]
    both = recollect.library.library.open_library(roots)
    assert rows(both, sql) == [("/w/one",), ("/w/two",)]
    assert rows(recollect.open(roots[0]), sql) == [("/w/one",)]


def test_a_reader_keeps_reading_while_the_tables_are_renewed(builder: HomeBuilder) -> None:
    t = builder.session("/w/app")
    t.user("hello")
    root = builder.write()
    library = recollect.open(root)
    path = prepare(library, "SELECT 1").database
    with duckdb.connect(str(path), read_only=True) as reader:
        builder.session("/w/app").user("again")
        builder.write()
        assert library.sql("SELECT count(*) FROM sessions").rows == [[2]]
        assert reader.execute("SELECT count(*) FROM sessions").fetchall() == [(1,)]


def test_a_call_that_one_file_has_without_its_model_counts_once(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    bare = scene.answer("msg_1", tokens(10, 1), model=None, session="a", time="2025-11-01T10:00:00Z")
    scene.write("a", bare)
    scene.write("b", scene.answer("msg_1", tokens(5, 200), session="b"))
    scene.write("c", scene.answer("msg_2", tokens(1, 1), model=None, session="c"))
    library = recollect.open(scene.root)
    found = rows(library, "SELECT message_id, model, session_id, input_tokens, output_tokens FROM responses ORDER BY 1")
    assert found == [("msg_1", MODEL, "b", 10, 200), ("msg_2", "", "c", 1, 1)]
