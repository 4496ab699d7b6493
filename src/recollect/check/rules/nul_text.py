"""Find NUL characters inside a text, as binary output of a tool leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..rule import WARNING, Finding, Rule
from ..subject import NUL_ESCAPE, SessionSubject

RULE: Final = Rule(
    "nul-in-text", WARNING, "A text holds NUL characters, as binary output does.",
    "Sends them; some releases can no longer use the session.",
    "`recollect repair --rule nul-in-text` writes U+FFFD in their place.", "text", fold=True,
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows_with(NUL_ESCAPE):
        yield subject.finding(RULE, row)
