"""Appending to files whose rows are damaged: what is written is part of what the client resumes, or nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.append import SessionWriter
from recollect.errors import Refused
from recollect.format.encode import RowContext
from recollect.graph.thread import find_thread
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.store.read import read_transcript
from recollect.testing import DAMAGES

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"


def said(uuid: str, parent: str | None, second: int, **more: Any) -> dict[str, Any]:
    stamp = f"2026-01-01T00:00:{second:02d}.000Z"
    message = {"role": "user", "content": uuid}
    told = {"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": stamp, "isSidechain": False}
    return {**told, "message": message, **more}


def checkpoint(uuid: str) -> dict[str, Any]:
    return {"type": "last-prompt", "leafUuid": uuid, "explicit": True}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "claude" / "projects" / "-work-app"
    folder.mkdir(parents=True)
    return folder / f"{SESSION}.jsonl"


def writer_of(path: Path) -> SessionWriter:
    home = path.parents[2]
    return SessionWriter(
        Journal(home.parent / "data"), Home(home), path, RowContext(SESSION, "/work/app"), sync=False, force=True
    )


HIDING = {
    "a progress row has the same uuid": [
        said("a", None, 1), said("b", "a", 20, type="progress"), said("c", "a", 30), said("b", "c", 40),
    ],
    "told to end on a subagent's row": [said("a", None, 1), said("s", "a", 2, isSidechain=True), checkpoint("s")],
    "rows without uuids": [{key: value for key, value in said("a", None, 1).items() if "uu" not in key.lower()}],
}  # fmt: skip


@pytest.mark.parametrize("entries", HIDING.values(), ids=HIDING)
def test_what_the_client_would_not_resume_with_is_not_written(path: Path, entries: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
    path.write_bytes(data)
    with writer_of(path) as writer:
        with pytest.raises(Refused) as refused:
            writer.append_message("user", "see me")
        with pytest.raises(Refused):
            writer.planned_line("user", "see me")
    assert refused.value.slug == "append-hidden"
    assert path.read_bytes() == data
    assert writer.journal.records() == []


@pytest.mark.parametrize("name", ["leaf-time-missing", "leaf-time-numeric", "leaf-time-unparsable", "times-missing"])
def test_a_conversation_that_ends_on_a_row_without_a_time_is_gone_on_with(path: Path, name: str) -> None:
    """The client finds no conversation there, but all of it above a message that has a time."""
    path.write_bytes(DAMAGES[name].make(1))
    before = read_transcript(path, Home(path.parents[2]))
    with writer_of(path) as writer:
        uuid = writer.append_message("user", "see me")
    thread = find_thread(read_transcript(path, Home(path.parents[2])))
    assert find_thread(before).leaf is None
    assert thread.leaf == uuid
    assert len(thread.sent) > 5
    assert thread.sent[-2].uuid == [row.uuid for row in before.rows if row.is_message][-1]


def test_a_checkpoint_on_a_row_without_a_time_is_gone_on_from(path: Path) -> None:
    entries = [said("a", None, 1), said("b", "a", 2), said("c", "b", 3, timestamp=None), checkpoint("c")]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    with writer_of(path) as writer:
        uuid = writer.append_message("user", "see me")
        assert writer.hung_on == "c"
    thread = find_thread(read_transcript(path, Home(path.parents[2])))
    assert [row.uuid for row in thread.chain] == ["a", "b", "c", uuid]
