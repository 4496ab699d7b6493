"""Find thoughts without a signature, which the API refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.row_edit import unsigned_thoughts
from ..rule import ERROR, INFO, Finding, Rule
from ..subject import SessionSubject

RULE: Final = Rule(
    "thinking-without-signature", ERROR, "A thinking block has no signature.",
    "Sends it while the model stays the same: the API answers 400 on every turn.",
    "`recollect repair` takes the block out; its words are kept in the side file.", "thinking",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows:
        if "thinking" in row.block_types and unsigned_thoughts(subject.value(row)):
            live = subject.is_main and row.index in subject.live
            yield subject.finding(RULE, row, milder=None if live else INFO)
