"""One change after the other, each behind what the one before it left: the real client resumes with what was meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.agreement import spoken
from tests.compat.ask import Question, ask_many

from recollect.edit.delete import plan_delete
from recollect.edit.fork import plan_fork
from recollect.edit.move import plan_move
from recollect.edit.state_lines import plan_rename, plan_rewind
from recollect.journal.changes import Change, Journal
from recollect.library.library import open_library
from recollect.library.session import Session
from recollect.library.writing import new_session_writer, session_writer, subagent_writer
from recollect.store.home import Home

pytestmark = pytest.mark.compat

VERSIONS = (clients.NEWEST, "2.1.197", "2.0.77")


class Story:
    """A home, two project folders that exist, and what is done to a session one after the other."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config"
        (self.config / "projects").mkdir(parents=True)
        self.old, self.new = folder / "old", folder / "new place"
        self.old.mkdir()
        self.new.mkdir()
        self.home, self.journal = Home(self.config), Journal(folder / "data")

    def session(self, session_id: str) -> Session:
        return open_library([self.config]).session(session_id)

    def begin(self, *words: str) -> tuple[str, list[str]]:
        with new_session_writer(self.home, self.journal, str(self.old)) as writer:
            uuids = [writer.append_message(("user", "assistant")[n % 2], text) for n, text in enumerate(words)]
        return writer.context.session_id, uuids

    def append(self, session_id: str, *words: str) -> list[str]:
        with session_writer(self.session(session_id), self.journal) as writer:
            return [writer.append_message(("user", "assistant")[n % 2], text) for n, text in enumerate(words)]

    def do(self, planned: Change | tuple[Change, object]) -> None:
        with planned[0] if isinstance(planned, tuple) else planned as change:
            change.commit()

    def undo(self) -> None:
        self.journal.undo(self.journal.record(), self.home)

    def texts(self, session_id: str, cwd: Path, version: str) -> list[str]:
        (answer,) = ask_many([Question(self.config, session_id, cwd)], version)
        assert answer.messages is not None, answer.error
        return [value for _, _, value in spoken(answer.blocks())]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fork_that_is_rewound_moved_and_brought_back(version: str, story: Story) -> None:
    first, uuids = story.begin("Q1", "A1", "Q2", "A2")
    with subagent_writer(session_writer(story.session(first), story.journal)) as subagent:
        subagent.append_message("user", "an errand")
    change, forked = plan_fork(story.journal, story.session(first).file, at=uuids[1], keep_uuids=True)
    story.do(change)
    fork = forked.session_id
    story.append(fork, "Q3", "A3")
    story.do(plan_rename(story.journal, story.session(fork).file, "A fork"))
    story.do(plan_rewind(story.journal, story.session(fork).file, uuids[0]))
    story.append(fork, "Q4", "A4")
    story.do(plan_move(story.journal, story.home, str(story.old), str(story.new)))
    story.append(fork, "Q5", "A5")
    story.append(fork, "Q6")
    story.undo()
    again, copied = plan_fork(story.journal, story.session(fork).file)
    story.do(again)
    story.do(plan_delete(story.journal, story.home, [story.session(fork).file]))
    story.undo()
    meant = ["Q1", "Q4", "A4", "Q5", "A5"]
    assert story.texts(fork, story.new, version) == meant
    assert story.texts(copied.session_id, story.new, version) == meant
    assert story.texts(first, story.new, version) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_behind_a_row_without_a_time(version: str, story: Story) -> None:
    """The client finds no conversation that ends there; behind a message that has a time, it finds all of it.

    2.0.77 chooses by times alone and keeps the first prompt only.
    """
    session, _ = story.begin("Q1", "A1", "Q2", "A2")
    path = story.session(session).file.path
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    del rows[-1]["timestamp"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with session_writer(story.session(session), story.journal, force=True) as writer:
        writer.append_message("user", "Q3")
        writer.append_message("assistant", "A3")
    assert story.texts(session, story.old, version) == ["Q1", "A1", "Q2", "A2", "Q3", "A3"]
