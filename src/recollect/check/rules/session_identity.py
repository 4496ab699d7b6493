"""Compare the session id in the file's name with those on its lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..rule import ERROR, INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

FILE_NAME: Final = Rule(
    "file-name", ERROR, "The file's name is no UUID in lower case.", "Does not find the session.",
    "`recollect repair` gives it a name that the client finds.", "name",
)  # fmt: skip
FOREIGN: Final = Rule(
    "foreign-session-id", WARNING, "Some rows name another session than the file does.",
    "Goes by the file's name; two sessions may have been written into one file.",
    "`recollect repair --rule foreign-session-id` parts them.", "sessions",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    own = subject.file.session_id
    if subject.is_main and not subject.file.client_lists:
        yield subject.finding(FILE_NAME, None, subject.path.name)
    named = subject.transcript.session_ids
    others = {name: count for name, count in named.items() if name.lower() != own.lower()}
    if not others or not subject.is_main:
        return
    told = ", ".join(f"{name} ({count:,} rows)" for name, count in list(others.items())[:5])
    # All rows of one other session: a copy under a new name. That is how old clients resumed.
    mixed = own in named
    yield subject.finding(FOREIGN, None, told, None if mixed else INFO)
