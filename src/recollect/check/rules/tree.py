"""Check how rows hang together: what a resume reaches, parents, the order of rows and of times, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.names import NIL_UUID
from ...format.times import parse_time
from ...graph.rows import Row
from ...graph.thread import ABANDONED, LIVE, PRECOMPACT
from ...graph.tree import find_circles
from ..rule import ERROR, INFO, WARNING, Finding, Rule, SessionSubject

HISTORY_OUT_OF_REACH: Final = Rule(
    "history-out-of-reach", ERROR, "Part of the conversation is out of a resume's reach.",
    "Resumes without it, silently.", "`recollect repair` puts back together what belongs together.", "reach",
)  # fmt: skip
NO_CONVERSATION: Final = Rule(
    "no-conversation", ERROR, "Claude Code finds no conversation in the file.",
    'Says "No conversation found with session ID" and ends with 1, or resumes with nothing.',
    "`recollect repair` where rows are left; else the transcript must come back from a copy.", "reach",
)  # fmt: skip
EMPTY_FILE: Final = Rule(
    "empty-file", WARNING, "The file has no bytes.", "Finds no conversation in it.",
    "Bring it back from a copy, or `recollect delete` it.",
)  # fmt: skip


def check_reach(subject: SessionSubject) -> Iterator[Finding]:
    """Check how much of the conversation a resume reaches."""
    if not subject.is_main:
        return
    if subject.transcript.size == 0:
        yield subject.finding(EMPTY_FILE)
        return
    thread = subject.thread
    if not thread.found:
        side_only = bool(subject.rows) and all(row.sidechain for row in subject.rows)
        milder = WARNING if side_only or not subject.rows else None
        yield subject.finding(NO_CONVERSATION, None, thread.leaf_reason, milder)
    elif thread.reachable_share < 1.0:
        yield subject.finding(
            HISTORY_OUT_OF_REACH,
            None,
            f"{thread.reachable_share:.0%} reachable, {thread.lost_messages:,} messages are not",
        )


_RELINKS: Final = "`recollect repair` hangs the row on the one it followed."

VALID_PARENT_REFERENCE: Final = Rule(
    "valid-parent-reference", ERROR, "A row's parent is not in the file.",
    "Begins the conversation behind the break, silently; links it where a row at most 5 s older stands before it.",
    _RELINKS, "links",
)  # fmt: skip
SECOND_ROOT: Final = Rule(
    "second-root", ERROR, "A row inside the conversation has no parent.",
    "Takes it for the start: everything before it is out of reach.", _RELINKS, "links",
)  # fmt: skip
SELF_PARENT: Final = Rule(
    "self-parent", ERROR, "A row is its own parent.",
    "Begins the conversation there; 2.0.77 hangs.", _RELINKS, "links",
)  # fmt: skip
CIRCULAR_REFERENCE: Final = Rule(
    "circular-reference", ERROR, "The parents of some rows form a circle.",
    "Cuts the conversation at the circle; 2.0.77 hangs.", _RELINKS, "links",
)  # fmt: skip


def check_parents(subject: SessionSubject) -> Iterator[Finding]:
    """Check the links between rows: missing parents, second roots, rows that are their own ancestors."""
    known = subject.known
    placements = subject.thread.placements if subject.is_main else []
    repaired = subject.thread.repaired_links if subject.is_main else {}
    first_root = True
    is_first = True
    for row in subject.rows:
        parent = row.parent
        if not row.client_reads or row.type == "progress":
            continue
        begins, is_first = is_first and not row.sidechain, is_first and row.sidechain
        if parent is None:
            if row.sidechain or row.is_boundary or not subject.is_main:
                continue
            if placements[row.index].status == ABANDONED:
                continue  # left on purpose
            if first_root:
                first_root = False
            else:
                yield subject.finding(SECOND_ROOT, row)
        elif parent == row.uuid:
            yield subject.finding(SELF_PARENT, row)
        elif parent not in known:
            milder = None
            if row.uuid in repaired:
                milder = WARNING
            elif row.sidechain or begins or not subject.is_main:
                milder = INFO  # a file that begins in the middle loses nothing that is in it
            yield subject.finding(VALID_PARENT_REFERENCE, row, f"parent {parent}", milder)
    yield from _circles(subject)


def _circles(subject: SessionSubject) -> Iterator[Finding]:
    known = subject.known
    for circle in find_circles(known, lambda uuid: row.parent if (row := known.get(uuid)) is not None else None):
        if len(circle) > 1:  # else SELF_PARENT tells it
            row = min((known[uuid] for uuid in circle), key=lambda item: item.index)
            yield subject.finding(CIRCULAR_REFERENCE, row, f"{len(circle)} rows")


ROW_BEFORE_PARENT: Final = Rule(
    "row-before-parent", WARNING, "A row stands in the file before the row it hangs on.",
    "Nothing since 2.1.325; 2.1.197 loses everything but the first prompt.",
    "`recollect repair --rule row-before-parent` puts the lines in order.", "order", fold=True,
)  # fmt: skip


def check_file_order(subject: SessionSubject) -> Iterator[Finding]:
    """Find rows that stand above their parent."""
    seen: set[str] = set()
    known = subject.known
    for row in subject.rows:
        if not row.client_reads:
            continue
        parent = row.parent
        if parent is not None and parent not in seen and parent in known and parent != row.uuid:
            yield subject.finding(ROW_BEFORE_PARENT, row)
        if row.uuid is not None:
            seen.add(row.uuid)


TIMESTAMP: Final = Rule(
    "timestamp", ERROR, "A row's timestamp is missing, or no time.",
    "On the last row: finds no conversation. Elsewhere it goes on; 2.0.77 needs one on every row.",
    "`recollect repair` gives it the time of its neighbour, where only older versions need it by `--rule timestamp`.", "times",
)  # fmt: skip
CHRONOLOGICAL_ORDERING: Final = Rule(
    "chronological-ordering", INFO, "A row is not later than its parent.",
    "Nothing: 7 % of the links of healthy sessions are so.", "Nothing to do.", fold=True,
)  # fmt: skip
NEWEST_ROW_IS_NOT_LAST: Final = Rule(
    "newest-row-is-not-last", INFO, "The row with the latest time is not where the conversation ends.",
    "Versions since 2.1 go by the order of the file; those before resume at the latest time, and lose what follows.",
    "For older versions, `recollect repair --rule newest-row-is-not-last` gives the last row the latest time.", "times",
)  # fmt: skip


def check_timestamps(subject: SessionSubject) -> Iterator[Finding]:
    """Check the times of rows: missing, invalid, later than what follows, and (for information) earlier than the parent's."""
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
        # Times in Claude Code's own form sort as texts; everything else is parsed.
        if stamp is None or len(stamp) != 24 or stamp[23] != "Z":
            plain = False
            if row.time is None:
                is_end = leaf is None or row.uuid == leaf or row is last
                yield subject.finding(
                    TIMESTAMP, row, stamp[:80] if stamp else "", None if is_end and not row.sidechain else WARNING
                )
                continue
        if stamp is None:
            continue
        if row.uuid is not None:
            stamps[row.uuid] = stamp
            above = stamps.get(row.parent) if row.parent is not None else None
            if above is not None and stamp <= above and not _is_later(stamp, above):
                yield subject.finding(CHRONOLOGICAL_ORDERING, row)
        if stamp > latest and row.is_message and not row.sidechain and _is_part(subject, row):
            newest, latest = row, stamp
        last = row
    if leaf is not None and plain and newest is not None and leaf in subject.known:
        end = subject.known[leaf]
        same = newest.uuid == leaf or (bool(end.message_id) and newest.message_id == end.message_id)
        if end.timestamp is not None and not same and end.timestamp <= latest:
            yield subject.finding(NEWEST_ROW_IS_NOT_LAST, newest, f"the conversation ends on line {end.line}")


def _is_part(subject: SessionSubject, row: Row) -> bool:
    """Whether a row belongs to the conversation. One left by a rewind may be newer than its end."""
    return subject.is_main and subject.thread.placements[row.index].status in (LIVE, PRECOMPACT)


def _is_later(stamp: str, above: str) -> bool:
    """Whether a time is later than another, by its value: times with other zones than UTC do not sort as texts."""
    one, other = parse_time(stamp), parse_time(above)
    return one is None or other is None or one > other


UNKNOWN_CHECKPOINT: Final = Rule(
    "unknown-checkpoint", INFO, "A checkpoint names a row that is not in the file.", "Ignores it.", "Nothing to do.",
    fold=True,
)  # fmt: skip


def check_checkpoints(subject: SessionSubject) -> Iterator[Finding]:
    """Check checkpoints, which say where the conversation ends."""
    if not subject.is_main:
        return
    for line in subject.transcript.states:
        leaf = line.leaf if line.type == "last-prompt" and isinstance(line.leaf, str) else ""
        if leaf not in (NIL_UUID, "") and leaf not in subject.known:
            yield Finding(
                UNKNOWN_CHECKPOINT, subject.path, leaf, line.line, line.offset, line.length, None, subject.file.session_id
            )  # fmt: skip
