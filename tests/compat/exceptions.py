"""Where Recollect differs from the client on purpose, with the reason.

A test fails when an exception listed here no longer differs.
"""

from __future__ import annotations

NO_UUID = "a row without a uuid, or with a number for one, is sent, but there is no uuid to print"
ONE_BLOCK = "the row is sent and printed; of its blocks the client drops the result whose call is missing"

CRAFTED: dict[str, str] = {
    "row-without-uuid-at-the-end": NO_UUID,
    "no-uuids": NO_UUID,
    "uuid-is-a-number": NO_UUID,
    "orphan-result-beside-good-one": ONE_BLOCK,
    "orphan-result-with-text": ONE_BLOCK,
    "object-over-several-lines": "the client reads value after value, also over line ends; a line is our unit, and the "
    "file is reported as damaged there",
}
"""Crafted session to why `recollect thread` does not give what the client sends."""
