"""Calls that stand in several files of one home: found, joined (the largest of each count), and booked on one file.

Booked is where the call appeared first: the earliest time; where that is the same (copies keep their times), a line that
was not copied before one that was, a session before a sub-agent, the file that was begun first (a fork repeats older rows
behind newer lines), then by path. So the answer does not depend on the order in which files were taken in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .catalogue import Catalogue
from .file_calls import COPIED, LOWER_BOUND, ODD
from .tracking import FileChange

Key = tuple[str, str, int]

_COUNTS: Final = "input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches"


class Sharing:
    """Which keys must be looked at again, and the looking."""

    def __init__(self, catalogue: Catalogue, *, many: bool) -> None:
        self._db = catalogue.connection
        self._touched: set[tuple[int, Key]] = set()
        self._homes: dict[int, int] = {}
        self._home_ids: dict[str, int] = {}
        self._catalogue = catalogue
        self._seen: dict[tuple[int, Key], int] | None = {} if many else None
        """Where each call was seen first: one pass over the catalogue instead of a question per call."""
        if self._seen is not None:
            rows = self._db.execute(
                "SELECT f.home_id, c.message_id, c.request_id, c.model_id, c.file_id FROM call_rows c "
                "JOIN files f ON f.id = c.file_id"
            )
            for home_id, message, request, model, file_id in rows:
                self._seen.setdefault((home_id, (message, request, model)), file_id)

    def _home(self, change: FileChange) -> int:
        root = change.home.real_root
        found = self._home_ids.get(root)
        if found is None:
            found = self._home_ids[root] = self._catalogue.home_id(root, make=True) or 0
        return found

    def forget(self, change: FileChange) -> None:
        """Before the rows of a file go: what it shared is shared no longer."""
        home = self._home(change)
        rows = self._db.execute(
            "SELECT DISTINCT s.message_id, s.request_id, s.model_id FROM call_rows c JOIN shared_calls s ON "
            "s.home_id = ? AND s.message_id = c.message_id AND s.request_id = c.request_id AND s.model_id = c.model_id "
            "WHERE c.file_id = ?",
            (home, change.file_id),
        )
        for message, request, model in rows:
            self._touched.add((home, (message, request, model)))

    def note(self, change: FileChange, rows: Sequence[tuple[Any, ...]]) -> None:
        """After rows of a file came."""
        home, file_id = self._home(change), change.file_id
        touched = self._touched
        if self._seen is None:
            for row in rows:
                touched.add((home, (row[2], row[3], row[4])))
            return
        seen = self._seen
        for row in rows:
            key = (home, (row[2], row[3], row[4]))
            if seen.setdefault(key, file_id) != file_id:
                touched.add(key)

    def settle(self) -> set[int]:
        """Book every call that was touched. Returns the files whose sums change by that."""
        stale: set[int] = set()
        if not self._touched:
            return stale
        db = self._db
        # One pass over all calls: an index on ids that are drawn at random would cost more than all else at every sync.
        db.execute(
            "CREATE TEMP TABLE IF NOT EXISTS touched(message_id TEXT PRIMARY KEY) WITHOUT ROWID; DELETE FROM touched"
        )
        db.executemany("INSERT OR IGNORE INTO touched VALUES (?)", [(key[0],) for _, key in self._touched])
        found: dict[tuple[int, Key], list[tuple[Any, ...]]] = {place: [] for place in self._touched}
        rows = db.execute(
            "SELECT f.home_id, c.message_id, c.request_id, c.model_id, c.file_id, c.number, c.time, c.flags, f.kind, f.path, "
            f"{_COUNTS}, g.begun FROM call_rows c JOIN files f ON f.id = c.file_id "
            "LEFT JOIN call_files g ON g.file_id = c.file_id WHERE c.message_id IN touched"
        )
        for home, message, request, model, *row in rows:
            place = (home, (message, request, model))
            if place in found:
                found[place].append(tuple(row))
        for (home, key), copies in found.items():
            self._settle(home, key, copies, stale)
        self._touched.clear()
        return stale

    def _settle(self, home: int, key: Key, rows: list[tuple[Any, ...]], stale: set[int]) -> None:
        db = self._db
        where = (home, *key)
        before = db.execute(
            "SELECT file_id FROM shared_calls WHERE home_id = ? AND message_id = ? AND request_id = ? AND model_id = ?",
            where,
        ).get
        if before is not None:
            stale.add(before)
        if len(rows) < 2:
            if before is not None:
                db.execute(
                    "DELETE FROM shared_calls WHERE home_id = ? AND message_id = ? AND request_id = ? AND model_id = ?",
                    where,
                )
                stale.update(row[0] for row in rows)
            return
        owner = min(
            rows,
            key=lambda row: (
                row[2] is None, row[2] or 0, row[3] & COPIED, row[4] != "session", row[13] is None, row[13] or 0, row[5], row[1],
            ),
        )  # fmt: skip
        counts = [max(row[place] for row in rows) for place in range(6, 13)]
        flags = owner[3] & ~(LOWER_BOUND | ODD)
        if all(row[3] & LOWER_BOUND for row in rows):
            flags |= LOWER_BOUND
        if any(row[3] & ODD for row in rows):
            flags |= ODD
        db.execute(
            f"INSERT OR REPLACE INTO shared_calls VALUES ({', '.join('?' * 15)})",
            (home, *key, owner[0], owner[1], len(rows), *counts, flags),
        )
        stale.update(row[0] for row in rows)
