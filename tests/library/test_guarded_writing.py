"""Writers of the library and the provider: new ids only, no empty messages, and sessions in use only by force."""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running import run, tree_state

from recollect.edit.append import SessionWriter, project_folder
from recollect.errors import NotFound, Refused, StoreBusy
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.library.provider import ChatMessage, ClaudeStorageProvider
from recollect.library.writing import new_session_writer, session_writer, subagent_writer
from recollect.store.home import Home
from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"
TODO = [{"content": "Write it", "status": "pending", "activeForm": "Writing it"}]


@pytest.fixture
def root(tmp_path: Path, cwd: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session(str(cwd), session_id=S, modified="2026-03-02T10:00Z")
    t.user("one")
    t.assistant("two")
    return builder.write()


@pytest.fixture
def journal(own_home: Path) -> Journal:
    return Journal(own_home / "recollect" / "data")


@pytest.fixture
def provider(root: Path) -> ClaudeStorageProvider:
    return ClaudeStorageProvider(base_dir=root)


def opened(root: Path) -> None:
    """A client has the session open: this very process stands for it."""
    (root / "sessions").mkdir(exist_ok=True)
    (root / "sessions" / f"{os.getpid()}.json").write_text(f'{{"pid":{os.getpid()},"sessionId":"{S}","cwd":"/w"}}')


def written(root: Path) -> None:
    with transcript(root).open("ab") as stream:
        stream.write(b'{"type":"tag","tag":"x","sessionId":"%s"}\n' % S.encode())
    os.utime(transcript(root), (time.time() - 3, time.time() - 3))


def transcript(root: Path) -> Path:
    return next(root.glob(f"projects/*/{S}.jsonl"))


def writer_for(root: Path, journal: Journal, **options: Any) -> SessionWriter:
    return session_writer(open_library([root]).session(S), journal, **options)


class TestNewSessions:
    @pytest.mark.parametrize("elsewhere", [False, True], ids=["same project", "another project"])
    def test_an_id_that_is_there_is_refused(
        self, elsewhere: bool, root: Path, cwd: Path, tmp_path: Path, journal: Journal
    ) -> None:
        before = tree_state(root)
        with pytest.raises(Refused) as caught:
            new_session_writer(Home(root), journal, str(tmp_path if elsewhere else cwd), session_id=S)
        assert caught.value.slug == "exists"
        assert tree_state(root) == before

    def test_also_where_it_comes_before_the_first_line(self, root: Path, cwd: Path, journal: Journal) -> None:
        ident = str(uuid.uuid4())
        first, second = (new_session_writer(Home(root), journal, str(cwd), session_id=ident) for _ in range(2))
        with first, second:
            first.append_message("user", "one")
            with pytest.raises(Refused) as caught:
                second.append_message("user", "another")
            assert caught.value.slug == "exists"
            first.append_message("assistant", "two")
        assert [row.uuid for row in open_library([root]).session(ident).thread.chain][1:] == [first.leaf]

    def test_an_empty_id_is_none(self, root: Path, cwd: Path, journal: Journal) -> None:
        with pytest.raises(Refused):
            new_session_writer(Home(root), journal, str(cwd), session_id="")

    def test_two_tasks_may_begin_a_session_together(self, provider: ClaudeStorageProvider, cwd: Path) -> None:
        ident = str(uuid.uuid4())

        async def both() -> None:
            say = provider.log_message
            await asyncio.gather(*(say(str(cwd), ChatMessage("user", f"{n}"), ident) for n in range(6)))

        asyncio.run(both())
        messages = asyncio.run(provider.get_session_messages(ident))
        assert sorted(message["text"] for message in messages) == [str(n) for n in range(6)]

    def test_one_that_has_no_row_yet_is_of_its_folder(
        self, provider: ClaudeStorageProvider, root: Path, cwd: Path, tmp_path: Path
    ) -> None:
        """As it is for a moment when another task begins it."""
        ident = str(uuid.uuid4())
        path = project_folder(Home(root), str(cwd)) / f"{ident}.jsonl"
        path.write_bytes(b"")
        os.utime(path, (1_700_000_000, 1_700_000_000))
        with pytest.raises(NotFound) as caught:
            asyncio.run(provider.log_message(str(tmp_path), ChatMessage("user", "elsewhere"), ident))
        assert caught.value.slug == "other-project"
        asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "hello"), ident))
        assert json.loads(path.read_bytes())["cwd"] == os.path.realpath(cwd)

    def test_a_subagent_may_speak_first(self, provider: ClaudeStorageProvider, cwd: Path) -> None:
        ident = str(uuid.uuid4())
        asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "look"), ident, subagent_id="a1b2c3"))
        asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "hello"), ident))
        provider.library.refresh()
        assert [item["text"] for item in asyncio.run(provider.get_session_messages(ident))] == ["hello"]


