"""The library: opening, finding, paging, the cache, and the async facades."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path

import pytest

import recollect
from recollect.edit.state_lines import plan_rename
from recollect.errors import NotFound, Refused, Unavailable
from recollect.journal.changes import Journal
from recollect.library.library import Library
from recollect.library.repository import LibrarySessionRepository, SessionFilter, SessionRepository
from recollect.library.session import ByteBoundCache
from recollect.library.writing import session_writer, subagent_writer
from recollect.store.home import Home
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude", version="2.1.325")


class TestLibrary:
    def test_open_and_read(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        t.user("hello")
        t.assistant("hi", thinking="hm")
        library = recollect.open(builder.write())
        assert [item.title for item in library.sessions()] == ["hello"]
        session = library.session("last")
        assert [(message.role, message.text) for message in session.messages()] == [
            ("user", "hello"),
            ("assistant", "hi"),
        ]
        assert [line.data for line in session.lines()] == [line + b"\n" for line in t.lines]

    def test_projects_group_worktrees_and_separate_them(self, builder: HomeBuilder) -> None:
        builder.session("/w/app").user("a")
        builder.session("/w/app/.claude/worktrees/x").user("b")
        library = recollect.open(builder.write())
        assert [project.path for project in library.projects()] == ["/w/app"]
        assert {project.path for project in library.projects(separate_worktrees=True)} == {
            "/w/app", "/w/app/.claude/worktrees/x",
        }  # fmt: skip

    def test_refresh_sees_new_sessions(self, builder: HomeBuilder) -> None:
        builder.session("/w/app").user("a")
        library = recollect.open(builder.write())
        assert len(library.files()) == 1
        builder.session("/w/app").user("b")
        builder.write()
        library.refresh()
        assert len(library.files()) == 2

    def test_a_change_of_ours_that_keeps_size_and_time_is_seen(self, builder: HomeBuilder, tmp_path: Path) -> None:
        t = builder.session("/w/app", modified="2026-03-02T10:00Z")
        t.user("a")
        library, journal = recollect.open(builder.write()), Journal(tmp_path / "data")

        def told() -> set[str | None]:
            library.refresh()
            library.index()
            session = library.session(t.session_id)
            assert session.thread.chain
            rows = library.sql("SELECT title FROM sessions").rows
            return {session.summary.title, library.sessions()[0].title, *(row[0] for row in rows)}

        for title in ("AAAA", "BBBB", "CCCC"):
            if journal.records():
                journal.undo(journal.record(), library.homes[0])
            with plan_rename(journal, library.files()[0], title) as change:
                change.commit()
            assert told() == {title}

    def test_a_subagent_that_went_on_is_seen(self, builder: HomeBuilder, tmp_path: Path) -> None:
        t = builder.session("/w/app", modified="2026-03-02T10:00Z")
        t.user("a")
        library, journal = recollect.open(builder.write()), Journal(tmp_path / "data")
        for number in range(1, 4):
            with subagent_writer(session_writer(library.session(t.session_id), journal), "a1") as writer:
                writer.append_message("user", "go on")
            library.refresh()
            (subagent,) = library.session(t.session_id).conversation.subagents
            assert len(subagent.rows) == number

    @pytest.mark.parametrize("reference", ["/a\0b", "a\0.jsonl", "/a\ud800b", "/nowhere/a.jsonl"])
    def test_a_path_outside_is_refused_whatever_it_holds(self, reference: str, builder: HomeBuilder) -> None:
        builder.session("/w/app").user("a")
        with pytest.raises(Refused) as caught:
            recollect.open(builder.write()).session(reference)
        assert caught.value.slug == "outside-home"

    def test_pages_read_only_what_they_show(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        for number in range(50):
            t.user(f"m{number}")
            t.assistant(f"a{number}")
        session = recollect.open(builder.write()).session("last")
        assert [view.text for view in session.messages(offset=90, limit=3)] == ["m45", "a45", "m46"]
        assert sum(1 for _ in session.stream_messages()) == 100

    def test_state_lines_are_folded(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        t.user("a")
        t.title("first")
        t.title("second")
        t.state("tag", tag="x")
        state = recollect.open(builder.write()).session("last").state()
        assert state["custom-title"]["customTitle"] == "second"
        assert state["tag"] == {"tag": "x"}

    def test_unknown_entries_survive(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        t.user("a")
        t.state("brand-new", inner={"x": [1, 2]})
        session = recollect.open(builder.write()).session("last")
        assert session.transcript.unknown_types == {"brand-new": 1}
        assert next(entry for entry in session.entries() if entry["type"] == "brand-new")["inner"] == {"x": [1, 2]}


class TestCache:
    def test_it_forgets_what_was_used_longest_ago(self) -> None:
        cache: ByteBoundCache[str] = ByteBoundCache(10)
        cache.put("a", "A", 4)
        cache.put("b", "B", 4)
        assert cache.get("a") == "A"
        cache.put("c", "C", 4)
        assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("A", None, "C")
        assert cache.weight <= 10

    def test_too_heavy_is_not_kept(self) -> None:
        cache: ByteBoundCache[str] = ByteBoundCache(10)
        cache.put("a", "A", 11)
        assert cache.get("a") is None
        assert cache.weight == 0

    def test_a_session_is_parsed_once(self, builder: HomeBuilder) -> None:
        builder.session("/w/app").user("a")
        library = recollect.open(builder.write())
        assert library.session("last") is library.session("last")


class TestRepository:
    def test_it_is_the_protocol(self, builder: HomeBuilder) -> None:
        builder.session("/w/app").user("a")
        assert isinstance(LibrarySessionRepository(recollect.open(builder.write())), SessionRepository)

    def test_questions(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        t.user("about cats")
        builder.session("/w/lib", git_branch="side").user("about dogs")
        repository = LibrarySessionRepository(recollect.open(builder.write()))

        async def ask() -> None:
            found = await repository.get_session(t.session_id)
            assert found is not None
            assert found.id == t.session_id
            assert await repository.get_session("no such thing at all") is None
            assert [item.id for item in await repository.find_by_project("/w/app")] == [t.session_id]
            assert len(await repository.find_sessions()) == 2
            assert len(await repository.find_sessions(SessionFilter(branch="side"))) == 1
            assert len(await repository.find_sessions(SessionFilter(title_contains="CATS"))) == 1
            with pytest.raises(Unavailable):
                await repository.find_by_group("g")
            answer = await repository.query("SELECT count(*) AS n FROM sessions WHERE project = '/w/app'")
            assert answer == [{"n": 1}]

        asyncio.run(ask())


class TestProvider:
    def test_reading(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        first = t.user("one")
        t.assistant("two")
        t.call(bash("ls", "x"))
        last = t.assistant("three")
        provider = recollect.ClaudeStorageProvider(base_dir=builder.write())

        async def ask() -> None:
            (session,) = await provider.get_sessions(project_path="/w/app")
            assert session["session_id"] == t.session_id
            messages = await provider.get_session_messages(project_path="/w/app", session_id=t.session_id, limit=2)
            assert messages[-1]["text"] == "three"
            assert len(messages) == 2
            ancestry = await provider.get_message_ancestry(t.session_id, last)
            assert (ancestry[0]["uuid"], ancestry[-1]["uuid"]) == (first, last)
            assert (await provider.get_message(t.session_id, first) or {})["text"] == "one"
            assert await provider.get_message(t.session_id, "nothing") is None
            counts = await provider.get_message_counts(t.session_id)
            assert counts["user"] == 2
            stats = await provider.get_session_stats(t.session_id)
            assert stats["tool_calls"] == 1
            assert stats["output_tokens"] > 0
            with pytest.raises(NotFound):
                await provider.get_session_messages(project_path="/other", session_id=t.session_id)

        asyncio.run(ask())

    def test_writing_from_nothing(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        project.mkdir()
        provider = recollect.ClaudeStorageProvider(base_dir=tmp_path / "home", data_dir=tmp_path / "data")
        session_id = str(uuid.uuid4())

        async def talk() -> None:
            for role, words in (("user", "Hello"), ("assistant", "Hi"), ("user", "Bye")):
                await provider.log_message(str(project), recollect.ChatMessage(role, words), session_id)
            await provider.update_title(session_id, "A talk")
            subagent = "a" + "0" * 16
            await provider.log_message(
                str(project), recollect.ChatMessage("user", "Look"), session_id, subagent_id=subagent
            )
            warnings = await provider.save_todos(session_id, [{"content": "x", "status": "pending", "activeForm": "x"}])
            assert warnings == []
            (row,) = await provider.get_sessions(project_path=str(project))
            assert (row["title"], row["subagent_ids"]) == ("A talk", [subagent])
            messages = await provider.get_session_messages(session_id=session_id)
            assert [item["text"] for item in messages] == ["Hello", "Hi", "Bye"]
            with pytest.raises(Refused):
                await provider.log_message(str(project), recollect.ChatMessage("user", "a\x00b"), session_id)
            with pytest.raises(Refused):
                await provider.log_message(str(project), recollect.ChatMessage("user", "x"), "not-a-uuid")

        asyncio.run(talk())

    def test_reset_is_a_change_like_any_other(self, builder: HomeBuilder, tmp_path: Path) -> None:
        builder.session("/w/app").user("one")
        other = builder.session("/w/lib")
        other.user("two")
        provider = recollect.ClaudeStorageProvider(base_dir=builder.write(), data_dir=tmp_path / "data")

        async def reset() -> None:
            assert await provider.reset("/w/app") == 1
            assert [row["session_id"] for row in await provider.get_sessions()] == [other.session_id]
            assert await provider.reset("/w/app") == 0
            provider.journal.undo(provider.journal.record(), provider.home)
            assert len(await provider.get_sessions()) == 2

        asyncio.run(reset())


def test_the_index_lies_in_the_librarys_own_folder(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.session("/w/app").user("find the heron")
    library = Library([Home(builder.write())], own_folder=lambda kind: tmp_path / "own" / kind)
    assert library.search("heron").total == 1
    assert library.catalogue.folder == tmp_path / "own" / "cache" / "index"
    assert (tmp_path / "own" / "cache" / "index" / "catalogue.sqlite").is_file()
