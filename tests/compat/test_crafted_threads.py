"""`recollect thread` against what the client really sends, on every crafted session."""

from __future__ import annotations

import pytest
from tests.compat import reader
from tests.compat.crafted import BUILDERS
from tests.compat.exceptions import CRAFTED
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


def test_every_exception_is_a_crafted_session() -> None:
    assert set(CRAFTED) <= set(BUILDERS)
