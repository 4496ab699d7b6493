"""Find files below `projects/` that Claude Code does not read, and sessions that exist twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...store.copies import copies_of_sessions
from ..rule import WARNING, Finding, Rule
from ..subject import HomeSubject

SKIPPED: Final = Rule(
    "skipped-file", WARNING, "A file that no client and no reader takes for a session.", "Does not see it.",
    "Look at it; rename or remove it.",
)  # fmt: skip
TWICE: Final = Rule(
    "session-id-twice", WARNING, "Two project folders hold a session of the same id.",
    "Finds the one of the current folder; from elsewhere none.",
    "`recollect repair` gives an id of its own to the one that does not belong to its folder, or is older.", "name",
)  # fmt: skip


def check(subject: HomeSubject) -> Iterator[Finding]:
    for item in subject.scan.skipped:
        yield Finding(SKIPPED, item.path, item.why)
    for files in copies_of_sessions(subject.scan.sessions):
        for file in files:
            yield Finding(TWICE, file.path, session_id=file.session_id)
