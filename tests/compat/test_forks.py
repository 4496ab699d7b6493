"""Forks that Recollect makes are resumed by the real client, old and new, with exactly the messages that were meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from tests.compat import clients
from tests.compat.agreement import Said, spoken
from tests.compat.ask import Answer, Question, ask_many

from recollect.edit.fork import ForkResult, plan_fork
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.testing import HomeBuilder, TranscriptBuilder
from recollect.testing.toolcalls import bash, read

pytestmark = [pytest.mark.compat, pytest.mark.timeout(900)]

VERSIONS = (clients.NEWEST, "2.1.197", "2.0.77")


@dataclass(frozen=True)
class Meant:
    """How a session is forked, and what the fork must send: words, and ids of calls and results."""

    said: Sequence[str]
    options: dict[str, Any]


Build = Callable[[TranscriptBuilder], Meant]
BUILDS: dict[str, tuple[str, Build]] = {}


def kind(name: str, version: str = "2.1.326") -> Callable[[Build], Build]:
    def note(build: Build) -> Build:
        BUILDS[name] = (version, build)
        return build

    return note


def turns(t: TranscriptBuilder, *numbers: int) -> list[str]:
    """Turns "Q1", "A1", ...: returns the uuids of prompts and answers."""
    uuids = []
    for number in numbers:
        uuids += [t.user(f"Q{number}"), t.assistant(f"A{number}")]
    return uuids


@kind("at the end")
def at_the_end(t: TranscriptBuilder) -> Meant:
    turns(t, 1, 2)
    return Meant(["Q1", "A1", "Q2", "A2"], {})


@kind("inside, uuids kept")
def inside(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2, 3)
    return Meant(["Q1", "A1", "Q2", "A2"], {"at": uuids[3], "keep_uuids": True})


@kind("at a prompt")
def at_a_prompt(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    return Meant(["Q1", "A1", "Q2"], {"at": uuids[2]})


@kind("line separators in the words, and times that run back")
def separators(t: TranscriptBuilder) -> Meant:
    words = ["one\u2028two\u2029three\x0cfour \x85 five", "[\u2028]"]
    rows = [t.user(words[0]), t.assistant(words[1]), *turns(t, 2)]
    times = [t.entry(uuid)["timestamp"] for uuid in rows]
    for uuid, moment in zip(rows, reversed(times), strict=True):
        t.entry(uuid)["timestamp"] = moment
    return Meant([*words, "Q2", "A2"], {})


@kind("after two compactions, uuids kept")
def after_two_compactions(t: TranscriptBuilder) -> Meant:
    turns(t, 1)
    t.compact("auto", "FIRST")
    turns(t, 2)
    t.compact("auto", "SECOND")
    uuids = turns(t, 3, 4)
    return Meant(["SECOND", "Q3", "A3"], {"at": uuids[1], "keep_uuids": True})


@kind("before a compaction")
def before_a_compaction(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    t.compact("manual", "SUMMARY", preserved=uuids[2:])
    turns(t, 3)
    return Meant(["Q1", "A1"], {"at": uuids[1]})


@kind("at a compaction's boundary")
def at_a_boundary(t: TranscriptBuilder) -> Meant:
    """What it summarised, with the messages that it preserved where they were said."""
    uuids = turns(t, 1, 2)
    t.compact("auto", "SUMMARY", preserved=uuids[2:])
    boundary = t.row_uuids[-2]
    turns(t, 3)
    return Meant(["Q1", "A1", "Q2", "A2"], {"at": boundary})


@kind("with preserved messages")
def preserved(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    t.compact("auto", "SUMMARY", preserved=uuids[2:])
    turns(t, 3)
    return Meant(["SUMMARY", "Q2", "A2", "Q3", "A3"], {})


@kind("with preserved messages and nothing after them, uuids kept")
def preserved_last(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    t.compact("auto", "SUMMARY", preserved=uuids[2:])
    return Meant(["SUMMARY", "Q2", "A2"], {"keep_uuids": True})


@kind("within preserved messages")
def within_preserved(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    t.compact("auto", "SUMMARY", preserved=uuids[2:])
    turns(t, 3)
    return Meant(["SUMMARY", "Q2"], {"at": uuids[2]})


@kind("with a preserved segment", "2.1.100")
def preserved_segment(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    t.compact("auto", "SUMMARY", preserved=uuids[2:])
    turns(t, 3)
    return Meant(["SUMMARY", "Q2", "A2", "Q3", "A3"], {})


def _parallel(t: TranscriptBuilder) -> list[str]:
    t.user("Q1")
    t.parallel([bash("ls", "a\n"), read("/w/app/a", "x"), bash("pwd", "/w\n")], "LOOK")
    t.assistant("A1")
    return list(t.calls)


@kind("with parallel tools")
def parallel_tools(t: TranscriptBuilder) -> Meant:
    calls = _parallel(t)
    turns(t, 2)
    return Meant(["Q1", "LOOK", *calls, *calls, "A1", "Q2", "A2"], {})


@kind("with subagents")
def subagents(t: TranscriptBuilder) -> Meant:
    t.user("Q1")
    subagent = t.subagent("find it")
    subagent.call(bash("grep", "x"))
    subagent.finish("FOUND")
    t.assistant("A1")
    return Meant(["Q1", *t.calls, *t.calls, "A1"], {})


@kind("with subagents beside it, uuids kept", "2.0.77")
def subagents_beside(t: TranscriptBuilder) -> Meant:
    return Meant(subagents(t).said, {"keep_uuids": True})


@kind("with subagents inside", "2.0.26")
def subagents_inside(t: TranscriptBuilder) -> Meant:
    return subagents(t)


@kind("from a branch that was left")
def from_a_branch(t: TranscriptBuilder) -> Meant:
    uuids = turns(t, 1, 2)
    t.rewind(uuids[1])
    turns(t, 3)
    return Meant(["Q1", "A1", "Q2", "A2"], {"branch": 1})


@kind("beside a branch that was left, with parallel tools, uuids kept")
def beside_a_branch(t: TranscriptBuilder) -> Meant:
    calls = _parallel(t)
    at = t.head
    turns(t, 2)
    t.rewind(at)
    turns(t, 3)
    return Meant(["Q1", "LOOK", *calls, *calls, "A1", "Q3", "A3"], {"keep_uuids": True})


@dataclass(frozen=True)
class Fork:
    meant: Meant
    result: ForkResult
    question: Question


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fork]:
    """All kinds of sessions in one home, and a fork of each."""
    folder = tmp_path_factory.mktemp("forks").resolve()
    cwd = folder / "project"
    cwd.mkdir()
    home = HomeBuilder(folder / "config")
    built = {}
    for name, (version, build) in BUILDS.items():
        builder = home.session(str(cwd), version=version)
        built[name] = (builder.session_id, build(builder))
    config = home.write()
    library, journal = open_library([config]), Journal(folder / "data")
    found = {}
    for name, (session, meant) in built.items():
        change, result = plan_fork(journal, library.session(session).file, **meant.options)
        with change:
            change.commit()
        found[name] = Fork(meant, result, Question(config, result.session_id, cwd))
    return found


@pytest.fixture(scope="module")
def answers(forks: dict[str, Fork]) -> Callable[[str], dict[str, Answer]]:
    """What a version of the client sends for each fork; asked for all of them at once."""

    @cache
    def ask(version: str) -> dict[str, Answer]:
        return dict(zip(forks, ask_many([fork.question for fork in forks.values()], version), strict=True))

    return ask


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", BUILDS)
def test_the_client_sends_what_was_meant(
    name: str, version: str, forks: dict[str, Fork], answers: Callable[[str], dict[str, Answer]]
) -> None:
    answer = answers(version)[name]
    assert answer.messages is not None, answer.error
    said: list[Said] = spoken(answer.blocks())
    assert [value for _, _, value in said] == list(forks[name].meant.said)


def test_both_ways_to_name_the_rows_are_tried(forks: dict[str, Fork]) -> None:
    assert {fork.result.keep_uuids for fork in forks.values()} == {True, False}
