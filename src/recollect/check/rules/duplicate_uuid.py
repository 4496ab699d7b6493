"""Find rows with the same uuid: a line written twice, or two different ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...graph.rows import Row
from ..rule import INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

SAME: Final = Rule(
    "duplicate-uuid", INFO, "A row stands in the file twice, with the same content.",
    "Takes it once; 2.1.197 loses the later turns where a copy comes last.",
    "`recollect repair --rule duplicate-uuid` moves exact copies to the side file.", "copies", fold=True,
)  # fmt: skip
OTHER: Final = Rule(
    "duplicate-uuid-other", WARNING, "Two rows have the same uuid and different content.",
    "Shows the content of the last one at the place of the first.",
    "Look at both with `recollect cat`; neither is taken out.",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    first: dict[str, Row] = {}
    for row in subject.rows:
        if row.uuid is None or not row.client_reads:
            continue
        known = first.setdefault(row.uuid, row)
        if known is not row:
            same = known.length == row.length and subject.value(known) == subject.value(row)
            yield subject.finding(SAME if same else OTHER, row, f"first on line {known.line}")
