"""Titles, tags, the archive and rewinds are appended lines: no byte before them changes, and the file keeps its time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.edit.forking import Forge

from recollect.edit.state_lines import (
    find_row,
    plan_archive,
    plan_rename,
    plan_rewind,
    plan_tag,
    plan_unarchive,
    title_words,
)
from recollect.errors import NotFound, Refused, StoreBusy
from recollect.graph.thread import find_thread
from recollect.journal.changes import Change
from recollect.store.read import read_transcript
from recollect.store.scan import SessionFile
from recollect.testing import HomeBuilder, TranscriptBuilder


class Scene:
    """A session of two turns, and a journal."""

    def __init__(self, folder: Path) -> None:
        builder = HomeBuilder(folder / "claude")
        self.t: TranscriptBuilder = builder.session("/w/app", modified="2026-03-02T10:00Z")
        self.uuids = [uuid for n in (1, 2) for uuid in (self.t.user(f"Q{n}"), self.t.assistant(f"A{n}"))]
        self.forge = Forge(builder)

    @property
    def file(self) -> SessionFile:
        return self.forge.file(self.t.session_id)

    def commit(self, change: Change) -> list[dict[str, Any]]:
        """The lines that the change appended; the file kept its bytes and its time."""
        path, before = self.file.path, self.file.path.read_bytes()
        time = path.stat().st_mtime_ns
        with change:
            change.commit()
        after = path.read_bytes()
        assert after.startswith(before)
        assert path.stat().st_mtime_ns == time
        return [json.loads(line) for line in after[len(before) :].splitlines()]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_title_is_put_on_one_line(scene: Scene) -> None:
    (line,) = scene.commit(plan_rename(scene.forge.journal, scene.file, "  Two\n words "))
    assert line == {"type": "custom-title", "customTitle": "Two words", "sessionId": scene.t.session_id}


@pytest.mark.parametrize("title", ["", " \n ", 5, None])
def test_what_is_no_title(title: Any) -> None:
    with pytest.raises(Refused) as refused:
        title_words(title)
    assert refused.value.slug == "empty-title"


def test_a_tag_is_set_and_removed(scene: Scene) -> None:
    (line,) = scene.commit(plan_tag(scene.forge.journal, scene.file, "later"))
    assert line["tag"] == "later"
    change = plan_tag(scene.forge.journal, scene.file, None)
    assert "tag" in change.title
    (line,) = scene.commit(change)
    assert line["tag"] == ""


def test_an_empty_tag_is_refused(scene: Scene) -> None:
    with pytest.raises(Refused) as refused:
        plan_tag(scene.forge.journal, scene.file, " ")
    assert refused.value.slug == "empty-tag"


def test_the_archive_gives_the_tag_back(scene: Scene) -> None:
    journal = scene.forge.journal
    scene.commit(plan_tag(journal, scene.file, "later"))
    lines = scene.commit(plan_archive(journal, scene.file, "Old"))
    assert [line["type"] for line in lines] == ["tag", "custom-title"]
    with pytest.raises(Refused, match="archived already"):
        plan_archive(journal, scene.file)
    change, tag = plan_unarchive(journal, scene.file, "New")
    assert tag == "later"
    lines = scene.commit(change)
    assert [line.get("tag") or line.get("customTitle") for line in lines] == ["later", "New"]
    with pytest.raises(Refused, match="not archived"):
        plan_unarchive(journal, scene.file)


def test_an_archived_session_without_a_tag_has_none_afterwards(scene: Scene) -> None:
    scene.commit(plan_archive(scene.forge.journal, scene.file))
    change, tag = plan_unarchive(scene.forge.journal, scene.file)
    assert tag is None
    assert scene.commit(change)[0]["tag"] == ""


def test_a_rewind_ends_the_conversation_at_a_message(scene: Scene) -> None:
    change, uuid = plan_rewind(scene.forge.journal, scene.file, scene.uuids[1][:8])
    assert uuid == scene.uuids[1]
    scene.commit(change)
    thread = find_thread(read_transcript(scene.file.path, scene.file.home))
    assert [row.uuid for row in thread.sent] == scene.uuids[:2]


def test_a_rewind_to_where_the_conversation_cannot_end_is_refused(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    t = builder.session("/w/app", modified="2026-03-02T10:00Z")
    t.user("Q1")
    progress = t.progress("bash_progress", tool_use_id="toolu_1")
    t.assistant("A1")
    forge = Forge(builder)
    with pytest.raises(Refused) as refused:
        plan_rewind(forge.journal, forge.file(t.session_id), progress)
    assert refused.value.slug == "not-in-conversation"
    assert "recollect thread" in str(refused.value.hint)


@pytest.mark.parametrize("message", ["abc", "ffffffff", ""])
def test_a_message_that_is_not_there(message: str, scene: Scene) -> None:
    transcript = read_transcript(scene.file.path, scene.file.home)
    with pytest.raises(NotFound) as missing:
        find_row(transcript, message, scene.t.session_id)
    assert missing.value.slug == "no-such-message"


def test_a_start_that_fits_several_messages(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    t = builder.session("/w/app")
    uuids = [f"abcd0000-0000-4000-8000-00000000000{number}" for number in (1, 2)]
    for uuid in uuids:
        t.user("x", uuid=uuid)
    file = Forge(builder).file(t.session_id)
    with pytest.raises(NotFound) as missing:
        find_row(read_transcript(file.path, file.home), "abcd", t.session_id)
    assert missing.value.slug == "ambiguous-message"
    assert missing.value.nearest == tuple(uuids)


def test_a_session_that_was_written_just_now_is_left_alone_unless_forced(scene: Scene) -> None:
    os.utime(scene.file.path)
    with pytest.raises(StoreBusy):
        plan_rename(scene.forge.journal, scene.file, "T")
    assert scene.commit(plan_rename(scene.forge.journal, scene.file, "T", force=True))[0]["customTitle"] == "T"
