"""Check the uuids of rows: missing ones break the chain, odd ones are only unusual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..rule import ERROR, INFO, Finding, Rule
from ..subject import SessionSubject

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

ODD: Final = Rule(
    "valid-uuid", INFO, "A row's uuid is not spelled as a UUID.", "Takes any text.", "Nothing to do.", fold=True
)
MISSING: Final = Rule(
    "missing-uuid", ERROR, "A row has no uuid, or one that is no text.",
    "Nothing can hang on the row: everything before it is out of reach.",
    "`recollect repair` gives it the uuid that the next row asks for, or a new one.", "identity",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    fits = _UUID.fullmatch
    for row in subject.rows:
        uuid = row.uuid
        if uuid is None or uuid == "" or uuid[0] == "<":
            yield subject.finding(MISSING, row)
        elif fits(uuid) is None:
            yield subject.finding(ODD, row, uuid[:80])
