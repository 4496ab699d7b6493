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
}
"""Crafted session to why `recollect thread` does not give what the client sends."""

RESULT_ORDER = "results of parallel calls that are put back come in another order, in the same message"
NULL_BLOCK = "fails on a block that is null; here that is a block without a type"

OLDER: dict[str, dict[str, str]] = {
    "2.1.197": {
        "row-without-uuid-at-the-end": NO_UUID,
        "no-uuids": NO_UUID,
        "uuid-is-a-number": NO_UUID,
        "orphan-result-beside-good-one": ONE_BLOCK,
        "orphan-result-with-text": ONE_BLOCK,
        "parallel-calls-go-on-from-first-result": RESULT_ORDER,
        "parallel-calls-go-on-from-first-of-three": RESULT_ORDER,
        "parallel-calls-go-on-from-middle": RESULT_ORDER,
        "parallel-calls-nested": RESULT_ORDER,
        "parallel-results-behind-the-answer-with-checkpoint": RESULT_ORDER,
        "block-is-null": NULL_BLOCK,
        "block-is-a-string": "sends the row, which is passed over today",
        "lines-that-are-no-objects": "fails on a line that is null; here all lines that are no objects are skipped",
        "preserved-malformed": "fails where the list of preserved messages is none",
    },
    "2.0.77": {
        "row-without-uuid-at-the-end": NO_UUID,
        "no-uuids": NO_UUID,
        "uuid-is-a-number": NO_UUID,
        "parallel-calls-in-one-line-results-apart": "the row is sent and printed; of its calls the one without a result is not",
        "unanswered-call-in-one-line-with-text": "the row is sent and printed; the call on it, without a result, is not",
        "block-is-null": NULL_BLOCK,
        "row-inside-a-pretty-object": "reads the row on its line; here the object around it is one entry",
        "deep-nesting": "fails on lists nested this deep",
        "deep-nesting-200000": "fails on lists nested this deep",
    },
}
"""The same for `recollect thread --client VERSION` and the versions whose rules it knows."""
