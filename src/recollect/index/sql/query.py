"""Run SQL queries in a child process, with limits on time, rows, bytes and memory, and a way to cancel.

    answer = Question(database, "SELECT count(*) FROM sessions").answer()

The child (`child.py`) opens the database read-only and is locked down before it reads the query. Cancelling kills the
child, so every query can be stopped.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...errors import QueryError, RecollectError, Refused, Unavailable
from ...own_program import child_command
from .wire import pack, read_frame, tagged

EXAMPLE: Final = 'recollect sql "SELECT project, count(*) FROM sessions GROUP BY project"'


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one query."""

    seconds: float = 10.0
    rows: int = 100_000
    memory: int = 1 << 30
    bytes: int = 64 << 20
    """Limit on the bytes of the rows that the child sends."""
    threads: int = field(default_factory=lambda: min(os.cpu_count() or 1, 4))


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result: its name, which is unique in the result, and DuckDB's type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a query. `cut` is "rows" or "bytes" if that limit cut some rows off."""

    columns: tuple[ResultColumn, ...]
    rows: list[list[Any]]
    cut: str = ""
    seconds: float = 0.0
    count: int = 0
    sealed: bool = False
    """Whether the operating system also prevented the process from opening files (see `child.seal`)."""

    def dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries by column name."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class Question:
    """One SQL query. `answer` waits for the result; `cancel` may be called from another thread at any time."""

    def __init__(
        self,
        database: Path,
        sql: str,
        parameters: Sequence[Any] | Mapping[str, Any] = (),
        *,
        limits: Limits | None = None,
        time_zone: str | None = None,
        parquet: Path | None = None,
    ) -> None:
        self.database = database
        self.sql = sql
        self.parameters = parameters
        self.limits = limits or Limits()
        self.time_zone = time_zone
        self.parquet = parquet
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended_by = ""

    def cancel(self) -> None:
        self._end("cancel")

    def answer(self) -> Answer:
        """Run the query and return its result. Raises QueryError, Refused or Unavailable; Ctrl-C ends the child too."""
        began = time.monotonic()
        process = self._start()
        clock = threading.Timer(self.limits.seconds, self._end, ("time",))
        clock.daemon = True
        clock.start()
        try:
            return self._read(process, began)
        except (EOFError, ValueError, OSError):
            process.wait()
            raise self._ended(process.returncode) from None
        finally:
            clock.cancel()
            self._end("done")
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def _start(self) -> subprocess.Popen[bytes]:
        request = {
            "database": str(self.database),
            "sql": self.sql,
            "parameters": _parameters(self.parameters),
            "time_zone": self.time_zone,
            "parquet": None if self.parquet is None else str(self.parquet),
            "seconds": self.limits.seconds,
            "rows": self.limits.rows,
            "memory": self.limits.memory,
            "bytes": self.limits.bytes,
            "threads": self.limits.threads,
        }
        try:
            frame = pack(request)
        except UnicodeEncodeError:
            raise QueryError("SQL with characters that are not Unicode text", slug="bad-sql") from None
        with self._lock:
            if self._ended_by:
                raise self._ended(None)
            # An empty environment, so that no variable changes how the child runs. Windows needs the real one.
            environment: dict[str, str] | None = None if os.name == "nt" else {}
            self._process = process = subprocess.Popen(
                child_command("recollect.index.sql.child"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                bufsize=0,
            )
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # the child died: `answer` reports that by its exit code
            process.stdin.write(frame)
        return process

    def _read(self, process: subprocess.Popen[bytes], began: float) -> Answer:
        assert process.stdout is not None
        rows: list[list[Any]] = []
        columns: tuple[ResultColumn, ...] = ()
        sealed = False
        while True:
            message = read_frame(process.stdout.read)
            if not isinstance(message, dict):
                raise ValueError("no message")
            if "error" in message:
                raise self._mistake(message)
            if "columns" in message:
                columns, sealed = _columns(message["columns"]), bool(message.get("sealed"))
            elif "rows" in message:
                rows.extend(message["rows"])
            else:
                count = message.get("count", len(rows))
                return Answer(columns, rows, str(message["end"]), time.monotonic() - began, count, sealed)

    def _end(self, reason: str) -> None:
        with self._lock:
            if not self._ended_by:
                self._ended_by = reason
            if self._process is not None and self._process.poll() is None:
                self._process.kill()

    def _ended(self, code: int | None) -> RecollectError:
        """Return the error that explains why there is no result."""
        if self._ended_by == "cancel":
            return QueryError("the query was cancelled", slug="sql-cancelled")
        if self._ended_by == "time":
            return QueryError(
                f"the query took longer than {self.limits.seconds:g} seconds and was stopped",
                hint="ask for less: a shorter time, fewer joins, a LIMIT inside",
                slug="sql-limit",
            )
        if code in (-6, -9, -11):
            return self._no_memory()
        return Unavailable(f"the process that answers SQL ended without an answer ({code})", slug="sql-failed")

    def _no_memory(self) -> QueryError:
        return QueryError(
            f"the query needs more than {self.limits.memory >> 20} MB of memory and was stopped",
            hint="ask for less: fewer columns, a GROUP BY over fewer values, a LIMIT inside",
            slug="sql-limit",
        )

    def _mistake(self, message: Mapping[str, Any]) -> RecollectError:
        kind, text = str(message["error"]), str(message.get("message", ""))
        if kind == "Out of Memory":
            return self._no_memory()
        if kind == "Row Too Large":
            return QueryError(
                f"a single row of the answer has more than {self.limits.bytes / 1e6:,.0f} MB",
                hint="ask for fewer columns, or for a part of the text: substr(text, 1, 1000)",
                slug="sql-limit",
            )
        if kind in ("Refused", "Permission"):
            words = with_place(self.sql, text, message.get("position"), 1)
            return Refused(f"SQL: {words}", hint="a question is one SELECT over the tables", slug="sql-not-allowed")
        if kind == "Open":
            return Unavailable(f"the database of the SQL tables cannot be opened: {text}", slug="sql-broken")
        if kind in ("IO", "Internal", "Fatal", "INTERNAL", "FATAL"):
            return Unavailable(f"the query could not be answered: {text}", slug="sql-failed")
        words = with_place(self.sql, text, message.get("position"), message.get("length"))
        return QueryError(f"SQL: {words}", hint=f"for example: {EXAMPLE}", slug="bad-sql")


def _parameters(given: Sequence[Any] | Mapping[str, Any]) -> Any:
    if isinstance(given, Mapping):
        return {str(name): tagged(value) for name, value in given.items()}
    return [tagged(value) for value in given]


def _columns(given: Any) -> tuple[ResultColumn, ...]:
    """Give columns unique names: a second `count` becomes `count_1`."""
    taken: set[str] = set()
    columns = []
    for name, kind in given:
        own, number = str(name), 0
        while own in taken:
            number += 1
            own = f"{name}_{number}"
        taken.add(own)
        columns.append(ResultColumn(own, str(kind)))
    return tuple(columns)


def with_place(sql: str, message: str, position: object, length: object) -> str:
    """Add line and column to an error message, and below it the line with marks under the mistake."""
    if not isinstance(position, int):
        return message
    before = sql.encode("utf-8", "replace")[:position].decode("utf-8", "ignore")
    line = before.count("\n")
    column = len(before) - (before.rfind("\n") + 1)
    lines = sql.split("\n")
    if line >= len(lines):
        return message
    shown, start = lines[line].replace("\t", " "), 0
    if len(shown) > 100:  # of a long line, show the part around the mistake
        start = max(column - 50, 0)
        shown = ("…" if start else "") + shown[start : start + 100]
        start -= 1 if start else 0
    marks = min(length, max(len(shown) - (column - start), 1)) if isinstance(length, int) and length > 0 else 1
    first, _, rest = message.partition("\n")
    words = f"{first} (line {line + 1}, column {column + 1})\n  {shown}\n  {' ' * (column - start)}{'^' * marks}"
    return f"{words}\n{rest}" if rest else words
