"""Check how much of the conversation a resume reaches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..rule import ERROR, WARNING, Finding, Rule
from ..subject import SessionSubject

LOST: Final = Rule(
    "history-out-of-reach", ERROR, "Part of the conversation is out of a resume's reach.",
    "Resumes without it, silently.", "`recollect repair` puts back together what belongs together.", "reach",
)  # fmt: skip
NOTHING: Final = Rule(
    "no-conversation", ERROR, "The client finds no conversation in the file.",
    'Says "No conversation found with session ID" and ends with 1, or resumes with nothing.',
    "`recollect repair` where rows are left; else the transcript must come back from a copy.", "reach",
)  # fmt: skip
EMPTY: Final = Rule(
    "empty-file", WARNING, "The file has no bytes.", "Finds no conversation in it.",
    "Bring it back from a copy, or `recollect delete` it.",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    if not subject.is_main:
        return
    if subject.transcript.size == 0:
        yield subject.finding(EMPTY)
        return
    thread = subject.thread
    if not thread.found:
        side_only = bool(subject.rows) and all(row.sidechain for row in subject.rows)
        milder = WARNING if side_only or not subject.rows else None
        yield subject.finding(NOTHING, None, thread.leaf_reason, milder)
    elif thread.reachable_share < 1.0:
        yield subject.finding(
            LOST, None, f"{thread.reachable_share:.0%} reachable, {thread.lost_messages:,} messages are not"
        )
