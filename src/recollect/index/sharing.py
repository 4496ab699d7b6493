"""Calls that stand in several files of one home: found, joined (the largest of each count), and booked on one file.

Booked is where the call appeared first: the earliest time; where that is the same (copies keep their times), a line that
was not copied before one that was, a session before a sub-agent, the file that was begun first (a fork repeats older rows
behind newer lines), then by path. So the answer does not depend on the order in which files were taken in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from .call_packs import (
    COPIED,
    COUNTS,
    FLAGS,
    LOWER_BOUND,
    MESSAGE,
    MODEL,
    ODD,
    PARTIAL,
    REQUEST,
    TIME,
    all_calls,
    calls_of,
    files_with,
    rows_of,
)
from .catalogue import Catalogue
from .file_calls import CallKey
from .nameless_calls import names_of
from .tracking import FileChange

#: Message, request, number of the model.
Key = tuple[str, str, int]
_SOME_FILE: Final = 0
"""Stands for a file that was there before: it may be one of several with that call."""
_NAMELESS: Final = "nameless"
"""Stands behind a copy that has no model."""
_NAMED_WIDTH: Final = 14
_INSERT: Final = f"INSERT OR REPLACE INTO shared_calls VALUES ({', '.join('?' * 15)})"


class Sharing:
    """Which keys must be looked at again, and the looking."""

    def __init__(self, catalogue: Catalogue, *, many: bool) -> None:
        self._db = catalogue.connection
        self._catalogue = catalogue
        self._touched: dict[int, set[Key]] = {}
        self._home_ids: dict[str, int] = {}
        self._seen: dict[int, dict[int, int]] | None = {} if many else None
        """By home: hashes of the calls that came so far, and the file that brought each one. What comes for the first time
        needs not be looked for. The calls themselves would fill much more memory; two with the same hash are only looked
        for in vain."""
        self._holders: dict[int, set[int]] | None = {} if many else None
        """Files of hashes that came more than once; None where files were there before, or may have lost calls."""
        self._nameless: dict[int, set[tuple[str, str]]] = {}
        """By home: messages and requests of calls that some file has without a model, as far as `_seen` is kept."""
        self._files: set[int] = set()
        """The files that hold what was touched, as far as `_holders` tells."""
        if self._seen is not None:
            homes: dict[int, int] = dict(iter(self._db.execute("SELECT id, home_id FROM files")))
            names: dict[int, str] = dict(iter(self._db.execute("SELECT id, text FROM strings")))
            nameless = self._nameless_number()
            for file_id, columns in all_calls(self._db):
                self._holders = None
                seen = self._seen.setdefault(homes[file_id], {})
                models = map(names.__getitem__, columns[MODEL])
                if nameless is not None and nameless in columns[MODEL]:
                    keys = zip(columns[MESSAGE], columns[REQUEST], columns[MODEL], strict=True)
                    pairs = {key[:2] for key in keys if key[2] == nameless}
                    self._nameless.setdefault(homes[file_id], set()).update(pairs)
                hashes = map(hash, zip(columns[MESSAGE], columns[REQUEST], models, strict=True))
                seen.update(zip(hashes, repeat(_SOME_FILE)))

    def _nameless_number(self) -> int | None:
        """The number of the model of calls that have none; None where there are no such calls."""
        found: int | None = self._db.execute("SELECT id FROM strings WHERE text = ''").get
        return found

    def _home(self, change: FileChange) -> int:
        root = change.home.real_root
        found = self._home_ids.get(root)
        if found is None:
            found = self._home_ids[root] = self._catalogue.home_id(root, make=True) or 0
        return found

    def forget(self, change: FileChange) -> None:
        """Before the rows of a file go: what it shared is shared no longer."""
        self._holders = None
        touched = self._touched.setdefault(self._home(change), set())
        touched.update(row[:3] for row in calls_of(self._db, change.file_id))

    def note(self, change: FileChange, calls: Mapping[CallKey, Sequence[Any]]) -> None:
        """After calls of a file came."""
        home = self._home(change)
        rows: Iterable[Sequence[Any]] = calls.values()
        if self._seen is not None:
            hashes = list(map(hash, calls))
            bringers = list(map(self._seen.setdefault(home, {}).setdefault, hashes, repeat(change.file_id)))
            if change.start > 0:
                self._holders = None  # calls that were there may have grown
            elif bringers.count(change.file_id) == len(bringers):
                return
            else:
                self._hold(change.file_id, hashes, bringers)
                rows = [row for row, bringer in zip(rows, bringers, strict=True) if bringer != change.file_id]
        touched = self._touched.setdefault(home, set())
        touched.update((row[MESSAGE], row[REQUEST], row[MODEL]) for row in rows)

    def note_nameless(self, change: FileChange, calls: Mapping[CallKey, Sequence[Any]]) -> None:
        """Before `note`, where calls without a model are known: such a call may be one that another file has with its model."""
        if self._seen is None:
            return  # all are looked for
        home = self._home(change)
        nameless = self._nameless.setdefault(home, set())
        nameless.update(key[:2] for key in calls if not key[2])
        again = [row for key, row in calls.items() if key[:2] in nameless]
        if again:
            self._holders = None
            touched = self._touched.setdefault(home, set())
            touched.update((row[MESSAGE], row[REQUEST], row[MODEL]) for row in again)

    def _hold(self, file_id: int, hashes: Sequence[int], bringers: Sequence[int]) -> None:
        """Note that a file holds calls which other files brought."""
        if self._holders is None:
            return
        for value, bringer in zip(hashes, bringers, strict=True):
            if bringer != file_id:
                holders = self._holders.setdefault(value, {bringer})
                holders.add(file_id)
                self._files |= holders

    def settle(self) -> set[int]:
        """Book every call that was touched. Returns the files whose sums change by that."""
        stale: set[int] = set()
        messages = {key[0] for keys in self._touched.values() for key in keys}
        if not messages:
            return stale
        found: dict[int, dict[Key, list[tuple[Any, ...]]]] = {
            home: {key: [] for key in keys} for home, keys in self._touched.items()
        }
        files = files_with(self._db, messages) if self._holders is None else sorted(self._files)
        nameless = self._nameless_number()
        facts = {
            row[0]: row[1:]
            for row in self._db.execute(
                "SELECT f.id, f.home_id, f.kind, f.path, g.begun FROM files f LEFT JOIN call_files g ON g.file_id = f.id "
                f"WHERE f.id IN ({', '.join(map(str, files))})"
            )
        }
        if nameless is not None:
            self._look_for_all_models(found, files, facts)
        for file_id, columns in all_calls(self._db, files):
            home, kind, path, begun = facts[file_id]
            wanted = found.get(home)
            if wanted is None:
                continue
            for number, row in enumerate(rows_of(columns)):
                copies = wanted.get(row[:3])
                if copies is not None:
                    copies.append((file_id, number, row[TIME], row[FLAGS], kind, path, *row[COUNTS], begun))
        for home, wanted in found.items():
            before = self._booked(home, messages)
            names = {} if nameless is None else self._names(wanted, nameless)
            for key, name in names.items():
                wanted[name] += [(*copy, _NAMELESS) for copy in wanted.pop(key)]
            booked = {key: self._settle(home, key, copies, before.get(key), stale) for key, copies in wanted.items()}
            for key, name in names.items():  # its lines point to the call that they are part of
                booked[key] = (home, *key, *(booked[name] or ())[4:])
                stale.update(file_id for file_id in [before.get(key)] if file_id is not None)
            self._db.executemany(_INSERT, [row for row in booked.values() if row is not None])
        self._touched.clear()
        self._files.clear()
        return stale

    def _look_for_all_models(
        self,
        found: dict[int, dict[Key, list[tuple[Any, ...]]]],
        files: Iterable[int],
        facts: Mapping[int, Sequence[Any]],
    ) -> None:
        """What one model's call is booked on may change where lines without a model come or go: look at all of a request."""
        pairs = {home: {key[:2] for key in wanted} for home, wanted in found.items()}
        for file_id, columns in all_calls(self._db, files):
            home = facts[file_id][0]
            for key in zip(columns[MESSAGE], columns[REQUEST], columns[MODEL], strict=True):
                if key[:2] in pairs.get(home, ()):
                    found[home].setdefault(key, [])

    def _names(self, wanted: Mapping[Key, Sequence[Any]], nameless: int) -> dict[Key, Key]:
        """Calls that stand somewhere without a model, each with the one that it is. Of several it is the earliest."""
        there = [key for key, copies in wanted.items() if copies]
        return names_of(sorted(there, key=lambda key: (min(map(_order, wanted[key])), key)), nameless)

    def _booked(self, home: int, messages: Collection[str]) -> dict[Key, int]:
        """Calls of these messages that are shared until now, and the files they are booked on."""
        rows = self._db.execute(
            "SELECT message_id, request_id, model_id, file_id FROM shared_calls WHERE home_id = ?", (home,)
        )
        return {(message, request, model): file_id for message, request, model, file_id in rows if message in messages}

    def _settle(
        self, home: int, key: Key, rows: list[tuple[Any, ...]], before: int | None, stale: set[int]
    ) -> tuple[Any, ...] | None:
        """The row of a call that stands in several files; None for one that does not, or not any more."""
        where = (home, *key)
        if before is not None:
            stale.add(before)
        if len(rows) < 2:
            if before is not None:
                self._db.execute(
                    "DELETE FROM shared_calls WHERE home_id = ? AND message_id = ? AND request_id = ? AND model_id = ?",
                    where,
                )
                stale.update(row[0] for row in rows)
            return None
        owner = min(rows, key=_order)
        counts = list(map(max, *(row[6:13] for row in rows)))
        flags = owner[3] & ~(LOWER_BOUND | ODD | PARTIAL)
        for holds_for_all in (LOWER_BOUND, PARTIAL):
            if all(row[3] & holds_for_all for row in rows):
                flags |= holds_for_all
        if any(row[3] & ODD for row in rows):
            flags |= ODD
        stale.update(row[0] for row in rows)
        return home, *key, owner[0], owner[1], len(rows), *counts, flags


def _order(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The least of some copies is booked; one without a model only where no other is."""
    return (
        len(row) > _NAMED_WIDTH, row[2] is None, row[2] or 0, row[3] & COPIED, row[4] != "session", row[13] is None,
        row[13] or 0, row[5], row[1],
    )  # fmt: skip
