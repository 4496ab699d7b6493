"""Where Recollect differs from the client or from the official SDK on purpose, with the reason.

A test fails when an exception listed here no longer differs.
"""

from __future__ import annotations

NO_UUID = "the row has no uuid that could be printed; the client gives it one when it reads the file"
ONE_BLOCK = "the row is sent and printed; of its blocks the client drops the result whose call is missing"
BROKEN_OFF = (
    "the client keeps calls without results of a turn that broke off and makes up results for them; "
    "Recollect decides that by the last row alone"
)

CRAFTED: dict[str, str] = {
    "row-without-uuid-at-the-end": NO_UUID,
    "no-uuids": NO_UUID,
    "uuid-is-a-number": NO_UUID,
    "orphan-result-beside-good-one": ONE_BLOCK,
    "orphan-result-with-text": ONE_BLOCK,
    "object-over-several-lines": "the client reads value after value, also over line ends; a line is our unit, and the "
    "file is reported as damaged there",
    "unanswered-parallel-call-earlier-call": BROKEN_OFF,
    "unanswered-call-then-meta": BROKEN_OFF,
    "result-before-call": "the client moves a result below its call when it stands right above it",
    "call-shares-message-with-earlier-call": "two responses with one message.id, which no client writes: the client sends "
    "the second call with the first",
}
"""Crafted session to why `recollect thread` does not give what the client sends."""
