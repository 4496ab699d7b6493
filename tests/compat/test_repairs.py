"""Damaged sessions after `recollect repair`: the real client resumes them with everything that was left to save.

A third of the kinds, one seed each, by default; ``RECOLLECT_COMPAT_SEEDS=0:3`` takes all of them with three seeds, before and
after the repair (an hour). `python -m tests.compat.repairs --write` writes the table of docs/compatibility.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.ask import Question, ask_many
from tests.compat.repairs import KINDS, VERSIONS, Verdict, build, judge

from recollect.edit.migrate import plan_migrate
from recollect.journal.changes import Journal
from recollect.library.library import Library, open_library
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, read

pytestmark = [pytest.mark.compat, pytest.mark.timeout(7200)]

GIVEN = os.environ.get("RECOLLECT_COMPAT_SEEDS")
FIRST, _, COUNT = (GIVEN or "0:1").partition(":")
SEEDS = tuple(range(int(FIRST), int(FIRST) + min(int(COUNT or 1), 3)))
#: What old clients do on resume differs most here; the rest is asked in turns.
ALWAYS = ("torn-middle", "cycle-whole", "second-root", "glued", "times-missing", "unanswered-call")
TRIED = KINDS if GIVEN else tuple(dict.fromkeys((*ALWAYS, *KINDS[::9])))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[tuple[str, int], Verdict]]:
    trials = build(tmp_path_factory.mktemp("repairs").resolve(), SEEDS, TRIED)

    @cache
    def ask(version: str) -> dict[tuple[str, int], Verdict]:
        return {(item.kind, item.seed): item for item in judge(trials, version, with_before=False)}

    return ask


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", TRIED)
def test_the_client_resumes_with_everything_that_was_left(
    kind: str, seed: int, version: str, verdicts: Callable[[str], dict[tuple[str, int], Verdict]]
) -> None:
    verdict = verdicts(version)[kind, seed]
    assert not verdict.hung_after
    assert verdict.right, verdict


AGES = ("0.2.126", "1.0.128", "2.0.26", "2.0.77")


@pytest.fixture(scope="module")
def lifted(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Question, Question]]:
    """A session of each old layout, as it was and lifted."""
    folder = tmp_path_factory.mktemp("lifted").resolve()
    cwd = folder / "project"
    cwd.mkdir()
    found = []
    for age in AGES:
        questions = []
        for state in ("before", "after"):
            home = HomeBuilder(folder / f"{age}-{state}")
            t = home.session(str(cwd), version=age, session_id=f"5c0f5a52-0000-4000-8000-00000000000{AGES.index(age)}")
            t.user("Look at both.")
            t.parallel([bash("ls", "a\n"), read(str(cwd / "a"), "x")], "two at once")
            subagent = t.subagent("find the rest")
            subagent.call(bash("find", "b\n"))
            subagent.finish("found")
            t.assistant("Done.")
            root = home.write()
            if state == "after":
                _lift(open_library([root]), t.session_id, folder / f"{age}-data")
            questions.append(Question(root, t.session_id, cwd))
        found.append((questions[0], questions[1]))
    return found


def _lift(library: Library, session_id: str, data: Path) -> None:
    for path in library.homes[0].root.rglob("*"):
        os.utime(path, (1_750_000_000, 1_750_000_000))
    change, result = plan_migrate(Journal(data), library.session(session_id).file)
    with change:
        assert result.changes_something
        change.commit()


def test_lifted_sessions_are_resumed_with_the_same_words(lifted: list[tuple[Question, Question]]) -> None:
    answers = ask_many([question for pair in lifted for question in pair], clients.NEWEST)
    for number, age in enumerate(AGES):
        before, after = answers[2 * number], answers[2 * number + 1]
        assert before.messages is not None, (age, before.error)
        assert [block.line() for block in after.blocks()] == [block.line() for block in before.blocks()], age
