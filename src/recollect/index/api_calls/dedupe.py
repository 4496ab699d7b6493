"""Decide which copy of an API call counts: a response is counted once, however many lines and files contain it.

Rows with one message, request and model are one call, wherever they are in a home. The call gets the largest of each
count. It is assigned to the session that made the request, if a copy names it (`requestSessionId`); else to the place where
it appeared first. First is the earliest time. Copies keep their times, so between equal times come: a line that was not
copied before one that was, a session before a subagent, the file that was begun first (a fork repeats older rows after
newer lines), then the path.

Rows of one message with different requests are different calls, because hand-made ids and those of gateways repeat. But
within one session's family (its file and its subagents) such a row of a subagent is a copy of the main conversation's row,
or of another subagent's if the main conversation has none. Then the main row counts, with its own counts; only if all its
lines have placeholders for their output, or there is no main row, the largest of each count is taken.

The result does not depend on the order in which files were indexed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from operator import and_, or_
from typing import Any, NamedTuple

import apsw

from .flags import COPIED, COUNTS, FOR_ALL, LOWER_BOUND, ODD, PROGRESS

#: File, line and part: the key of a row.
Place = tuple[int, int, int]


class Copy(NamedTuple):
    """A call as one file records it, with the facts on which the decision depends."""

    place: Place
    request_id: str
    model: str
    session_id: str | None
    """The session to which its file belongs."""
    made_by: str | None
    """The session that made the request, if the row names it."""
    is_main: bool
    """Whether it is in the main conversation of its session."""
    order: tuple[Any, ...]
    """Sort key: the copy with the smallest one appeared first."""
    counts: tuple[int, ...]
    flags: int

    @property
    def families(self) -> set[str]:
        return {session for session in (self.session_id, self.made_by) if session is not None}


class Counted(NamedTuple):
    """A call with several copies: the row on which it is counted, with its session, counts and flags."""

    place: Place
    session_id: str | None
    copies: int
    counts: tuple[int, ...]
    flags: int


class _Call:
    """All copies of one message, request and model."""

    def __init__(self, model: str, copies: list[Copy]) -> None:
        self.model = model
        self.copies = copies
        self.given_up: list[Copy] = []
        """Copies of this response under another request, which do not count."""

    def take_in(self, nameless: list[Copy]) -> None:
        """Add rows without a model: they are copies of this call, but a row with a model is preferred to count on."""
        self.copies += [copy._replace(order=(True, *copy.order[1:])) for copy in nameless]

    @property
    def rank(self) -> tuple[Any, ...]:
        """Return a sort key: calls of the main conversation first, then by their first appearance."""
        first = min(self.copies, key=lambda copy: copy.order)
        return not any(copy.is_main for copy in self.copies), first.order, first.request_id, self.model

    def families(self) -> dict[str, bool]:
        """Return the sessions that contain the call, each with whether it is in the main conversation."""
        found: dict[str, bool] = {}
        for copy in self.copies:
            for family in copy.families:
                found[family] = found.get(family, False) or copy.is_main
        return found

    def counted(self) -> Counted:
        made_by = min((copy for copy in self.copies if copy.made_by), key=lambda copy: copy.order, default=None)
        maker = None if made_by is None else made_by.made_by
        owner = min(self.copies, key=lambda copy: (copy.order[0], maker not in (None, copy.session_id), copy.order))
        told = self.copies
        if self.given_up and (not any(copy.is_main for copy in told) or all(copy.flags & LOWER_BOUND for copy in told)):
            told = [*told, *self.given_up]
        for_all = reduce(and_, (copy.flags for copy in told)) & FOR_ALL
        odd = reduce(or_, (copy.flags for copy in told)) & ODD
        flags = owner.flags & ~(FOR_ALL | ODD) | for_all | odd
        counts = tuple(map(max, zip(*(copy.counts for copy in told), strict=True)))
        return Counted(owner.place, maker, len(self.copies) + len(self.given_up), counts, flags)


def decide(message_id: str, copies: Sequence[Copy]) -> dict[Place, Counted | None]:
    """Decide on all rows of one message.

    Returns the rows of calls with several copies: for each call the row that counts, and None for the others.
    """
    if len(copies) < 2:
        return {}
    calls: dict[tuple[str, str], _Call] = {}
    for copy in copies:
        calls.setdefault((copy.request_id, copy.model), _Call(copy.model, [])).copies.append(copy)
    _give_names(calls)
    ranked = sorted(calls.values(), key=lambda call: call.rank)
    kept = _without_copies_in_families(ranked) if message_id and len(ranked) > 1 else ranked
    found: dict[Place, Counted | None] = {}
    for call in kept:
        if len(call.copies) + len(call.given_up) > 1:
            found.update({copy.place: None for copy in (*call.copies, *call.given_up)})
            counted = call.counted()
            found[counted.place] = counted
    return found


def _give_names(calls: dict[tuple[str, str], _Call]) -> None:
    """Join each call without a model to the first call of its request that has one."""
    for key in [key for key in calls if not key[1]]:
        named = [call for (request, model), call in calls.items() if request == key[0] and model]
        if named:
            min(named, key=lambda call: call.rank[1:]).take_in(calls.pop(key).copies)


def _without_copies_in_families(ranked: Iterable[_Call]) -> list[_Call]:
    """Leave out calls that are copies, under another request, of a call that ranks before them."""
    kept: list[_Call] = []
    beside: dict[tuple[str, str], int] = {}
    """By family and model: the position in `kept` of the first call of the family."""
    beneath: dict[tuple[str, str], int] = {}
    """By family and model: the position in `kept` of the first call that only subagents of the family contain."""
    for call in ranked:
        families = call.families()
        originals = [(beneath if is_main else beside).get((family, call.model)) for family, is_main in families.items()]
        original = min((place for place in originals if place is not None), default=None)
        if original is not None:
            kept[original].given_up += call.copies
            continue
        for family, is_main in families.items():
            beside.setdefault((family, call.model), len(kept))
            if not is_main:
                beneath.setdefault((family, call.model), len(kept))
        kept.append(call)
    return kept


_SELECT = f"""
    SELECT {{within}}, a.message_id, a.file_id, a.line, a.part, a.request_id, m.text, f.session_id, a.session_id, f.kind,
           a.subagent_id, a.flags, a.time, g.begun, h.path, f.path, {", ".join(f"a.{name}" for name in COUNTS)}
    FROM api_calls a JOIN files f ON f.id = a.file_id JOIN homes h ON h.id = f.home_id
    JOIN strings m ON m.id = a.model_id LEFT JOIN call_files g ON g.file_id = a.file_id"""


def decisions(db: apsw.Connection, where: str, *, within: str = "f.home_id") -> Iterator[dict[Place, Counted | None]]:
    """Decide on the rows that a condition selects (`a` are the calls, `f` their files), message by message.

    Only rows with equal values of `within` can be copies of each other.
    """
    rows = db.execute(f"{_SELECT.format(within=within)} WHERE {where} ORDER BY 1, 2")
    for (_, message), copies in groupby(rows, lambda row: row[:2]):
        yield decide(message, [_copy(row) for row in copies])


def _copy(row: Sequence[Any]) -> Copy:
    _, _, file_id, line, part, request, model, session, made_by, kind, subagent, flags, time, begun, *more = row
    is_copied = bool(flags & COPIED) or made_by not in (None, session)
    order = (
        False, time is None, time or 0, is_copied, kind != "session", begun is None, begun or 0, *more[:2], line, part
    )  # fmt: skip
    is_main = kind == "session" and subagent is None and not flags & PROGRESS
    return Copy((file_id, line, part), request, model, session, made_by, is_main, order, tuple(more[2:]), flags)
