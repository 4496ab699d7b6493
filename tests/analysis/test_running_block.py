"""The running block is the one that all calls together give, found without looking at most of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.analysis import blocks as module
from recollect.analysis.api_calls import home_numbers
from recollect.analysis.blocks import HOUR, MINUTE, find_blocks, running_block
from recollect.library.usage import Ledger

NOW = 1_772_500_000_000_000


def write(scene: Scene, ago: list[int], per_file: int = 1000) -> None:
    """Calls so many microseconds before now, the oldest first."""
    times = [datetime.fromtimestamp((NOW - when) / 1e6, UTC) for when in sorted(ago, reverse=True)]
    rows = [
        scene.answer(f"m{number}", tokens(0, 1), request=f"r{number}", time=time.isoformat(), session="s")
        for number, time in enumerate(times)
    ]
    for place in range(0, len(rows), per_file):
        scene.write(f"f{place:05}", *rows[place : place + per_file])


def running(ledger: Ledger) -> int | None:
    ledger.sync()
    found = running_block(ledger.catalogue.connection, home_numbers(ledger.catalogue, ledger.homes), NOW)
    return None if found is None else found.start


def by_all_calls(ledger: Ledger) -> int | None:
    found = [block for block in find_blocks(ledger.calls(), ledger.book) if block.is_active(NOW)]
    return found[0].start if found else None


@pytest.mark.parametrize("hours", [1, 6, 30, 41, 100, 500, 2500])
def test_calls_without_a_pause(scene: Scene, hours: int) -> None:
    write(scene, [20 * MINUTE * number for number in range(3 * hours)], per_file=100)
    with scene.open() as ledger:
        assert running(ledger) == by_all_calls(ledger) is not None


@pytest.mark.parametrize("seed", range(40))
def test_calls_with_pauses(scene: Scene, seed: int) -> None:
    """Pauses around five hours, days without any, calls of the future."""
    random = Random(seed)
    when, ago = random.choice((-3, 0, 0, 2, 6)) * HOUR, []
    for _ in range(random.choice((1, 10, 120))):
        ago.append(when)
        when += random.choice((5 * MINUTE, 50 * MINUTE, 200 * MINUTE, 295 * MINUTE, 300 * MINUTE, 301 * MINUTE))
        when += random.choice((0,) * 60 + (30 * HOUR,))
    write(scene, ago, per_file=random.choice((1, 7)))
    with scene.open() as ledger:
        assert running(ledger) == by_all_calls(ledger)


def test_a_pause_of_the_last_day_is_enough(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    write(scene, [HOUR, 2 * HOUR, 10 * HOUR, *(number * HOUR for number in range(30, 300))], per_file=1)
    looked: list[int] = []
    hours_since = module._hours_since

    def noted(db: Any, homes: Any, first: int) -> set[int]:
        looked.append(len(found := hours_since(db, homes, first)))
        return found

    monkeypatch.setattr(module, "_hours_since", noted)
    with scene.open() as ledger:
        assert running(ledger) == by_all_calls(ledger)
    assert looked == [3]


def test_only_the_calls_of_the_homes_that_are_asked_for(scene: Scene, tmp_path: Path) -> None:
    other = Scene(tmp_path / "other")
    other.folder = scene.folder
    write(scene, [4 * HOUR, 8 * HOUR])
    write(other, [number * HOUR for number in range(30)])
    for one in (scene, other):
        with one.open() as ledger:
            assert running(ledger) == by_all_calls(ledger)
