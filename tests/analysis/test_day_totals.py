"""Sums of many calls at once are the sums of each call alone: around every change of prices, and at exact halves."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from recollect.analysis.cost import Counts, Totals, micro_dollars, usual_prices
from recollect.analysis.prices.book import price_book
from recollect.analysis.usage import day_totals
from recollect.analysis.zones import zone_named
from recollect.index.api_calls.rows import CallRow
from recollect.index.api_calls.store import SqliteCalls
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.left_out import LeftOut
from recollect.index.catalogue.tracking import FileChange, begin
from recollect.store.home import Home

DAY = 86_400_000_000
MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805", "claude-haiku-4-5-20251001", "of-nobody")


def _counts(random: Random) -> tuple[int, ...]:
    small = random.choice((1, 2, 5, 40, 2000, 120_000))
    fresh, output, short, long, read = (random.randrange(small) for _ in range(5))
    return fresh, output, short, long, read, 0, random.choice((0, 0, 0, 2))


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_those_of_each_call(tmp_path: Path, seed: int) -> None:
    random, book, zone = Random(seed), price_book(), zone_named(("UTC", "Asia/Kathmandu", "America/New_York")[seed % 3])
    models = random.sample(MODELS, random.choice((1, 1, 2)))
    days = [random.choice((random.randrange(20_300, 20_700), -3, -700_000)) for _ in range(random.choice((1, 1, 3)))]
    rows: list[CallRow] = []
    wanted: dict[tuple[str, str], Totals] = {}
    for number in range(random.choice((1, 7, 60))):
        model, counts = random.choice(models), Counts(*_counts(random))
        when = None if random.random() < 0.02 else random.choice(days) * DAY + random.randrange(DAY)
        flags = random.choice((0, 0, 1, 2, 3, 32, 34, 64, 99))
        terms = ("standard", None, None, None, None, None, None, None)
        rows.append(CallRow(f"m{number}", "", model, number, 0, when, *counts, *terms, flags, number))
        tariff = book.tariff(model, when, counts.prompt, None, "standard", None)
        cost = None if tariff is None else micro_dollars(counts, tariff, book.search)
        found = wanted.setdefault((zone.day(when), model), Totals())
        found.add(counts, cost, bool(flags & 1), bool(flags & 34), bool(flags & 64))
    with Catalogue.open(tmp_path / "index") as catalogue, catalogue.transaction() as db:
        home = catalogue.home_id("/h", make=True)
        file = begin(catalogue, FileChange(Home(tmp_path), "calls", "projects/-p/s.jsonl", "session", "new"))
        db.execute("UPDATE files SET home_id = ?", (home,))
        sink = SqliteCalls(db, usual_prices(), LeftOut())
        sink.put(file, rows)
        sink.settle()
        assert day_totals(db, home or 0, zone) == wanted
