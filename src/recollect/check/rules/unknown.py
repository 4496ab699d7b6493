"""Report unknown blocks, entry types and versions of Claude Code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.blocks import KNOWN_BLOCKS
from ...format.versions import is_future, parse_version
from ..rule import INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

BLOCK: Final = Rule(
    "unknown-block", WARNING, "A content block is of an unknown type.",
    "Sends it as it is; the API answers 400 where it does not know it either.",
    "`recollect repair --rule unknown-block` writes it as plain words.", "blocks",
)  # fmt: skip
ENTRY: Final = Rule(
    "unknown-type", INFO, "Entries are of a type that is not known.",
    "Passes over them; what hangs on such a row has no parent.", "Nothing to do; they are kept and shown.",
)  # fmt: skip
VERSION: Final = Rule(
    "unknown-version", INFO, "Rows were written by a client newer than 2.1.326, or by one that does not say which.",
    "Does not look at the version.", "Nothing to do; look for a newer Recollect.",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows:
        for kind in row.block_types:
            if kind is not None and kind not in KNOWN_BLOCKS:
                yield subject.finding(BLOCK, row, kind)
    if subject.transcript.unknown_types:
        told = ", ".join(f"{kind} ({count})" for kind, count in subject.transcript.unknown_types.most_common(10))
        yield subject.finding(ENTRY, None, told)
    odd = [text for text in subject.transcript.versions if is_future(text) or parse_version(text) is None]
    if odd:
        yield subject.finding(VERSION, None, ", ".join(odd[:10]))
