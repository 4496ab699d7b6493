"""Check the times of rows: missing or invalid ones, later than what follows, and (for information) earlier than the parent's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.times import parse_time
from ...graph.rows import Row
from ...graph.thread import LIVE, PRECOMPACT
from ..rule import ERROR, INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

UNUSABLE: Final = Rule(
    "timestamp", ERROR, "A row's timestamp is missing, or no time.",
    "On the last row: finds no conversation. Elsewhere it goes on; 2.0.77 needs one on every row.",
    "`recollect repair` gives it the time of its neighbour, where only older versions need it by `--rule timestamp`.", "times",
)  # fmt: skip
ORDER: Final = Rule(
    "chronological-ordering", INFO, "A row is not later than its parent.",
    "Nothing: 7 % of the links of healthy sessions are so.", "Nothing to do.", fold=True,
)  # fmt: skip
NEWEST: Final = Rule(
    "newest-row-is-not-last", INFO, "The row with the latest time is not where the conversation ends.",
    "Clients since 2.1 go by the order of the file; those before resume at the latest time, and lose what follows.",
    "For older versions, `recollect repair --rule newest-row-is-not-last` gives the last row the latest time.", "times",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    leaf = subject.thread.leaf if subject.is_main else None
    stamps: dict[str, str] = {}
    newest: Row | None = None
    latest = ""
    plain = True
    last: Row | None = None
    for row in subject.rows:
        if row.type == "progress" or not row.client_reads:
            continue
        stamp = row.timestamp
        # Times in the client's own form sort as texts; everything else is parsed.
        if stamp is None or len(stamp) != 24 or stamp[23] != "Z":
            plain = False
            if row.time is None:
                is_end = leaf is None or row.uuid == leaf or row is last
                yield subject.finding(
                    UNUSABLE, row, stamp[:80] if stamp else "", None if is_end and not row.sidechain else WARNING
                )
                continue
        if stamp is None:
            continue
        if row.uuid is not None:
            stamps[row.uuid] = stamp
            above = stamps.get(row.parent) if row.parent is not None else None
            if above is not None and stamp <= above and not _is_later(stamp, above):
                yield subject.finding(ORDER, row)
        if stamp > latest and row.is_message and not row.sidechain and _is_part(subject, row):
            newest, latest = row, stamp
        last = row
    if leaf is not None and plain and newest is not None and leaf in subject.known:
        end = subject.known[leaf]
        same = newest.uuid == leaf or (bool(end.message_id) and newest.message_id == end.message_id)
        if end.timestamp is not None and not same and end.timestamp <= latest:
            yield subject.finding(NEWEST, newest, f"the conversation ends on line {end.line}")


def _is_part(subject: SessionSubject, row: Row) -> bool:
    """Whether a row belongs to the conversation. One left by a rewind may be newer than its end."""
    return subject.is_main and subject.thread.placements[row.index].status in (LIVE, PRECOMPACT)


def _is_later(stamp: str, above: str) -> bool:
    """Whether a time is later than another, by its value: times with other zones than UTC do not sort as texts."""
    one, other = parse_time(stamp), parse_time(above)
    return one is None or other is None or one > other
