"""The folder store: a Claude home to everybody who reads it, links that lead nowhere, summaries that follow."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contracts.store_kinds import (
    KEY,
    SESSION,
    SUBAGENT,
    Kind,
    everything_in,
    loaded,
    row,
    transcript,
)

import recollect
from recollect.errors import Refused, StoreBusy
from recollect.stores.folder import FolderSessionStore
from recollect.stores.protocol import SessionKey
from recollect.testing import sample_session


def test_a_folder_store_is_read_like_a_claude_home(tmp_path: Path) -> None:
    sample = sample_session()

    async def use() -> None:
        await FolderSessionStore(tmp_path).append(
            {"project_key": "-p", "session_id": sample.session_id}, sample.entries
        )

    asyncio.run(use())
    library = recollect.open(tmp_path)
    assert [summary.session_id for summary in library.sessions()] == [sample.session_id]
    assert library.session(sample.session_id).messages()[-1].text == "You are welcome."
    assert transcript(tmp_path).with_name(f"{sample.session_id}.jsonl").read_bytes() == sample.to_bytes()


def test_what_the_sdk_says_about_an_subagent_becomes_its_meta_file_and_comes_back(tmp_path: Path) -> None:
    described = {"type": "agent_metadata", "agentType": "helper", "toolUseId": "toolu_1"}
    meta = transcript(tmp_path).with_suffix("") / "subagents" / "agent-1.meta.json"

    async def use() -> None:
        store = FolderSessionStore(tmp_path)
        await store.append(SUBAGENT, [{**described, "agentType": "first"}, row(1), described])
        assert json.loads(meta.read_bytes()) == {"agentType": "helper", "toolUseId": "toolu_1"}
        assert await loaded(store, SUBAGENT) == [{**described, "agentType": "first"}, row(1), described]
        # The client itself writes no such line: there the file speaks.
        meta.with_name("agent-1.jsonl").write_text(json.dumps(row(1)) + "\n")
        assert await loaded(store, SUBAGENT) == [row(1), described]
        meta.write_text("[no object")
        assert await loaded(store, SUBAGENT) == [row(1)]
        await store.delete(SUBAGENT)

    asyncio.run(use())
    assert not meta.exists() and not meta.parent.exists()


def test_a_folder_store_loads_what_the_client_wrote_with_all_its_damage(tmp_path: Path) -> None:
    path = transcript(tmp_path)
    path.parent.mkdir(parents=True)
    glued = json.dumps(row(3)) + json.dumps(row(4))
    torn = json.dumps(row(5, inner={"type": "user", "uuid": "never-an-entry"}))[:-1]
    lines = ["\ufeff" + json.dumps(row(1)), json.dumps(row(2)) + "\r", "", glued, torn, "null", "[]", "\x00" * 300]
    last = json.dumps(row(6)).encode().replace(b"user", b"us\xffer")
    path.write_bytes("\n".join(lines).encode() + b"\n" + last)

    async def use() -> None:
        found = await loaded(FolderSessionStore(tmp_path))
        assert found == [*(row(number) for number in (1, 2, 3, 4)), {**row(6), "type": "us\ufffder"}]

    before = path.read_bytes()
    asyncio.run(use())
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["missing", "garbage", "of another file", "behind", "other fold"])
def test_summaries_follow_the_transcript_whatever_became_of_the_kept_ones(tmp_path: Path, damage: str) -> None:
    title = {"type": "custom-title", "customTitle": "Old"}
    prompt = {"type": "user", "uuid": "u", "message": {"content": "First words"}}

    async def use() -> None:
        store = FolderSessionStore(tmp_path)
        await store.append(KEY, [prompt, title])
        (kept,) = (tmp_path / ".recollect").rglob("*.json")
        assert json.loads(kept.read_bytes())["data"]["custom_title"] == "Old"
        if damage == "missing":
            kept.unlink()
        elif damage == "garbage":
            kept.write_bytes(b'{"fold": 1, "offset": "x"')
        elif damage == "of another file":
            text = transcript(tmp_path).read_bytes().replace(b"First words", b"Other words")
            transcript(tmp_path).write_bytes(text)
        elif damage == "other fold":
            kept.write_bytes(kept.read_bytes().replace(b'"fold":1', b'"fold":0').replace(b"Old", b"Odd"))
        else:
            with transcript(tmp_path).open("ab") as stream:
                stream.write(
                    b'{"type":"custom-title","customTitle":"By the client"}\n{"type":"tag","tag":"no line feed"}'
                )
        (summary,) = await store.list_session_summaries("-p")
        expected = {"first_prompt": "First words", "first_prompt_locked": True, "is_sidechain": False}
        expected["custom_title"] = "By the client" if damage == "behind" else "Old"
        if damage == "of another file":
            expected["first_prompt"] = "Other words"
        if damage == "behind":
            expected["tag"] = "no line feed"
        assert summary["data"] == expected
        assert summary["mtime"] == transcript(tmp_path).stat().st_mtime_ns // 1_000_000

    asyncio.run(use())


def link_projects(root: Path, outside: Path) -> None:
    root.mkdir()
    (root / "projects").symlink_to(outside)


def link_project(root: Path, outside: Path) -> None:
    (root / "projects").mkdir(parents=True)
    (root / "projects" / "-p").symlink_to(outside)


def link_transcript(root: Path, outside: Path) -> None:
    transcript(root).parent.mkdir(parents=True)
    transcript(root).symlink_to(outside / "victim.jsonl")


def link_session_folder(root: Path, outside: Path) -> None:
    transcript(root).parent.mkdir(parents=True)
    transcript(root).with_suffix("").symlink_to(outside)


def pipe_for_transcript(root: Path, outside: Path) -> None:
    transcript(root).parent.mkdir(parents=True)
    os.mkfifo(transcript(root))


def folder_for_transcript(root: Path, outside: Path) -> None:
    transcript(root).mkdir(parents=True)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("kind_name", ["folder", "folder-by-names"])
@pytest.mark.parametrize(
    "trick",
    [link_projects, link_project, link_transcript, link_session_folder, pipe_for_transcript, folder_for_transcript],
)
def test_links_and_devices_in_the_folder_lead_nowhere(
    tmp_path: Path, kind_name: str, trick: Callable[[Path, Path], None]
) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    (outside / "-p").mkdir(parents=True)
    for name in ("victim", f"-p/{SESSION}", SESSION, "agent-1"):
        (outside / f"{name}.jsonl").write_text('{"type":"secret"}\n')
    before = everything_in(outside)
    trick(root, outside)
    key: SessionKey = {**KEY, "subpath": "agent-1"} if trick is link_session_folder else KEY

    async def use() -> None:
        store = Kind(kind_name, root).open()
        for call in (store.append(key, [row(1)]), store.load(key), store.delete(key)):
            with pytest.raises(Refused):
                await call

    asyncio.run(use())
    assert everything_in(outside) == before


def test_a_transcript_with_a_second_name_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"type":"kept"}\n')
    path = transcript(tmp_path / "root")
    path.parent.mkdir(parents=True)
    os.link(outside, path)

    async def use() -> None:
        with pytest.raises(Refused, match="hard link"):
            await FolderSessionStore(tmp_path / "root").append(KEY, [row(1)])

    asyncio.run(use())
    assert outside.read_text() == '{"type":"kept"}\n'


def test_deleting_leaves_what_is_not_the_stores(tmp_path: Path) -> None:
    other = transcript(tmp_path).with_suffix("") / "tool-results" / "x.txt"

    async def use() -> None:
        store = FolderSessionStore(tmp_path)
        await store.append(KEY, [row(1)])
        await store.append(SUBAGENT, [row(1)])
        other.parent.mkdir(parents=True)
        other.write_text("not ours")
        await store.delete(KEY)

    asyncio.run(use())
    assert everything_in(tmp_path / "projects") == {str(other.relative_to(tmp_path / "projects")): b"not ours"}


def test_a_transcript_that_others_hold_is_busy(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")

    async def use() -> None:
        store = FolderSessionStore(tmp_path, wait=0.1)
        await store.append(KEY, [row(1)])
        with transcript(tmp_path).open("rb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            with pytest.raises(StoreBusy):
                await store.append(KEY, [row(2)])
            with pytest.raises(StoreBusy):
                await store.delete(KEY)
            assert await loaded(store) == [row(1)]
        await store.append(KEY, [row(2)])
        assert await loaded(store) == [row(1), row(2)]

    asyncio.run(use())


def test_an_append_that_waited_while_the_session_was_deleted_begins_it_anew(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")

    async def use() -> None:
        store = FolderSessionStore(tmp_path)
        await store.append(SUBAGENT, [row(1)])
        path = transcript(tmp_path).with_suffix("") / "subagents" / "agent-1.jsonl"
        with path.open("rb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            waiting = asyncio.create_task(store.append(SUBAGENT, [row(1), row(2)]))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            path.unlink()  # as a deletion by another process does it, folders and all
            path.parent.rmdir()
        await waiting
        assert await loaded(store, SUBAGENT) == [row(1), row(2)]

    asyncio.run(use())
