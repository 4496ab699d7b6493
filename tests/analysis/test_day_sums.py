"""Sums of many calls at once are the sums of each call alone: around every change of prices, and at exact halves."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.analysis.cost import Counts, micro_dollars
from recollect.analysis.day_sums import DaySums
from recollect.analysis.prices.book import price_book
from recollect.analysis.zones import zone_named
from recollect.index.catalogue import Catalogue
from recollect.index.strings import Strings

DAY = 86_400_000_000
MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805", "claude-haiku-4-5-20251001", "of-nobody")


def _counts(random: Random) -> tuple[int, ...]:
    small = random.choice((1, 2, 5, 40, 2000, 120_000))
    fresh, output, short, long, read = (random.randrange(small) for _ in range(5))
    return fresh, output, short, long, read, 0, random.choice((0, 0, 0, 2))


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_those_of_each_call(tmp_path: Path, seed: int) -> None:
    random, book, zone = Random(seed), price_book(), zone_named("UTC")
    models = random.sample(MODELS, random.choice((1, 1, 2)))
    days = [random.randrange(20_300, 20_700) for _ in range(random.choice((1, 1, 3)))]
    with Catalogue.open(tmp_path / "index") as catalogue, catalogue.transaction() as db:
        numbers = Strings(db).numbers
        rows: list[tuple[Any, ...]] = []
        wanted: dict[tuple[str, str], list[int]] = {}
        for number in range(random.choice((1, 7, 60))):
            model, counts = random.choice(models), _counts(random)
            when = None if random.random() < 0.02 else random.choice(days) * DAY + random.randrange(DAY)
            flags = random.choice((0, 0, 1, 2, 3, 32, 34, 64, 99))
            tail = (numbers["standard"], None, None, None, None, None, None, flags)
            rows.append((f"m{number}", "", numbers[model], number, when, *counts, *tail))
            tariff = book.tariff(model, when, Counts(*counts).prompt, None, "standard", None)
            cost = (0, 1) if tariff is None else (micro_dollars(Counts(*counts), tariff, book.search), 0)
            found = wanted.setdefault((zone.day(when), model), [0] * 14)
            marks = (flags & 1, int(flags & 34 != 0), flags >> 6, 0)
            for place, amount in enumerate((1, *counts, *cost, *marks)):
                found[place] += amount
        sums = DaySums(catalogue, zone, book)
        sums.start()
        sums.take(1, tuple(zip(*rows, strict=True)))
        sums.write()
        told = db.execute("SELECT s.day, t.text, s.* FROM day_sums s JOIN strings t ON t.id = s.model_id")
        assert {(row[0], row[1]): list(row[5:]) for row in told} == wanted
