"""Files that a stage sees for the first time, written many at once: a first sync has nothing else.

In one transaction: `start`, then `begin` and `done` of each file (instead of those of `tracking`), then `write`.
"""

from __future__ import annotations

from typing import Any

from .catalogue import Catalogue
from .tracking import INSERT_FILE, INSERT_PROGRESS, FileChange, file_row, progress_row


class NewFiles:
    """Only for who holds the catalogue's lock: it hands out numbers of files before their rows are there."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._homes: dict[str, int] = {}
        self._changes: list[FileChange] = []
        self._progress: list[tuple[Any, ...]] = []
        self._next = 0

    def start(self) -> None:
        highest = self._catalogue.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'files'").get
        self._next = int(highest or 0)
        self._homes.clear()

    def begin(self, change: FileChange) -> None:
        self._next += 1
        change.file_id = self._next
        self._changes.append(change)

    def done(self, change: FileChange, hashes: tuple[int, int], offset: int, lines: int) -> None:
        """`hashes` are those of `tracking`."""
        self._progress.append(progress_row(change, offset, lines, hashes))

    def unreadable(self, change: FileChange) -> None:
        """It is tried again when it looks different."""
        self._progress.append(progress_row(change))

    def write(self) -> None:
        db, number = self._catalogue.connection, self._catalogue.note("change")
        db.executemany(
            INSERT_FILE, [(change.file_id, *file_row(change, self._home(change), number)) for change in self._changes]
        )
        db.executemany(INSERT_PROGRESS, self._progress)
        self._changes, self._progress = [], []

    def _home(self, change: FileChange) -> int:
        root = change.home.real_root
        found = self._homes.get(root)
        if found is None:
            found = self._homes[root] = self._catalogue.home_id(root, make=True) or 0
        return found
