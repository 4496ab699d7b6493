"""Find messages whose shape some version of Claude Code cannot use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..rule import INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

NO_CONTENT: Final = Rule(
    "unusable-message", WARNING, "A message has no content that could be used.",
    "Passes over the row: what hangs on it hangs on its parent; 2.0.77 fails to resume.",
    "`recollect repair --rule unusable-message` hangs what follows on the row before; the row stays as it is.", "bridges",
)  # fmt: skip
NO_MODEL: Final = Rule(
    "message-without-model", WARNING, "An answer does not say which model gave it.",
    "Nothing; 2.1.197 hangs.", "`recollect repair --rule message-without-model` takes the model of the answers around it.",
    "shape", fold=True,
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows:
        if not row.is_message:
            continue
        if not row.usable:
            yield subject.finding(NO_CONTENT, row, milder=None if row.uuid in subject.parents else INFO)
        elif row.model is None and row.type == "assistant":
            yield subject.finding(NO_MODEL, row)
