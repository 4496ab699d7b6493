"""`recollect thread` against what the client really sends, on every crafted session."""

from __future__ import annotations

import json

import pytest
from tests.compat import reader
from tests.compat.crafted import BUILDERS, local_commands
from tests.compat.crafted.sheet import builders_of
from tests.compat.exceptions import CRAFTED
from tests.compat.stores import transcript_of
from tests.compat.told import Told

pytestmark = [pytest.mark.compat, pytest.mark.timeout(900)]


@pytest.mark.parametrize("crafted_name", BUILDERS)
def test_thread_is_what_the_client_sends(crafted_name: str, crafted: dict[str, Told]) -> None:
    told = crafted[crafted_name]
    found, uuids = reader.thread(told.question.config, told.question.session)
    ours = (found, told.transcript.said(uuids))
    theirs = (told.answer.messages is not None, told.transcript.sent(told.answer.blocks()))
    if crafted_name in CRAFTED:
        assert ours != theirs, f"no exception any more, take it out of the table: {CRAFTED[crafted_name]}"
    else:
        assert ours == theirs


@pytest.mark.parametrize("crafted_name", builders_of(local_commands))
def test_system_rows_that_are_sent_say_so(crafted_name: str, crafted: dict[str, Told]) -> None:
    told = crafted[crafted_name]
    rows = reader.recollect(told.question.config, "thread", told.question.session, "--json").json()["rows"]
    lines = transcript_of(told.question).read_bytes().split(b"\n")
    ours = {
        json.loads(lines[row["line"] - 1])["content"]
        for row in rows
        if row["type"] == "system" and row["sent_as"] == "user"
    }
    sent = {block.text.strip() for block in told.answer.blocks() if block.role == "user"}
    assert ours == told.transcript.system_texts & sent
    assert ours


def test_every_exception_is_a_crafted_session() -> None:
    assert set(CRAFTED) <= set(BUILDERS)
