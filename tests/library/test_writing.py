"""Writers from code: subagents in the layout of every client age, and whose session the provider changes."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.running import tree_state

import recollect
from recollect.edit.append import SessionWriter
from recollect.errors import NotFound, Refused
from recollect.journal.changes import Journal
from recollect.library.provider import ClaudeStorageProvider
from recollect.library.writing import new_session_writer, subagent_writer
from recollect.store.home import Home

Row = dict[str, Any]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    (tmp_path / "app").mkdir()
    return tmp_path


def new(place: Path, version: str) -> SessionWriter:
    home, journal = Home(place / "claude"), Journal(place / "data")
    return new_session_writer(home, journal, str(place / "app"), version=version, sync=False)


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def talk_with_subagent(place: Path, version: str, **told: Any) -> tuple[SessionWriter, SessionWriter, str]:
    with new(place, version) as main:
        main.append_message("user", "Look around")
        call = main.append_tool_call("Task", {"prompt": "errand"})
        with subagent_writer(main, tool_use_id=call, sync=False, **told) as subagent:
            subagent.append_message("user", "errand")
            subagent.append_message("assistant", "report")
        main.append_tool_result(call, "report")
    return main, subagent, call


@pytest.mark.parametrize("version", ["2.1.70", "2.1.325"])
def test_a_subagent_says_in_a_file_beside_it_what_it_is(place: Path, version: str) -> None:
    main, subagent, call = talk_with_subagent(place, version, subagent_type="Explore", description="look")
    meta = json.loads(subagent.path.with_suffix(".meta.json").read_bytes())
    assert meta == {"agentType": "Explore", "description": "look", "toolUseId": call, "spawnDepth": 1}
    (found,) = recollect.open(place / "claude").session(main.context.session_id).conversation.subagents
    assert (found.tool_use_id, found.linked_by, found.layout) == (call, "meta", "subagents")
    assert rows_of(subagent.path)[0]["parentUuid"] is None


@pytest.mark.parametrize("version", ["2.1.9", "2.1.69", "2.0.77", "2.0.26"])
def test_clients_before_that_get_no_such_file(place: Path, version: str) -> None:
    talk_with_subagent(place, version)
    assert not list((place / "claude").rglob("*.meta.json"))


def test_the_file_beside_it_goes_and_comes_with_the_subagent(place: Path) -> None:
    with new(place, "2.1.325") as main:
        main.append_message("user", "one")
    before = tree_state(place / "claude" / "projects").keys()
    for number in range(2):
        with subagent_writer(main, "a1", description=f"number {number}", sync=False) as subagent:
            subagent.append_message("user", "errand")
    meta = subagent.path.with_suffix(".meta.json")
    assert json.loads(meta.read_bytes())["description"] == "number 0", "what is there is not written again"
    journal = Journal(place / "data")
    for _ in range(2):
        journal.undo(journal.record(), main.home)
    assert tree_state(place / "claude" / "projects").keys() == before


def test_a_subagent_of_a_subagent_stands_beside_it(place: Path) -> None:
    with new(place, "2.1.325") as main:
        main.append_message("user", "one")
        with subagent_writer(main, sync=False) as subagent:
            subagent.append_message("user", "errand")
            with subagent_writer(subagent, sync=False) as inner:
                inner.append_message("user", "errand of the errand")
    assert inner.path.parent == subagent.path.parent
    meta = json.loads(inner.path.with_suffix(".meta.json").read_bytes())
    assert meta["parentAgentId"] == subagent.context.subagent_id


@pytest.mark.parametrize("version", ["1.0.98", "2.0.26"])
def test_inside_the_main_file_a_subagents_first_row_has_no_parent(place: Path, version: str) -> None:
    main, subagent, call = talk_with_subagent(place, version)
    assert subagent.path == main.path
    rows = rows_of(main.path)
    side = [row for row in rows if row["isSidechain"]]
    own = [row for row in rows if not row["isSidechain"]]
    assert [row["parentUuid"] for row in side] == [None, side[0]["uuid"]]
    assert [row["parentUuid"] for row in own] == [None, *(row["uuid"] for row in own[:-1])]
    session = recollect.open(place / "claude").session(main.context.session_id)
    assert [row.uuid for row in session.thread.chain] == [row["uuid"] for row in own]
    (found,) = session.conversation.subagents
    assert (found.tool_use_id, len(found.rows)) == (call, 2)
    with subagent_writer(main, subagent.context.subagent_id, sync=False) as again:
        again.append_message("user", "go on")
    with subagent_writer(main, sync=False) as second:
        second.append_message("user", "another errand")
    assert [row["parentUuid"] for row in rows_of(main.path)[-2:]] == [side[1]["uuid"], None]


@pytest.mark.parametrize("name", ["a b\n", "a b", "a\n", "../x", "a..b", "", "ä", "a/b", "x" * 101, 5])
def test_what_is_no_subagent_id(place: Path, name: Any) -> None:
    with pytest.raises(Refused) as caught:
        subagent_writer(new(place, "2.1.325"), name)
    assert caught.value.slug == "bad-subagent-id"


# --- the provider -----------------------------------------------------------------------------------------------------


def provider_of(place: Path) -> ClaudeStorageProvider:
    return ClaudeStorageProvider(base_dir=place / "claude", data_dir=place / "data")


def hello(**more: Any) -> recollect.ChatMessage:
    return recollect.ChatMessage("user", "Hello", **more)


@pytest.mark.parametrize(
    ("project", "slug"), [("app", "not-absolute"), ("./app", "not-absolute"), ("/nowhere/app", "no-folder")]
)
def test_a_session_begins_in_a_folder_that_exists(
    place: Path, monkeypatch: pytest.MonkeyPatch, project: str, slug: str
) -> None:
    monkeypatch.chdir(place)
    with pytest.raises(Refused) as caught:
        asyncio.run(provider_of(place).log_message(project, hello(), str(uuid.uuid4())))
    assert caught.value.slug == slug
    assert not list((place / "claude").rglob("*.jsonl"))


def test_a_session_whose_folder_is_gone_is_still_logged_to(place: Path) -> None:
    provider, session = provider_of(place), str(uuid.uuid4())
    asyncio.run(provider.log_message(str(place / "app"), hello(), session))
    (place / "app").rmdir()
    asyncio.run(provider.log_message(str(place / "app"), hello(), session))
    (file,) = (place / "claude").rglob("*.jsonl")
    assert len(rows_of(file)) == 2


@pytest.mark.parametrize(
    "message",
    [
        recollect.ChatMessage("user", None),  # type: ignore[arg-type]
        recollect.ChatMessage("user", [{"type": "odd", "x": float("nan")}]),
        hello(metadata={"uuid": str(uuid.uuid4())}),
        hello(metadata={"role": "assistant"}),
        hello(metadata={"note": float("nan")}),
    ],
)
def test_a_message_that_is_none_makes_no_home(place: Path, message: recollect.ChatMessage) -> None:
    provider = ClaudeStorageProvider(base_dir=place / "other", data_dir=place / "data")
    with pytest.raises(Refused) as caught:
        asyncio.run(provider.log_message(str(place / "app"), message, str(uuid.uuid4())))
    assert caught.value.slug == "bad-content"
    assert not (place / "other").exists()


def test_results_of_unknown_calls_are_logged_only_if_that_is_meant(place: Path) -> None:
    provider, session = provider_of(place), str(uuid.uuid4())
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    with pytest.raises(Refused):
        asyncio.run(provider.log_message(str(place / "app"), recollect.ChatMessage("user", [block]), session))
    meant = recollect.ChatMessage("user", [block], allow_unknown_call=True)
    assert asyncio.run(provider.log_message(str(place / "app"), meant, session))


def test_only_the_session_of_that_very_id_is_changed(place: Path) -> None:
    provider, session = provider_of(place), str(uuid.uuid4())
    asyncio.run(provider.log_message(str(place / "app"), hello(), session))
    asyncio.run(provider.update_title(session, "A first talk"))
    before = tree_state(place / "claude")
    for name in ("A first talk", "last", session[:8], session.upper()):
        with pytest.raises(NotFound):
            asyncio.run(provider.update_title(name, "Another"))
        with pytest.raises(NotFound):
            asyncio.run(provider.fork_conversation(name))
    assert tree_state(place / "claude") == before


def test_a_project_is_reset_by_its_whole_path_only(place: Path) -> None:
    provider = provider_of(place)
    asyncio.run(provider.log_message(str(place / "app"), hello(), str(uuid.uuid4())))
    before = tree_state(place / "claude")
    (folder,) = (place / "claude" / "projects").iterdir()
    for name in ("app", "./app", folder.name):
        with pytest.raises(Refused) as caught:
            asyncio.run(provider.reset(name))
        assert caught.value.slug == "not-absolute"
    assert asyncio.run(provider.reset("/")) == 0
    assert tree_state(place / "claude") == before
    assert asyncio.run(provider.reset(f"{place}/app/")) == 1
