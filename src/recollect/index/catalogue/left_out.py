"""Leave out the row that makes a stage of the index fail, and say which one: one row never stops a whole home.

    try:
        take_in(row)
    except Exception as problem:
        left_out.note(path, f"line {line}", problem)     # raised again where the row is not to blame

Every stage does so. What was left out stands in the report of the sync, and is told to whoever asked; then the stage goes on
behind that row. It is tried again when the file is taken in anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from ...errors import RecollectError

MOST_NAMED: Final = 100
"""So many rows are named; of more than these only the number is told."""
MOST_TOLD: Final = 3

_OF_A_VALUE: Final = (apsw.TooBigError, apsw.ConstraintError, apsw.MismatchError)
"""What SQLite says of a value that it cannot store; its other errors are about the whole database."""


class LeftOut:
    """Rows that could not be taken in, by file and line."""

    def __init__(self) -> None:
        self.count = 0
        self.names: list[str] = []

    def note(self, path: Path | str, place: str, problem: Exception) -> None:
        """Name a row that failed, or a whole file where `place` is empty. Raises what says nothing about that row."""
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
        """What there is to tell; empty where nothing was left out."""
        if not self.count:
            return ""
        told = "; ".join(self.names[:MOST_TOLD])
        more = f"; and {self.count - MOST_TOLD} more" if self.count > MOST_TOLD else ""
        return f"left out of the index, since Recollect fails on {'it' if self.count == 1 else 'them'}: {told}{more}"


def blames_row(problem: BaseException) -> bool:
    """Whether an error may come from the row at hand, and not from the disk, the memory or the index itself."""
    if isinstance(problem, apsw.Error):
        return isinstance(problem, _OF_A_VALUE)
    return isinstance(problem, Exception) and not isinstance(problem, (OSError, MemoryError, RecollectError))


def insert_rows(
    db: apsw.Connection, statement: str, rows: Iterable[Sequence[Any]], failed: Callable[[Sequence[Any], Exception], None]
) -> None:  # fmt: skip
    """Insert rows at once; where one cannot be stored, each by itself. `failed` is told of those that cannot."""
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
