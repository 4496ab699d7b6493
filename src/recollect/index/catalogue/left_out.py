"""Leave out a row that makes a stage of the index or a search fail, and report which one: one row never stops a whole home.

    try:
        index(row)
    except Exception as problem:
        left_out.note(path, f"line {line}", problem)     # raises the error again if the row is not its cause

Every stage does this and continues after the row. The rows left out are named in the report of the sync and in a message
to the caller. They are tried again when their file is indexed from its start. A search names them in its notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from ...errors import RecollectError

MOST_NAMED: Final = 100
"""The most rows that a report names; further ones are only counted."""
MOST_TOLD: Final = 3

_OF_A_VALUE: Final = (apsw.TooBigError, apsw.ConstraintError, apsw.MismatchError)
"""SQLite's errors about a value that it cannot store; its other errors are about the whole database."""


class LeftOut:
    """Rows that could not be indexed or shown, by file and line."""

    def __init__(self, of: str = "index") -> None:
        self._of = of
        self.count = 0
        self.names: list[str] = []

    def note(self, path: Path | str, place: str, problem: Exception) -> None:
        """Record a row that failed, or a whole file if `place` is empty. Raises errors that the row did not cause."""
        if not blames_row(problem):
            raise problem
        self.count += 1
        if len(self.names) < MOST_NAMED:
            self.names.append(f"{path}{', ' if place else ''}{place}: {type(problem).__name__}")

    def add(self, other: LeftOut) -> None:
        self.count += other.count
        self.names = (self.names + other.names)[:MOST_NAMED]

    @property
    def sentence(self) -> str:
        """Return the message that names the first rows left out; empty if there are none."""
        if not self.count:
            return ""
        named = "; ".join(self.names[:MOST_TOLD])
        more = f"; and {self.count - MOST_TOLD} more" if self.count > MOST_TOLD else ""
        return (
            f"left out of the {self._of}, since Recollect fails on {'it' if self.count == 1 else 'them'}: {named}{more}"
        )


def blames_row(problem: BaseException) -> bool:
    """Return whether an error may be caused by the current row, and not by the disk, the memory or the index itself."""
    if isinstance(problem, apsw.Error):
        return isinstance(problem, _OF_A_VALUE)
    return isinstance(problem, Exception) and not isinstance(problem, (OSError, MemoryError, RecollectError))


def insert_rows(
    db: apsw.Connection, statement: str, rows: Iterable[Sequence[Any]], failed: Callable[[Sequence[Any], Exception], None]
) -> None:  # fmt: skip
    """Insert rows in one statement; if that fails, insert each by itself and call `failed` for those that fail."""
    rows = list(rows)
    try:
        with db:
            db.executemany(statement, rows)
        return
    except Exception as problem:
        if not blames_row(problem):
            raise
    for row in rows:
        try:
            db.execute(statement, row)
        except Exception as problem:
            failed(row, problem)
