"""`recollect thread` against the client on random sessions.

Forty of them by default. ``RECOLLECT_COMPAT_SEEDS=5000:300`` takes three hundred others, from seed 5000 on.
"""

from __future__ import annotations

import os

import pytest
from tests.compat import reader
from tests.compat.crafted import RANDOM
from tests.compat.told import Told

pytestmark = [pytest.mark.compat, pytest.mark.timeout(1800)]

FIRST, _, COUNT = os.environ.get("RECOLLECT_COMPAT_SEEDS", "1:40").partition(":")
NAMES = [f"{RANDOM}{int(FIRST) + number}" for number in range(int(COUNT or 1))]


@pytest.mark.parametrize("crafted_name", NAMES)
def test_thread_is_what_the_client_sends(crafted_name: str, crafted: dict[str, Told]) -> None:
    told = crafted[crafted_name]
    found, uuids = reader.thread(told.question.config, told.question.session)
    assert found == (told.answer.messages is not None), told.answer.error
    assert told.transcript.said(uuids) == told.transcript.sent(told.answer.blocks())
