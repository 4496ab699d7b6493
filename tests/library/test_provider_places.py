"""Where the provider reads and writes: projects behind links, several homes, subagents of another session or of none."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running import run, tree_state

from recollect.errors import NotFound, Refused
from recollect.journal.changes import Journal
from recollect.library.library import Library
from recollect.library.provider import ChatMessage, ClaudeStorageProvider
from recollect.library.writing import new_session_writer, session_writer, subagent_writer
from recollect.store.home import Home
from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"
T = "aaaa0000-0000-4000-8000-000000000002"
TODO = [{"content": "Write it", "status": "pending", "activeForm": "Writing it"}]


@pytest.fixture
def provider(tmp_path: Path) -> ClaudeStorageProvider:
    return provider_at(tmp_path)


def provider_at(place: Path, version: str = "2.1.325") -> ClaudeStorageProvider:
    return ClaudeStorageProvider(base_dir=place / "claude", data_dir=place / "data", client_version=version)


def log(provider: ClaudeStorageProvider, project: Path | str, session: str, subagent: str | None = None) -> str:
    return asyncio.run(provider.log_message(str(project), ChatMessage("user", "Hello"), session, subagent))


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


class TestLinks:
    @pytest.fixture
    def link(self, tmp_path: Path, cwd: Path) -> Path:
        (tmp_path / "link").symlink_to(cwd)
        return tmp_path / "link"

    @pytest.mark.parametrize("first", ["link", "app"])
    def test_a_project_is_the_same_by_its_link_and_by_its_path(
        self, first: str, tmp_path: Path, link: Path, cwd: Path, provider: ClaudeStorageProvider
    ) -> None:
        log(provider, tmp_path / first, S)
        for path in (link, cwd):
            log(provider, path, S)
            assert [item["session_id"] for item in asyncio.run(provider.get_sessions(str(path)))] == [S]
            assert asyncio.run(provider.get_session_messages(S, str(path)))
        assert asyncio.run(provider.reset(str(link))) == 1

    def test_a_link_to_elsewhere_is_another_project(
        self, tmp_path: Path, link: Path, cwd: Path, provider: ClaudeStorageProvider
    ) -> None:
        log(provider, link, S)
        link.unlink()
        (tmp_path / "other").mkdir()
        link.symlink_to(tmp_path / "other")
        with pytest.raises(NotFound):
            log(provider, link, S)
        assert asyncio.run(provider.reset(str(link))) == 0

    @pytest.mark.parametrize("odd", ["/a\0b", "/a\ud800b"])
    def test_a_path_that_cannot_be_fits_nothing(self, odd: str, cwd: Path, provider: ClaudeStorageProvider) -> None:
        log(provider, cwd, S)
        assert asyncio.run(provider.get_sessions(odd)) == []
        for change in (lambda: log(provider, odd, S), lambda: asyncio.run(provider.reset(odd))):
            with pytest.raises(Refused) as caught:
                change()
            assert caught.value.slug == "unusable-text"


class TestSeveralHomes:
    """S is in both homes, T in the second alone."""

    @pytest.fixture
    def both(self, tmp_path: Path, cwd: Path) -> ClaudeStorageProvider:
        for name, sessions in (("one", [S]), ("two", [S, T])):
            builder = HomeBuilder(tmp_path / name, version="2.1.325")
            for ident in sessions:
                builder.session(str(cwd), session_id=ident, modified="2026-03-02T10:00Z").user("hello")
            builder.write()
        provider = ClaudeStorageProvider(base_dir=tmp_path / "one", data_dir=tmp_path / "data")
        provider.library = Library([Home(tmp_path / "one"), Home(tmp_path / "two")])
        return provider

    @pytest.mark.parametrize(
        "change",
        [
            lambda p, cwd: p.log_message(cwd, ChatMessage("user", "x"), S),
            lambda p, cwd: p.log_message(cwd, ChatMessage("user", "x"), S, "a1"),
            lambda p, _: p.update_title(S, "T"),
            lambda p, _: p.fork_conversation(S),
            lambda p, _: p.save_todos(S, TODO),
        ],
    )
    def test_a_session_that_both_have_is_not_changed(
        self, change: Callable[..., Awaitable[Any]], both: ClaudeStorageProvider, tmp_path: Path, cwd: Path
    ) -> None:
        before = tree_state(tmp_path)
        with pytest.raises(Refused) as caught:
            asyncio.run(_of(change(both, str(cwd))))
        assert caught.value.slug == "several-homes"
        assert tree_state(tmp_path) == before

    def test_what_is_of_one_home_is_changed_there(self, both: ClaudeStorageProvider, tmp_path: Path, cwd: Path) -> None:
        before = tree_state(tmp_path / "one")
        asyncio.run(both.save_todos(T, TODO))
        assert [path.parts[-3] for path in tmp_path.glob("*/todos/*.json")] == ["two"]
        log(both, cwd, T)
        assert tree_state(tmp_path / "one") == before

    def test_a_project_is_reset_in_all_homes(self, both: ClaudeStorageProvider, tmp_path: Path, cwd: Path) -> None:
        assert asyncio.run(both.reset(str(cwd))) == 3
        assert not list(tmp_path.glob("*/projects/*/*.jsonl"))
        for home in (Home(tmp_path / "one"), Home(tmp_path / "two")):
            both.journal.undo(both.journal.record(None, [home]), home)
        assert len(list(tmp_path.glob("*/projects/*/*.jsonl"))) == 3

    def test_nothing_is_reset_where_one_home_refuses(
        self, both: ClaudeStorageProvider, tmp_path: Path, cwd: Path
    ) -> None:
        (tmp_path / "two" / "sessions").mkdir(exist_ok=True)
        (tmp_path / "two" / "sessions" / f"{os.getpid()}.json").write_text(
            f'{{"pid":{os.getpid()},"sessionId":"{T}","cwd":"/w"}}'
        )
        before = tree_state(tmp_path / "one")
        with pytest.raises(Exception, match="in use"):
            asyncio.run(both.reset(str(cwd)))
        assert tree_state(tmp_path / "one") == before


class TestSubAgents:
    @pytest.mark.parametrize("version", ["2.0.77", "2.1.8"])
    def test_beside_sessions_the_id_of_another_sessions_subagent_is_refused(
        self, version: str, tmp_path: Path, cwd: Path
    ) -> None:
        provider = provider_at(tmp_path, version)
        for ident in (S, T):
            log(provider, cwd, ident)
        log(provider, cwd, S, "a1234567")
        before = tree_state(tmp_path / "claude")
        with pytest.raises(Refused, match=S):
            log(provider, cwd, T, "a1234567")
        assert tree_state(tmp_path / "claude") == before
        log(provider, cwd, S, "a1234567")
        log(provider, cwd, T, "a7654321")

    def test_where_each_session_has_its_own_folder_ids_may_be_alike(
        self, provider: ClaudeStorageProvider, cwd: Path, tmp_path: Path
    ) -> None:
        for ident in (S, T):
            log(provider, cwd, ident)
            log(provider, cwd, ident, "a1234567")
        assert len(list(tmp_path.rglob("agent-a1234567.jsonl"))) == 2

    @pytest.mark.parametrize("version", ["2.1.325", "2.0.77", "2.0.26"])
    def test_a_session_begins_with_its_subagent(self, version: str, tmp_path: Path, cwd: Path) -> None:
        provider = provider_at(tmp_path, version)
        log(provider, cwd, S, "a1234567")
        (found,) = asyncio.run(provider.get_sessions(str(cwd)))
        assert found["session_id"] == S
        log(provider, cwd, S, "a1234567")
        log(provider, cwd, S)
        messages = asyncio.run(provider.get_session_messages(S, str(cwd)))
        assert [(item["text"], item["parent"]) for item in messages] == [("Hello", None)]
        session = provider.library.session(S)
        assert [len(subagent.rows) for subagent in session.conversation.subagents] == [2]
        assert session.summary.version == version

    def test_a_message_that_is_refused_begins_nothing(
        self, provider: ClaudeStorageProvider, tmp_path: Path, cwd: Path
    ) -> None:
        block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
        with pytest.raises(Refused):
            asyncio.run(provider.log_message(str(cwd), ChatMessage("user", [block]), S, "a1234567"))
        assert not list(tmp_path.rglob("*.jsonl"))

    def test_tasks_may_begin_it_together(self, provider: ClaudeStorageProvider, cwd: Path) -> None:
        async def together() -> None:
            subagents = ["a1", "a2", None, "a1"]
            await asyncio.gather(*(provider.log_message(str(cwd), ChatMessage("user", "x"), S, it) for it in subagents))

        asyncio.run(together())
        session = provider.library.session(S)
        assert len(session.thread.chain) == 1
        provider.library.refresh()
        assert sorted(len(subagent.rows) for subagent in provider.library.session(S).conversation.subagents) == [1, 2]


def test_what_was_written_is_read_at_once(provider: ClaudeStorageProvider, cwd: Path, tmp_path: Path) -> None:
    for number in range(1, 4):
        log(provider, cwd, S)
        assert len(asyncio.run(provider.get_session_messages(S))) == number
        assert asyncio.run(provider.get_session_stats(S))["messages"] == number
    log(provider_at(tmp_path), cwd, S)
    assert len(asyncio.run(provider.get_session_messages(S))) == 4, "what another one wrote"


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("folder", "slug"),
        [
            ("/tmp/a\0b", "unusable-text"), ("/tmp/a\ud800b", "unusable-text"), ("app", "not-absolute"),
            (None, "not-absolute"), ("/nowhere/app", "no-folder"),
        ],
    )  # fmt: skip
    def test_a_folder_of_no_project(
        self, folder: Any, slug: str, tmp_path: Path, cwd: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(Refused) as caught:
            new_session_writer(Home(tmp_path / "claude"), Journal(tmp_path / "data"), folder)
        assert caught.value.slug == slug

    @pytest.mark.parametrize("metadata", [None, {1: 2}, {"self": 1}, ["a"], {"uuid": "x"}])
    def test_metadata_that_is_none(self, metadata: Any, provider: ClaudeStorageProvider, cwd: Path) -> None:
        with pytest.raises(Refused) as caught:
            asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "x", metadata=metadata), S))
        assert caught.value.slug == "bad-content"
        assert not provider.home.exists()

    @pytest.mark.parametrize("ident", [None, 5, "x", S.upper()])
    def test_a_session_id_that_is_none(self, ident: Any, provider: ClaudeStorageProvider, cwd: Path) -> None:
        for change in (
            lambda: provider.log_message(str(cwd), ChatMessage("user", "x"), ident),
            lambda: provider.save_todos(ident, TODO),
        ):
            with pytest.raises(Refused) as caught:
                asyncio.run(_of(change()))
            assert caught.value.slug == "bad-session-id"

    @pytest.mark.parametrize("title", [None, 5, " "])
    def test_a_title_that_is_none(self, title: Any, provider: ClaudeStorageProvider, cwd: Path) -> None:
        log(provider, cwd, S)
        with pytest.raises(Refused) as caught:
            asyncio.run(provider.update_title(S, title))
        assert caught.value.slug == "empty-title"

    def test_subagents_have_the_same_names_in_to_do_lists(
        self, provider: ClaudeStorageProvider, cwd: Path, tmp_path: Path
    ) -> None:
        log(provider, cwd, S)
        for name in ("a.b", "a@b+c-d_e"):
            log(provider, cwd, S, name)
            assert asyncio.run(provider.save_todos(S, TODO, name)) == []
        odd: list[Any] = ["a..b", "ä", "", "x" * 101, "a/b", 5]
        for name in odd:
            for change in (
                lambda name=name: provider.save_todos(S, TODO, name),
                lambda name=name: provider.log_message(str(cwd), ChatMessage("user", "x"), S, name),
            ):
                with pytest.raises(Refused) as caught:
                    asyncio.run(_of(change()))
                assert caught.value.slug == "bad-subagent-id"
        assert len(list(tmp_path.rglob("todos/*.json"))) == 2


def test_a_transcript_that_is_a_link_is_written_where_it_leads(
    provider: ClaudeStorageProvider, cwd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(provider, cwd, S)
    (file,) = tmp_path.rglob("*.jsonl")
    file.rename(file.with_name("real"))
    file.symlink_to(file.with_name("real"))
    assert run(capsys, tmp_path / "claude", "append", S, "--role", "user", "more", "--force").code == 0
    assert file.is_symlink() and b"more" in file.with_name("real").read_bytes()


def test_a_writer_takes_the_callers_version_only_where_the_session_names_none(
    provider: ClaudeStorageProvider, cwd: Path
) -> None:
    log(provider, cwd, S)
    provider.library.refresh()
    writer = session_writer(provider.library.session(S), provider.journal, version="2.0.77")
    assert writer.context.version == "2.1.325"
    assert subagent_writer(writer, "a1").path.parent.name == "subagents"


async def _of(answer: Awaitable[Any]) -> Any:
    return await answer
