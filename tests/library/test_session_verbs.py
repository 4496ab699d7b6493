"""What a session and a library give beside messages: files, to-dos, typed prompts, plans; the shapes are those of JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.library.shapes import plain
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, edit, failed, todo, todo_write, write

IDENT = "11111111-0000-4000-8000-000000000001"


@pytest.fixture
def library(tmp_path: Path) -> recollect.Library:
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session("/w/app", session_id=IDENT)
    session.user("Begin")
    session.call(write("/w/app/a.py", "one\n"))
    session.call(edit("/w/app/a.py", "one", "two", original="one\n"))
    session.call(bash("ls", "a.py"))
    session.call(failed("Bash", {"command": "false"}, "exit 1"))
    session.call(todo_write([todo("first", "completed"), todo("second")]))
    session.assistant("Done.")
    return recollect.open(builder.write())


class TestFiles:
    def test_rows_and_versions(self, library: recollect.Library) -> None:
        files = library.session(IDENT).files()
        (row,) = files.rows
        assert (row.path, row.edits, row.created) == ("/w/app/a.py", 2, True)
        assert row.first is not None and row.first.tzinfo is not None
        assert [version.kind for version in files.versions("a.py") if version.kind == "edit"] == ["edit", "edit"]

    def test_content_at_a_message(self, library: recollect.Library) -> None:
        session = library.session(IDENT)
        files = session.files()
        assert files.content("a.py").content == b"two\n"
        first = session.tools[0].result_uuid
        assert first is not None
        assert files.content("a.py", at=first).content == b"one\n"
        assert files.content("a.py", at=first, before=True).exists is False
        assert files.content("a.py", at="start").exists is False

    def test_differences(self, library: recollect.Library) -> None:
        files = library.session(IDENT).files()
        (whole,) = files.differences()
        assert whole.diff[-1] == "+two"
        first = library.session(IDENT).tools[0].result_uuid
        (later,) = files.differences("app/a.py", start=first or "")
        assert later.diff[-2:] == ["-one", "+two"]
        assert later.lost is None

    def test_a_file_that_was_not_touched(self, library: recollect.Library) -> None:
        with pytest.raises(recollect.NotFound) as caught:
            library.session(IDENT).files().find("b.py")
        assert (caught.value.slug, caught.value.nearest) == ("no-such-file", ("/w/app/a.py",))

    def test_a_message_that_is_not_there(self, library: recollect.Library) -> None:
        with pytest.raises(recollect.NotFound):
            library.session(IDENT).files().content("a.py", at="#99")


class TestTools:
    def test_where(self, library: recollect.Library) -> None:
        tools = library.session(IDENT).tools
        assert [call.name for call in tools] == ["Write", "Edit", "Bash", "Bash", "TodoWrite"]
        assert [call.arguments for call in tools.where(name="Bash")] == ["ls", "false"]
        assert [call.arguments for call in tools.where(failed=True)] == ["false"]
        assert (tools.errors, tools.unanswered, tools.by_tool["Bash"]["errors"]) == (1, 0, 1)

    def test_slices(self, library: recollect.Library) -> None:
        tools = library.session(IDENT).tools
        assert [call.name for call in tools[1:3]] == ["Edit", "Bash"]
        assert tools[-1].name == "TodoWrite"


class TestTodos:
    def test_the_last_list_of_the_transcript(self, library: recollect.Library) -> None:
        todos = library.session(IDENT).todos
        if todos[0].source == "todos":  # this version keeps them in a file as well
            for path in (library.homes[0].root / "todos").glob("*.json"):
                path.unlink()
            todos = library.session(IDENT).todos
        assert [(item.source, item.status, item.content) for item in todos] == [
            ("transcript", "completed", "first"),
            ("transcript", "pending", "second"),
        ]
        assert [item.number for item in todos] == [None, None]

    def test_a_session_that_is_not_there(self, library: recollect.Library) -> None:
        with pytest.raises(recollect.NotFound):
            library.todos("zzzz")


class TestTimes:
    def test_they_have_a_zone(self, library: recollect.Library) -> None:
        session = library.session(IDENT)
        times = [
            session.created, session.last_activity, session.messages()[0].time, session.facts.first, session.tools[0].time,
            session.tree.turns[0].time, session.summary.created, session.summary.last_activity,
        ]  # fmt: skip
        assert all(time is not None and time.tzinfo is UTC for time in times)

    def test_in_json_they_are_text(self, library: recollect.Library) -> None:
        row = plain(library.session(IDENT).tools[0])
        assert datetime.fromisoformat(row["time"]) == library.session(IDENT).tools[0].time
        assert row["time"].endswith("Z")

    def test_sessions_since_a_moment(self, library: recollect.Library) -> None:
        assert len(library.sessions(since=datetime(2000, 1, 1, tzinfo=UTC))) == 1
        assert library.sessions(since=datetime(2999, 1, 1, tzinfo=UTC)) == []
        assert library.sessions(until=datetime(2000, 1, 1, tzinfo=UTC)) == []


class TestReading:
    def test_a_view_that_is_not_there(self, library: recollect.Library) -> None:
        session = library.session(IDENT)
        for options in ({"branch": 7}, {"subagent": "nobody"}):
            with pytest.raises(recollect.NotFound):
                session.read(**options)

    def test_the_message_of_a_line(self, library: recollect.Library) -> None:
        reading = library.session(IDENT).read("all")
        for number, message in enumerate(reading.messages):
            assert reading.number_at_line(message.rows[0].line) == number
        assert reading.number_at_line(10_000) is None
        assert reading.number_from_line(10_000) == len(reading.messages) - 1

    def test_the_check_changes_nothing(self, library: recollect.Library) -> None:
        report = library.session(IDENT).check()
        assert report.found
        assert report.reachable_share == 1.0
