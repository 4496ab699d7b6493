"""Find lines and files so long that a resume is slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..rule import INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

LONG_LINE: Final = 8 << 20
LONG_FILE: Final = 256 << 20

LINE: Final = Rule(
    "long-line", WARNING, "A line is longer than 8 MB.", "Reads it on every resume; lines of 12 MB were seen to hang it.",
    "`recollect repair --rule long-line` moves long results into files, as newer clients do.", "outputs",
)  # fmt: skip
FILE: Final = Rule(
    "long-file", INFO, "The file is larger than 256 MB.", "Takes long to resume.",
    "`recollect fork` makes a session of its active conversation alone.",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows:
        if row.length > LONG_LINE:
            yield subject.finding(LINE, row, f"{row.length:,} bytes")
    if subject.transcript.size > LONG_FILE:
        yield subject.finding(FILE, None, f"{subject.transcript.size:,} bytes")
