"""Sums per file, day and model, kept in the catalogue: `usage` by day, week or month reads them instead of every call.

They hold for one time zone and one price table, noted beside them; where either is another one, all are made anew. Files
whose calls changed are in `sums_stale` until their sums are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from math import gcd
from operator import add, floordiv
from typing import Any, Final

import apsw

from ..index.call_packs import (
    COUNTS,
    FLAGS,
    GEO,
    LOWER_BOUND,
    MODEL,
    ODD,
    PARTIAL,
    SPEED,
    TIER,
    TIME,
    WIDTH,
    ZONELESS,
    Columns,
    Row,
    all_calls,
    rows_of,
)
from ..index.catalogue import LOCK_SECONDS, Catalogue
from .cost import UNIT, Counts
from .prices.book import NO_BOUND, PriceBook, Tariff
from .totals import Totals
from .zones import Zone

_NOTE: Final = "day_sums"
_COUNTS: Final = "input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches"
_INSERT: Final = f"INSERT INTO day_sums VALUES ({', '.join('?' * 17)})"
_NAMES: Final = ("calls", *_COUNTS.split(", "), "cost", "unpriced", "lower_bounds", "odd", "zoneless", "copies")
_AMOUNTS: Final = len(_NAMES)
_ODD: Final = ODD | PARTIAL
#: From when to when rates hold, above which prompt the second ones do; both, doubled, and what they are parts of.
_Rates = tuple[int, int, int, "tuple[int, ...]", "tuple[int, ...]", int]
#: Model, speed, tier and place of calls, as numbers of `strings`.
Kind = tuple[int, "int | None", "int | None", "int | None"]


class DaySums:
    """Keeps the sums. It listens to the stage "calls", so that a first report reads nothing twice."""

    def __init__(self, catalogue: Catalogue, zone: Zone, book: PriceBook) -> None:
        self._catalogue = catalogue
        self._db = catalogue.connection
        self._zone = zone
        self._book = book
        self._texts: dict[int | None, str | None] = {None: None}
        self._spells: dict[Kind, list[_Rates]] = {}
        self._rows: list[tuple[Any, ...]] = []

    def check(self, lock_seconds: float = LOCK_SECONDS) -> None:
        """Throw away sums of another zone or price table. Done before a sync, so that what it adds belongs together."""
        label = f"{self._zone.name}|{self._book.version}"
        found = self._db.execute("SELECT value FROM notes WHERE name = ?", (_NOTE,)).get
        if found == label:
            return
        with self._catalogue.locked(lock_seconds), self._catalogue.transaction() as db:
            db.execute("DELETE FROM day_sums")
            db.execute("INSERT OR IGNORE INTO sums_stale SELECT file_id FROM call_packs")
            self._catalogue.set_note(_NOTE, label)

    def renew(self, lock_seconds: float = LOCK_SECONDS) -> None:
        """Make the sums of all files whose calls changed."""
        if self._db.execute("SELECT 1 FROM sums_stale LIMIT 1").get is None:
            return
        with self._catalogue.locked(lock_seconds), self._catalogue.transaction() as db:
            shared = {
                row[:4]: row[4:]
                for row in db.execute(
                    "SELECT home_id, message_id, request_id, model_id, file_id, number, flags, copies - 1, "
                    f"{_COUNTS} FROM shared_calls"
                )
            }
            homes: dict[int, int] = dict(
                iter(db.execute("SELECT f.id, f.home_id FROM sums_stale s JOIN files f ON f.id = s.file_id"))
            )
            self.start()
            db.execute("DELETE FROM day_sums WHERE file_id IN sums_stale")
            for file_id, columns in all_calls(db, homes):
                home = homes[file_id]
                if shared:
                    rows = [
                        (*row, 0)
                        if joined is None
                        else (*row[:5], *joined[4:], *row[12:FLAGS], joined[2], *row[FLAGS + 1 :], joined[3])
                        for number, row in enumerate(rows_of(columns))
                        if (joined := shared.get((home, *row[:3]))) is None or joined[:2] == (file_id, number)
                    ]
                    columns = tuple(zip(*rows, strict=True))
                self.take(file_id, columns)
            self.write()
            db.execute("DELETE FROM sums_stale")

    def start(self) -> None:
        """A transaction begins: what was taken in one that did not come to its end is forgotten."""
        self._rows = []

    def take(self, file_id: int, columns: Columns) -> None:
        """Add the sums of a file that has none, at the next `write`. `columns` are those of its pack; a last one may tell
        how often each call stands in other files."""
        if not columns:
            return
        models, times, tiers, speeds, geos = columns[MODEL], columns[TIME], columns[TIER], columns[SPEED], columns[GEO]
        size, kind = len(models), (models[0], speeds[0], tiers[0], geos[0])
        if (
            models.count(kind[0]) == size
            and speeds.count(kind[1]) == size
            and tiers.count(kind[2]) == size
            and geos.count(kind[3]) == size
            and None not in times
            and (day := self._zone.day(first := min(times))) == self._zone.day(last := max(times))
        ):  # as nearly every file is
            amounts = [0] * _AMOUNTS
            self._add(amounts, columns, kind, first, last)
            self._rows.append((file_id, day, kind[0], *amounts))
            return
        sums: dict[tuple[str, int], list[int]] = {}
        for kind, alike in _split(columns, list(zip(models, speeds, tiers, geos, strict=True))):
            for day, calls in _split(alike, list(map(self._zone.day, alike[TIME]))):
                times = calls[TIME]
                moments = (None, None) if None in times else (min(times), max(times))
                self._add(sums.setdefault((day, kind[0]), [0] * _AMOUNTS), calls, kind, *moments)
        self._rows += [(file_id, *key, *amounts) for key, amounts in sums.items()]

    def write(self) -> None:
        """Into the catalogue with what was taken, in the transaction that brings the calls."""
        rows, self._rows = self._rows, []
        self._db.executemany(_INSERT, rows)

    def _add(self, found: list[int], columns: Columns, kind: Kind, first: int | None, last: int | None) -> None:
        """Sums of calls of one day and kind, the first and the last at these times: None where not all have one."""
        fresh, output, short, long, read, _, searches = counts = columns[COUNTS]
        found[0] += len(fresh)
        for place, column in enumerate(counts, 1):
            found[place] += sum(column)
        flags = columns[FLAGS]
        if any(flags):
            found[10] += sum([flag & LOWER_BOUND for flag in flags])
            found[11] += sum([1 for flag in flags if flag & _ODD])
            found[12] += sum([1 for flag in flags if flag & ZONELESS])
        if len(columns) > WIDTH:
            found[13] += sum(columns[WIDTH])
        spell = None if first is None or last is None else self._spell(first, kind)
        if spell is None or last is None or last >= spell[1]:
            self._costs(found, columns, kind)
            return
        _, _, bound, (a, b, c, d, e), above, unit = spell
        prompts = zip(fresh, output, short, long, read, strict=True)
        if bound == NO_BOUND or max(fresh) + max(short) + max(long) + max(read) <= bound:  # the same rates for all
            doubled = [f * a + o * b + s * c + m * d + r * e + unit for f, o, s, m, r in prompts]
        else:
            v, w, x, y, z = above
            doubled = [
                f * a + o * b + s * c + m * d + r * e + unit
                if f + s + m + r <= bound
                else f * v + o * w + s * x + m * y + r * z + unit
                for f, o, s, m, r in prompts
            ]
        whole = 2 * unit
        halves = sum([amount // whole & 1 for amount in doubled if not amount % whole])  # see `_costs`
        found[8] += sum(map(floordiv, doubled, repeat(whole))) - halves + sum(searches) * self._book.search

    def _costs(self, found: list[int], columns: Columns, kind: Kind) -> None:
        """What calls of one kind cost, each at the rates of its time and length."""
        search = self._book.search
        cost = low = high = bound = unit = whole_unit = 0  # no moment lies between these: the first call asks
        below: tuple[int, ...] = ()
        above: tuple[int, ...] = ()
        for when, fresh, output, short, long, read, searches in zip(
            columns[TIME], *columns[COUNTS][:5], columns[COUNTS][6], strict=True
        ):
            if when is None or not low <= when < high:
                spell = self._spell(when, kind)
                if spell is None:
                    found[9] += 1
                    continue
                low, high, bound, below, above, unit = spell
                whole_unit = 2 * unit
            a, b, c, d, e = above if fresh + short + long + read > bound else below
            whole, rest = divmod(fresh * a + output * b + short * c + long * d + read * e + unit, whole_unit)
            if not rest and whole & 1:  # exactly a half: as `rounded` does it, without the way there
                whole -= 1
            cost += whole
            if searches:
                cost += searches * search
        found[8] += cost

    def _spell(self, when: int | None, kind: Kind) -> _Rates | None:
        """The rates of a response, kept for the next one of the same kind and time."""
        if when is not None:
            for kept in self._spells.get(kind, ()):
                if kept[0] <= when < kept[1]:
                    return kept
        name, *terms = (self._text(number) for number in kind)
        if when is None:
            whole = 1 << 62
            tariffs = [self._book.tariff(name or "", None, prompt, *terms) for prompt in (0, whole)]
            if tariffs[0] is None or tariffs[1] is None:
                return None
            return _rates(0, 0, self._book.bound(name or "", terms[0]), tariffs[0], tariffs[1])
        found = self._book.spell(name or "", when, *terms)
        if found is None:
            return None
        rates = _rates(*found)
        self._spells.setdefault(kind, []).append(rates)
        return rates

    def _text(self, number: int | None) -> str | None:
        try:
            return self._texts[number]
        except KeyError:
            found: str | None = self._db.execute("SELECT text FROM strings WHERE id = ?", (number,)).get
            self._texts[number] = found
            return found

    def days_of_sessions(self, homes: Iterable[int]) -> dict[str, set[str]]:
        """The days on which each session, its sub-agents with it, made calls."""
        numbers = list(homes)
        found: dict[str, set[str]] = {}
        for session, day in self._db.execute(
            "SELECT DISTINCT f.session_id, s.day FROM day_sums s JOIN files f ON f.id = s.file_id "
            f"WHERE f.home_id IN ({', '.join('?' * len(numbers))}) AND f.session_id IS NOT NULL AND s.day > ''",
            numbers,
        ):
            found.setdefault(session, set()).add(day)
        return found

    def totals(self, homes: Iterable[int], first: str | None, last: str | None) -> dict[tuple[str, str], Totals]:
        """Totals by (day, model). `first` and `last` are days, both included."""
        numbers = list(homes)
        marks = ", ".join("?" * len(numbers))
        limits = (" AND s.day >= ?" if first else "") + (" AND s.day <= ?" if last else "")
        source = (
            "FROM day_sums s JOIN files f ON f.id = s.file_id JOIN strings m ON m.id = s.model_id "
            f"WHERE f.home_id IN ({marks}){limits}"
        )
        values = [*numbers, *(day for day in (first, last) if day)]
        sums = ", ".join(f"sum({name})" for name in _NAMES)
        rows: list[tuple[Any, ...]]
        try:
            rows = self._db.execute(
                f"SELECT s.day, m.text, {sums} {source} GROUP BY s.day, s.model_id ORDER BY 1, 2", values
            ).fetchall()
        except apsw.SQLError:  # more than the database can add up
            rows = _added(
                self._db.execute(f"SELECT s.day, m.text, {', '.join(_NAMES)} {source} ORDER BY 1, 2", values).fetchall()
            )
        return {(row[0], row[1]): Totals(row[2], Counts(*row[3:10]), *row[10:]) for row in rows}


def _added(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    for day, model, *amounts in rows:
        before = found.get((day, model))
        found[day, model] = tuple(amounts) if before is None else tuple(map(add, before, amounts))
    return [(*key, *amounts) for key, amounts in found.items()]


def _rates(low: int, high: int, bound: int, short: Tariff, long: Tariff) -> _Rates:
    """Rates as small as they can be written: sums of small numbers are quicker. Doubled, so that a half is a whole number."""
    part = gcd(UNIT, *short.rates, *long.rates)
    below, above = (tuple(2 * rate // part for rate in tariff.rates) for tariff in (short, long))
    return low, high, bound, below, above, UNIT // part


def _split(columns: Columns, keys: Sequence[Any]) -> Iterable[tuple[Any, Columns]]:
    """Columns of the calls that have the same key, for each key."""
    parts: dict[Any, list[Row]] = {}
    for key, row in zip(keys, rows_of(columns), strict=True):
        parts.setdefault(key, []).append(row)
    return [(key, tuple(zip(*rows, strict=True))) for key, rows in parts.items()]
