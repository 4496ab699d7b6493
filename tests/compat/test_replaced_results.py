"""Results that the client has taken out of the context stay out in a fork.

A `content-replacement` line names a call and the words that are sent in place of its result. The client since 2.1.70 follows it
in a terminal, where a rollout switch permits; with `-p` it sends the whole result, of a fork as of the original.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.ask import Question, ask_many
from tests.compat.in_terminal import terminal_blocks
from tests.compat.wire import Block

from recollect.edit.fork import plan_fork
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash

pytestmark = [pytest.mark.compat, pytest.mark.timeout(300)]

WHOLE, REPLACED = "a very long listing", "<persisted-output>the listing is elsewhere</persisted-output>"


@dataclass(frozen=True)
class Forked:
    original: Question
    forks: list[Question]
    """With new uuids, and with those of the original."""


@pytest.fixture
def forked(tmp_path: Path) -> Forked:
    folder = tmp_path.resolve()
    cwd = folder / "project"
    cwd.mkdir()
    home = HomeBuilder(folder / "config")
    t = home.session(str(cwd))
    t.user("Q1")
    t.call(bash("ls", WHOLE))
    t.assistant("A1")
    (call,) = t.calls
    replacement = {"kind": "tool-result", "toolUseId": call, "replacement": REPLACED}
    t.state("content-replacement", replacements=[replacement])
    at = t.user("Q2")
    t.assistant("A2")
    config = home.write()
    file, journal = open_library([config]).session(t.session_id).file, Journal(folder / "data")
    forks = []
    for keep_uuids in (False, True):
        change, result = plan_fork(journal, file, at=at, keep_uuids=keep_uuids)
        with change:
            change.commit()
        forks.append(Question(config, result.session_id, cwd))
    return Forked(Question(config, t.session_id, cwd), forks)


def results(blocks: list[Block]) -> list[str]:
    return [block.text for block in blocks if block.kind == "tool_result"]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="a terminal is needed, and tmux is not there")
@pytest.mark.parametrize(("version", "number"), [(clients.NEWEST, 0), ("2.1.197", 1)])
def test_a_terminal_sends_what_stands_in_their_place(forked: Forked, version: str, number: int) -> None:
    blocks = terminal_blocks(forked.forks[number], version)
    if blocks is None:
        pytest.skip("no network namespace here; without one this client could reach a network")
    assert results(blocks) == [REPLACED]
    assert [block.text for block in blocks if block.text in ("Q1", "A1", "Q2")] == ["Q1", "A1", "Q2"]


@pytest.mark.parametrize("version", [clients.NEWEST, "2.0.77"])
def test_where_the_client_does_not_follow_such_lines_a_fork_differs_in_nothing(forked: Forked, version: str) -> None:
    answers = ask_many([forked.original, forked.forks[0]], version)
    assert [results(answer.blocks()) for answer in answers] == [[WHOLE]] * 2
