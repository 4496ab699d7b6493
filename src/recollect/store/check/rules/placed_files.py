"""Files below `projects/` that no client reads, and sessions of which there are two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..home_subject import HomeSubject
from ..rule import WARNING, Finding, Rule

SKIPPED: Final = Rule(
    "skipped-file", WARNING, "A file that no client and no reader takes for a session.", "Does not see it.",
    "Look at it; rename or remove it.",
)  # fmt: skip
TWICE: Final = Rule(
    "session-id-twice", WARNING, "Two project folders hold a session of the same id.",
    "Finds the one of the current folder; from elsewhere none.",
    "`recollect fork` one of them and delete it.",
)  # fmt: skip


def look(subject: HomeSubject) -> Iterator[Finding]:
    for item in subject.scan.skipped:
        yield Finding(SKIPPED, item.path, item.why)
    twice = {name for name, count in subject.session_ids.items() if count > 1}
    if twice:
        for file in subject.scan.sessions:
            if file.session_id in twice:
                yield Finding(TWICE, file.path, session_id=file.session_id)
