"""Check the links between rows: missing parents, second roots, rows that are their own ancestors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...graph.thread import ABANDONED
from ...graph.tree import find_circles
from ..rule import ERROR, INFO, WARNING, Finding, Rule
from ..subject import SessionSubject

_RELINKS: Final = "`recollect repair` hangs the row on the one it followed."

MISSING: Final = Rule(
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
CIRCLE: Final = Rule(
    "circular-reference", ERROR, "The parents of some rows form a circle.",
    "Cuts the conversation at the circle; 2.0.77 hangs.", _RELINKS, "links",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    known = subject.known
    placements = subject.thread.placements if subject.is_main else []
    mended = subject.thread.mended if subject.is_main else {}
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
            if row.uuid in mended:
                milder = WARNING
            elif row.sidechain or begins or not subject.is_main:
                milder = INFO  # a file that begins in the middle loses nothing that is in it
            yield subject.finding(MISSING, row, f"parent {parent}", milder)
    yield from _circles(subject)


def _circles(subject: SessionSubject) -> Iterator[Finding]:
    known = subject.known
    for circle in find_circles(known, lambda uuid: row.parent if (row := known.get(uuid)) is not None else None):
        if len(circle) > 1:  # else SELF_PARENT tells it
            row = min((known[uuid] for uuid in circle), key=lambda item: item.index)
            yield subject.finding(CIRCLE, row, f"{len(circle)} rows")