class TestEmptyMessages:
    @pytest.mark.parametrize("content", ["", "  \n\u00a0", [], [{"type": "text", "text": " "}]])
    @pytest.mark.parametrize("role", ["user", "assistant"])
    def test_nothing_to_say_is_refused(self, role: str, content: Any, root: Path, journal: Journal) -> None:
        before = tree_state(root)
        with writer_for(root, journal) as writer, pytest.raises(Refused) as caught:
            writer.append_message(role, content)
        assert caught.value.slug == "empty-message"
        assert tree_state(root) == before
        assert journal.records() == []

    def test_an_empty_result_or_a_picture_says_something(self, root: Path, journal: Journal) -> None:
        with writer_for(root, journal) as writer:
            call = writer.append_tool_call("Bash", {"command": "true"})
            writer.append_tool_result(call, "")
            writer.append_image("aGk=", "image/png", text=" ")
        assert len(open_library([root]).session(S).thread.chain) == 5

    @pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["done", "dry run"])
    @pytest.mark.parametrize("text", ["", "   "])
    def test_on_the_command_line(
        self, text: str, more: tuple[str, ...], root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "empty").write_text(text)
        before = tree_state(root)
        for words in ([text], ["--file", str(tmp_path / "empty")]):
            refused = run(capsys, root, "append", S, "--role", "user", *words, *more)
            assert refused.code == 6
            assert "empty-message" in refused.err
        assert tree_state(root) == before


Write = Callable[[ClaudeStorageProvider, str, bool], Awaitable[Any]]
WRITES: dict[str, Write] = {
    "log_message": lambda p, cwd, force: p.log_message(cwd, ChatMessage("user", "x"), S, force=force),
    "log_message of a subagent": lambda p, cwd, force: p.log_message(
        cwd, ChatMessage("user", "x"), S, "a1", force=force
    ),
    "save_todos": lambda p, _, force: p.save_todos(S, TODO, force=force),
    "update_title": lambda p, _, force: p.update_title(S, "T", force=force),
}


class TestSessionsInUse:
    @pytest.mark.parametrize("name", WRITES)
    def test_the_provider_writes_only_by_force(
        self, name: str, root: Path, cwd: Path, provider: ClaudeStorageProvider
    ) -> None:
        opened(root)
        before = tree_state(root)
        with pytest.raises(StoreBusy):
            asyncio.run(_of(WRITES[name](provider, str(cwd), False)))
        assert tree_state(root) == before
        asyncio.run(_of(WRITES[name](provider, str(cwd), True)))
        assert tree_state(root) != before

    @pytest.mark.parametrize("name", ["log_message", "save_todos", "update_title"])
    def test_nor_what_somebody_wrote_just_now(
        self, name: str, root: Path, cwd: Path, provider: ClaudeStorageProvider
    ) -> None:
        written(root)
        with pytest.raises(StoreBusy):
            asyncio.run(_of(WRITES[name](provider, str(cwd), False)))

    def test_a_provider_goes_on_with_what_it_wrote_itself(
        self, root: Path, cwd: Path, provider: ClaudeStorageProvider
    ) -> None:
        asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "three"), S))
        opened(root)
        for name in ("log_message", "log_message of a subagent", "save_todos", "update_title", "log_message"):
            asyncio.run(_of(WRITES[name](provider, str(cwd), False)))
        written(root)
        with pytest.raises(StoreBusy):
            asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "four"), S))

    def test_a_writer_goes_on_behind_its_own_lines_only(self, root: Path, journal: Journal) -> None:
        with writer_for(root, journal) as writer:
            writer.append_message("user", "three")
            opened(root)
            writer.append_message("assistant", "four")
            writer.append_entry({"type": "tag", "tag": "x", "sessionId": S})
            subagent_writer(writer, "a1b2c3").append_message("user", "look")
            written(root)
            for say in (lambda: writer.append_message("user", "no"), lambda: writer.append_entry({"type": "x"})):
                before = transcript(root).read_bytes()
                with pytest.raises(StoreBusy):
                    say()
                assert transcript(root).read_bytes() == before

    def test_a_writer_by_force_does_not_ask(self, root: Path, journal: Journal) -> None:
        opened(root)
        with pytest.raises(StoreBusy), writer_for(root, journal) as writer:
            writer.append_message("user", "three")
        assert journal.records() == []
        with writer_for(root, journal, force=True) as writer:
            writer.append_message("user", "three")
            written(root)
            writer.append_message("assistant", "four")
            subagent_writer(writer, "a1b2c3").append_message("user", "look")

    def test_who_wrote_the_last_line_may_go_on_but_not_rewrite(
        self, root: Path, cwd: Path, provider: ClaudeStorageProvider
    ) -> None:
        asyncio.run(provider.log_message(str(cwd), ChatMessage("user", "three"), S))
        opened(root)
        with pytest.raises(StoreBusy):
            asyncio.run(provider.reset(str(cwd)))

    @pytest.mark.parametrize(
        "arguments", [("add", "x"), ("set", "1", "in_progress"), ("remove", "1")], ids=lambda item: item[0]
    )
    @pytest.mark.parametrize("kind", ["todos", "tasks"])
    def test_to_dos_on_the_command_line(
        self, kind: str, arguments: tuple[str, ...], root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        run(capsys, root, "todo", S, "add", "first", "--kind", kind)
        opened(root)
        before = tree_state(root)
        assert run(capsys, root, "todo", S, *arguments, "--kind", kind).code == 5
        assert tree_state(root) == before
        assert run(capsys, root, "todo", S, *arguments, "--kind", kind, "--force").code == 0
        assert tree_state(root) != before


async def _of(answer: Awaitable[Any]) -> Any:
    return await answer
