"""Check that each tool call has one result, and each result a call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...graph.rows import Row
from ...graph.thread import LIVE
from ..rule import INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

UNANSWERED: Final = Rule(
    "tool-use-without-result", WARNING, "A tool call has no result.",
    "Leaves the call out, or makes up a result where the talk broke off; older clients fail on every turn.",
    "`recollect repair` adds a result that says so.", "results",
)  # fmt: skip
ORPHAN: Final = Rule(
    "tool-result-without-use", WARNING, "A result answers a call that is not in the file.",
    "Sends `(no content)` in its place; older clients fail on every turn.",
    "`recollect repair` turns the result into plain words.", "results",
)  # fmt: skip
REPEATED: Final = Rule(
    "duplicate-tool-result", WARNING, "A call was answered more than once.",
    "Takes the first result that follows the call; older clients fail on every turn.",
    "`recollect repair` turns the later ones into plain words.", "results",
)  # fmt: skip
CALLED_TWICE: Final = Rule(
    "duplicate-tool-use", WARNING, "Two rows make a call of the same id.",
    "Sends the first one.", "Nothing to do; copies of rows have other remedies.",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    tools = subject.tools
    last = next((row for row in reversed(subject.rows) if row.is_message and not row.sidechain), None)
    live = subject.thread.placements if subject.is_main else []

    def milder(row: Row) -> str | None:
        return None if live and live[row.index].status == LIVE else INFO

    for call in tools.calls:
        row = call.call
        if call.result is None:
            # A turn that is broken off, or still going on, is no damage.
            ends_there = last is not None and (row is last or row.message_id == last.message_id is not None)
            yield subject.finding(UNANSWERED, row, f"{call.name} {call.id}", INFO if ends_there else milder(row))
        for extra in call.extra_results:
            in_the_way = extra.uuid in subject.parents and milder(extra) is None
            yield subject.finding(REPEATED, extra, call.id, None if in_the_way else INFO)
    for ident, row in tools.orphan_results:
        yield subject.finding(ORPHAN, row, ident, milder(row))
    seen: dict[str, str | None] = {}
    for row in subject.rows:
        for ident, _ in row.tool_uses:
            if ident not in seen:
                seen[ident] = row.uuid
            elif seen[ident] != row.uuid:
                yield subject.finding(CALLED_TWICE, row, ident)
