"""Check checkpoints, which say where the conversation ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.names import NIL_UUID
from ..rule import INFO, Finding, Rule
from ..subject import SessionSubject

RULE: Final = Rule(
    "unknown-checkpoint", INFO, "A checkpoint names a row that is not in the file.", "Ignores it.", "Nothing to do.",
    fold=True,
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    if not subject.is_main:
        return
    for line in subject.transcript.states:
        leaf = line.leaf if line.type == "last-prompt" and isinstance(line.leaf, str) else ""
        if leaf not in (NIL_UUID, "") and leaf not in subject.known:
            yield Finding(
                RULE, subject.path, leaf, line.line, line.offset, line.length, None, subject.file.session_id
            )  # fmt: skip
