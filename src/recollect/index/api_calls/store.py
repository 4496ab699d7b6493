"""Store the API calls of files: the protocol of a sink for calls, and the sink that writes to the catalogue's tables.

    sink = SqliteCalls(catalogue.connection, pricing, left_out)
    sink.put(file_id, calls)          # in one transaction, for any number of files
    sink.settle()                     # then every response is counted once

`recollect.testing.call_sink_contract` tests what every sink must do.

A response is counted once, however many lines and files contain it. Rows with one message, request and model are one call,
wherever they are in a home. The call gets the largest of each count. It is assigned to the session that made the request, if a
copy names it (`requestSessionId`); else to the place where it appeared first. First is the earliest time. Copies keep their
times, so between equal times come: a line that was not copied before one that was, a session before a subagent, the file that
was begun first (a fork repeats older rows after newer lines), then the path.

Rows of one message with different requests are different calls, because hand-made ids and those of gateways repeat. But
within one session's family (its file and its subagents) such a row of a subagent is a copy of the main conversation's row,
or of another subagent's if the main conversation has none. Then the main row counts, with its own counts; only if all its
lines have placeholders for their output, or there is no main row, the largest of each count is taken.

The result does not depend on the order in which files were indexed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby, starmap
from operator import and_, or_
from typing import Any, Final, NamedTuple, Protocol

import apsw

from ..catalogue.catalogue import Strings
from ..catalogue.left_out import LeftOut, blames_row, insert_rows
from ..catalogue.schema import TABLES
from .rows import COPIED, COUNTS, FOR_ALL, LOWER_BOUND, ODD, PROGRESS, CallRow, joined_in_file

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
        copies = self.copies
        if self.given_up and (
            not any(copy.is_main for copy in copies) or all(copy.flags & LOWER_BOUND for copy in copies)
        ):
            copies = [*copies, *self.given_up]
        for_all = reduce(and_, (copy.flags for copy in copies)) & FOR_ALL
        odd = reduce(or_, (copy.flags for copy in copies)) & ODD
        flags = owner.flags & ~(FOR_ALL | ODD) | for_all | odd
        counts = tuple(map(max, zip(*(copy.counts for copy in copies), strict=True)))
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


_MANY: Final = 500
"""With more messages than this, one query for all messages that have several rows is faster than one for each."""


class CallSink(Protocol):
    """A store of API calls that indexing writes to, in one transaction, which the caller begins and ends.

    A file is identified by its id. The other facts that decide which copy of a call counts (home, path, kind, session,
    time of the file's first line) are recorded by the stage that reads the file, not by the sink.
    """

    def put(self, file_id: int, calls: Collection[CallRow]) -> None:
        """Add calls of a file. None of them has the line and part of a call that the file already has.

        A call that cannot be stored is left out, and the others are stored."""

    def take(self, file_id: int, messages: Collection[str]) -> list[CallRow]:
        """Remove the calls of these messages from a file and return them, in the order of its lines.

        The caller joins them with new lines and puts them back.
        """

    def revisit(self, file_id: int) -> None:
        """Decide again, at the next `settle`, on the calls of a file whose name or first time has changed."""

    def forget(self, file_id: int) -> None:
        """Remove all calls of a file."""

    def settle(self) -> None:
        """Decide which copies count, for every message that was touched since the last `settle`.

        The result depends only on the stored calls, not on the order in which they were added.
        """


class Pricing(Protocol):
    """A price table for API calls."""

    version: str
    """Version of the prices: it changes when the cost of any call may change."""

    def costs(self, calls: Iterable[CallRow]) -> list[int | None]:
        """Return the cost of each call in micro-dollars; None if its model has no price."""


def add_calls(sink: CallSink, file_id: int, calls: list[CallRow], *, grown: bool) -> None:
    """Write calls of a file to a sink: all of them, or with `grown` those of the new lines."""
    if grown:
        calls = sink.take(file_id, {call.message_id for call in calls}) + calls
    if grown or not all(call.model for call in calls):
        calls = joined_in_file(calls)
    sink.put(file_id, calls)


_COLUMNS: Final = (
    "file_id", "line", "part", "message_id", "request_id", "model_id", "time", *COUNTS, "tier_id", "speed_id", "geo_id",
    "stop_id", "subagent_id", "branch_id", "cwd_id", "session_id", "flags", "output_line", "cost",
)  # fmt: skip
_INSERT: Final = f"INSERT INTO api_calls({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"


class SqliteCalls:
    """Store calls with their costs in the tables `api_calls` and `shared_calls` of the catalogue.

    Calls that cannot be stored are recorded in `left_out`.
    """

    def __init__(self, db: apsw.Connection, pricing: Pricing, left_out: LeftOut) -> None:
        self._db = db
        self._left_out = left_out
        self._number = Strings(db).numbers
        self._pricing = pricing
        self._texts: tuple[tuple[str | None, ...], tuple[int | None, ...]] = ((), ())
        """The texts of the previous call, and their ids in `strings`."""
        self._touched: set[str] = set()
        self._is_bulk = db.execute("SELECT 1 FROM api_calls LIMIT 1").get is None
        """Whether the table is empty: then its indexes are created after all rows are inserted, in half the time."""
        if self._is_bulk:
            for name, _ in _INDEXES:
                db.execute(f"DROP INDEX IF EXISTS {name}")

    def put(self, file_id: int, calls: Collection[CallRow]) -> None:
        number = self._number
        known, numbers = self._texts
        rows = []
        for row, cost in self._priced(file_id, calls):
            texts = (row.model, row.service_tier, row.speed, row.geo, row.stop_reason, row.git_branch, row.cwd)
            if texts != known:  # usually equal to those of the previous call: comparing is faster than looking up each
                try:
                    known, numbers = texts, tuple([number[text] for text in texts])
                except Exception as problem:
                    self._leave_out(file_id, row.line, problem)
                    known = ()
                    continue
            model, tier, speed, geo, stop, branch, cwd = numbers
            rows.append(
                (
                    file_id, row.line, row.part, row.message_id, row.request_id, model, row.time, row.input, row.output,
                    row.cache_write_5m, row.cache_write_1h, row.cache_read, row.thinking, row.web_searches, tier, speed, geo,
                    stop, row.subagent_id, branch, cwd, row.session_id, row.flags, row.output_line, cost,
                )
            )  # fmt: skip
        self._texts = known, numbers
        insert_rows(self._db, _INSERT, rows, lambda row, problem: self._leave_out(row[0], row[1], problem))
        self._touched.update([row.message_id for row in calls])

    def _priced(self, file_id: int, calls: Collection[CallRow]) -> list[tuple[CallRow, int | None]]:
        """Price all calls at once; if that fails, price each by itself and leave out those that fail."""
        try:
            return list(zip(calls, self._pricing.costs(calls), strict=True))
        except Exception as problem:
            if not blames_row(problem):
                raise
        priced: list[tuple[CallRow, int | None]] = []
        for row in calls:
            try:
                priced += zip([row], self._pricing.costs([row]), strict=True)
            except Exception as problem:
                self._leave_out(file_id, row.line, problem)
        return priced

    def _leave_out(self, file_id: int, line: int, problem: Exception) -> None:
        root, path = self._db.execute(
            "SELECT h.path, f.path FROM files f JOIN homes h ON h.id = f.home_id WHERE f.id = ?", (file_id,)
        ).fetchall()[0]
        self._left_out.note(f"{root}/{path}", f"line {line}", problem)

    def take(self, file_id: int, messages: Collection[str]) -> list[CallRow]:
        found: list[CallRow] = []
        for message in messages:
            places = self._db.execute(
                "SELECT line, part FROM api_calls WHERE message_id = ? AND file_id = ?", (message, file_id)
            ).fetchall()
            for line, part in places:
                place = (file_id, line, part)
                found += starmap(
                    CallRow, self._db.execute(f"{_READ} WHERE file_id = ? AND line = ? AND part = ?", place)
                )
                for table in ("api_calls", "shared_calls"):
                    self._db.execute(f"DELETE FROM {table} WHERE file_id = ? AND line = ? AND part = ?", place)
        return sorted(found, key=lambda row: (row.line, row.part))

    def revisit(self, file_id: int) -> None:
        rows = self._db.execute("SELECT message_id FROM api_calls WHERE file_id = ?", (file_id,))
        self._touched.update(row[0] for row in rows)

    def forget(self, file_id: int) -> None:
        self.revisit(file_id)
        for table in ("api_calls", "shared_calls"):
            self._db.execute(f"DELETE FROM {table} WHERE file_id = ?", (file_id,))

    def settle(self) -> None:
        messages, self._touched = self._touched, set()
        db = self._db
        if self._is_bulk:
            self._is_bulk = False
            for _, statement in _INDEXES:
                db.execute(statement)
        if len(messages) > _MANY:
            messages &= {row[0] for row in db.execute(_IN_SEVERAL_PLACES)}
        if not messages:
            return
        db.execute("CREATE TEMP TABLE IF NOT EXISTS touched(message_id TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM temp.touched")
        db.executemany("INSERT INTO temp.touched VALUES (?)", ((message,) for message in messages))
        db.execute(
            "DELETE FROM shared_calls WHERE (file_id, line, part) IN "
            "(SELECT file_id, line, part FROM api_calls WHERE message_id IN temp.touched)"
        )
        try:
            with db:
                write_decisions(db, "a.message_id IN temp.touched", self._pricing)
            return
        except Exception as problem:
            if not blames_row(problem):
                raise
        for message in messages:
            try:
                with db:
                    write_decisions(db, f"a.message_id = {apsw.format_sql_value(message)}", self._pricing)
            except Exception as problem:
                self._left_out.note("API calls", f"copies of message {message}", problem)


def write_decisions(
    db: apsw.Connection, where: str, pricing: Pricing, *, into: str = "shared_calls", within: str = "f.home_id"
) -> None:
    """Decide on calls (see `decisions`), and write those with several copies to a table like `shared_calls`."""
    insert = f"INSERT INTO {into} VALUES ({', '.join('?' * (8 + len(COUNTS)))})"
    for decided in decisions(db, where, within=within):
        db.executemany(insert, [_shared(db, *item, pricing) for item in decided.items()])


def _shared(db: apsw.Connection, place: Place, counted: Counted | None, pricing: Pricing) -> tuple[Any, ...]:
    if counted is None:
        return (*place, 0, None, 0, *(None,) * len(COUNTS), None, None)
    (row,) = starmap(CallRow, db.execute(f"{_READ} WHERE file_id = ? AND line = ? AND part = ?", place))
    for name, count in zip(COUNTS, counted.counts, strict=True):
        setattr(row, name, count)
    return (*place, 1, counted.session_id, counted.copies, *counted.counts, counted.flags, *pricing.costs([row]))


def text_of(column: str) -> str:
    """Return the SQL expression for the text whose id in `strings` a column holds."""
    return f"(SELECT text FROM strings WHERE id = {column})"


_READ: Final = (
    f"SELECT message_id, request_id, {text_of('model_id')}, line, part, time, {', '.join(COUNTS)}, {text_of('tier_id')}, "
    f"{text_of('speed_id')}, {text_of('geo_id')}, {text_of('stop_id')}, subagent_id, {text_of('branch_id')}, "
    f"{text_of('cwd_id')}, session_id, flags, output_line FROM api_calls"
)
_INDEXES: Final = [
    (f"api_calls_by_{columns}", f"CREATE INDEX api_calls_by_{columns} ON api_calls({columns})")
    for table in TABLES
    if table.name == "api_calls"
    for columns in table.indexes
]
_IN_SEVERAL_PLACES: Final = (
    "SELECT message_id FROM api_calls GROUP BY message_id HAVING count(*) > 1 UNION "
    "SELECT a.message_id FROM shared_calls s JOIN api_calls a USING (file_id, line, part)"
)
