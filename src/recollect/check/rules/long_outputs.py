"""Find long outputs that the transcript names and whose files are missing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from ...format.row_edit import persisted_output
from ..rule import INFO, Finding, Rule
from ..subject import LONG_OUTPUT, SessionSubject

RULE: Final = Rule(
    "missing-tool-result-file", INFO, "A long output was written to a file that is gone.",
    "Sends the preview and names the file; the model cannot read it.", "Bring it back from a copy.", fold=True,
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows_with(LONG_OUTPUT):
        path = persisted_output(subject.value(row))
        if path is not None and not os.path.lexists(path):
            yield subject.finding(RULE, row, path)
