"""Store the API calls of files: the protocol of a sink for calls, and the sink that writes to the catalogue's tables.

    sink = SqliteCalls(catalogue.connection, pricing, left_out)
    sink.put(file_id, calls)          # in one transaction, for any number of files
    sink.settle()                     # then every response is counted once

`recollect.testing.call_sink_contract` tests what every sink must do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import starmap
from typing import Any, Final, Protocol

import apsw

from ..catalogue.catalogue import Strings
from ..catalogue.left_out import LeftOut, blames_row, insert_rows
from ..catalogue.schema import TABLES
from .dedupe import Counted, Place, decisions
from .flags import COUNTS
from .rows import CallRow, joined_in_file

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
