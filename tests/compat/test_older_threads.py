"""`recollect thread --client` against what older versions really send, on crafted sessions.

By default those on which the older rules and today's differ, and every eighth of the others;
``RECOLLECT_COMPAT_SEEDS=0:1`` takes all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.compat import reader
from tests.compat.ask import ask_many
from tests.compat.crafted import BUILDERS, write_case
from tests.compat.crafted.sheet import build_case
from tests.compat.exceptions import OLDER
from tests.compat.told import Told
from tests.reading import transcript_of

from recollect.graph.older import find_thread_of
from recollect.graph.thread import find_thread

pytestmark = [pytest.mark.compat, pytest.mark.timeout(1800)]

ALL = os.environ.get("RECOLLECT_COMPAT_SEEDS")


def differs(name: str, version: str) -> bool:
    transcript = transcript_of(build_case(name, BUILDERS[name], "/w").data)
    older, newest = find_thread_of(transcript, version), find_thread(transcript)
    return (older.found, [row.uuid for row in older.sent]) != (newest.found, [row.uuid for row in newest.sent])


CASES = [
    (version, name)
    for version, exceptions in OLDER.items()
    for number, name in enumerate(BUILDERS)
    if ALL or name in exceptions or number % 8 == 0 or differs(name, version)
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Told]]:
    @cache
    def ask(version: str) -> dict[str, Told]:
        folder: Path = tmp_path_factory.mktemp("older")
        written = [write_case(name, folder / name) for asked, name in CASES if asked == version]
        told = zip(written, ask_many([question for _, question in written], version), strict=True)
        return {case.name: Told(question, case.transcript(), answer) for (case, question), answer in told}

    return ask


@pytest.mark.parametrize(("version", "name"), CASES)
def test_thread_is_what_that_version_sends(version: str, name: str, answers: Callable[[str], dict[str, Told]]) -> None:
    told = answers(version)[name]
    found, uuids = reader.thread(told.question.config, told.question.session, "--client", version)
    ours = (found, told.transcript.said(uuids))
    # 2.0.77 reads the session and sends the prompt at the same time: the prompt may be out before it gives up.
    gave_up = told.answer.messages is None or "No conversation found" in told.answer.error
    theirs = (not gave_up, told.transcript.sent(told.answer.blocks()))
    if name in OLDER[version]:
        assert ours != theirs, f"no exception any more, take it out of the table: {OLDER[version][name]}"
    else:
        assert ours == theirs
