"""Sums per file, day and model, kept in the catalogue: `usage` by day, week or month reads them instead of every call.

They hold for one time zone and one price table, noted beside them; where either is another one, all are made anew. Files
whose calls changed are in `sums_stale` until their sums are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ..index.catalogue import Catalogue
from .cost import Counts, rounded
from .prices.book import PriceBook, Tariff
from .totals import Totals
from .zones import Zone

_NOTE: Final = "day_sums"
_COUNTS: Final = "input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches"
_INSERT: Final = f"INSERT INTO day_sums VALUES ({', '.join('?' * 15)})"

#: Columns of `call_rows`: what a sum needs of one.
Row = tuple[Any, ...]


class DaySums:
    """Keeps the sums. `take` is a listener for the stage "calls", so that a first report reads nothing twice."""

    def __init__(self, catalogue: Catalogue, zone: Zone, book: PriceBook) -> None:
        self._catalogue = catalogue
        self._db = catalogue.connection
        self._zone = zone
        self._book = book
        self._texts: dict[int | None, str | None] = {None: None}
        self._spells: dict[tuple[int, int | None, int | None, int | None], tuple[int, int, int, Tariff, Tariff]] = {}

    def check(self) -> None:
        """Throw away sums of another zone or price table. Done before a sync, so that what it adds belongs together."""
        label = f"{self._zone.name}|{self._book.version}"
        found = self._db.execute("SELECT value FROM notes WHERE name = ?", (_NOTE,)).get
        if found == label:
            return
        with self._catalogue.locked(), self._catalogue.transaction() as db:
            db.execute("DELETE FROM day_sums")
            db.execute("INSERT OR IGNORE INTO sums_stale SELECT DISTINCT file_id FROM call_rows")
            self._catalogue.set_note(_NOTE, label)

    def renew(self) -> None:
        """Make the sums of all files whose calls changed."""
        if self._db.execute("SELECT 1 FROM sums_stale LIMIT 1").get is None:
            return
        with self._catalogue.locked(), self._catalogue.transaction() as db:
            shared = {
                row[:4]: row[4:]
                for row in db.execute(
                    f"SELECT home_id, message_id, request_id, model_id, file_id, number, flags, {_COUNTS} FROM shared_calls"
                )
            }
            few = db.execute("SELECT count(*) FROM sums_stale").get < 50
            order = "CROSS JOIN" if few else "JOIN"
            rows = db.execute(
                f"SELECT f.home_id, c.* FROM sums_stale s {order} call_rows c ON c.file_id = s.file_id "
                f"{order} files f ON f.id = c.file_id ORDER BY c.file_id"
            )
            gathered: dict[int, list[Row]] = {}
            for home, *row in rows:
                joined = shared.get((home, row[2], row[3], row[4])) if shared else None
                if joined is not None:
                    if joined[0] != row[0] or joined[1] != row[1]:
                        continue
                    row[7:14] = joined[3:]
                    row[21] = joined[2]
                gathered.setdefault(row[0], []).append(tuple(row))
            db.execute("DELETE FROM day_sums WHERE file_id IN sums_stale")
            for file_id, calls in gathered.items():
                self.take(file_id, calls)
            db.execute("DELETE FROM sums_stale")

    def take(self, file_id: int, rows: Sequence[Row]) -> None:
        """Add the sums of a file that has none. `rows` are those of `call_rows`."""
        sums: dict[tuple[str, int], list[int]] = {}
        day_of, spells, search = self._zone.day, self._spells, self._book.search
        for row in rows:
            (_, _, _, _, model, _, when, fresh, output, short, long, read, thinking, searches, tier, speed, geo, _, _, _,
             _, flags) = row  # fmt: skip
            key = (day_of(when), model)
            found = sums.get(key)
            if found is None:
                found = sums[key] = [0] * 12
            found[0] += 1
            found[1] += fresh
            found[2] += output
            found[3] += short
            found[4] += long
            found[5] += read
            found[6] += thinking
            found[7] += searches
            spell = spells.get((model, speed, tier, geo))
            if when is None or spell is None or not spell[0] <= when < spell[1]:
                spell = self._spell(model, when, speed, tier, geo)
            if spell is None:
                found[9] += 1
            else:
                a, b, c, d, e = (spell[4] if fresh + short + long + read > spell[2] else spell[3]).rates
                found[8] += rounded(fresh * a + output * b + short * c + long * d + read * e) + searches * search
            if flags & 3:
                found[10] += flags & 1
                found[11] += flags >> 1 & 1
        self._db.executemany(_INSERT, [(file_id, *key, *amounts) for key, amounts in sums.items()])

    def _spell(
        self, model: int, when: int | None, speed: int | None, tier: int | None, geo: int | None
    ) -> tuple[int, int, int, Tariff, Tariff] | None:
        """The rates of a response, kept for the next one of the same kind and time."""
        name, *terms = (self._text(number) for number in (model, speed, tier, geo))
        if when is None:
            whole = 1 << 62
            tariffs = [self._book.tariff(name or "", None, prompt, *terms) for prompt in (0, whole)]
            if tariffs[0] is None or tariffs[1] is None:
                return None
            return 0, 0, self._book.bound(name or "", terms[0]), tariffs[0], tariffs[1]
        found = self._book.spell(name or "", when, *terms)
        if found is not None:
            self._spells[model, speed, tier, geo] = found
        return found

    def _text(self, number: int | None) -> str | None:
        try:
            return self._texts[number]
        except KeyError:
            found: str | None = self._db.execute("SELECT text FROM strings WHERE id = ?", (number,)).get
            self._texts[number] = found
            return found

    def totals(self, homes: Iterable[int], first: str | None, last: str | None) -> dict[tuple[str, str], Totals]:
        """Totals by (day, model). `first` and `last` are days, both included."""
        numbers = list(homes)
        marks = ", ".join("?" * len(numbers))
        limits = (" AND s.day >= ?" if first else "") + (" AND s.day <= ?" if last else "")
        rows = self._db.execute(
            "SELECT s.day, m.text, sum(calls), sum(input), sum(output), sum(cache_write_5m), sum(cache_write_1h), "
            "sum(cache_read), sum(thinking), sum(web_searches), sum(cost), sum(unpriced), sum(lower_bounds), sum(odd) "
            "FROM day_sums s JOIN files f ON f.id = s.file_id JOIN strings m ON m.id = s.model_id "
            f"WHERE f.home_id IN ({marks}){limits} GROUP BY s.day, s.model_id ORDER BY 1, 2",
            [*numbers, *(day for day in (first, last) if day)],
        )
        return {
            (row[0], row[1]): Totals(row[2], Counts(*row[3:10]), row[10], row[11], row[12], row[13]) for row in rows
        }
