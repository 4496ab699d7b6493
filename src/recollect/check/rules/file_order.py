"""Find rows that stand above their parent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..rule import WARNING, Finding, Rule
from ..subject import SessionSubject

RULE: Final = Rule(
    "row-before-parent", WARNING, "A row stands in the file before the row it hangs on.",
    "Nothing since 2.1.325; 2.1.197 loses everything but the first prompt.",
    "`recollect repair --rule row-before-parent` puts the lines in order.", "order", fold=True,
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    seen: set[str] = set()
    known = subject.known
    for row in subject.rows:
        if not row.client_reads:
            continue
        parent = row.parent
        if parent is not None and parent not in seen and parent in known and parent != row.uuid:
            yield subject.finding(RULE, row)
        if row.uuid is not None:
            seen.add(row.uuid)
