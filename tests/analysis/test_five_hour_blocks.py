"""Blocks of five hours belong to an account: no filter makes others of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.analysis.blocks import HOUR, find_blocks
from recollect.library.usage import Ledger, Selection

DAY = 1_777_680_000_000_000
"""The second day's midnight."""


@pytest.fixture
def ledger(scene: Scene) -> Iterator[Ledger]:
    times = ("01T22:30", "02T01:10", "02T02:00", "02T04:00")
    projects = ("/work/a", "/work/b", "/work/a", "/work/b")
    scene.write("s", *(
        scene.answer(f"m{number}", tokens(0, 10**number), request=f"r{number}", time=f"2026-05-{time}:00.000Z", cwd=cwd)
        for number, (time, cwd) in enumerate(zip(times, projects, strict=True))
    ))  # fmt: skip
    with scene.open() as opened:
        yield opened


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (Selection(), [(-2, 111), (4, 1000)]),
        (Selection(since=DAY), [(-2, 111), (4, 1000)]),
        (Selection(until=DAY), [(-2, 111)]),
        (Selection(since=DAY + 3 * HOUR), [(4, 1000)]),
        (Selection(since=DAY + 5 * HOUR), []),
        (Selection(project="/work/a"), [(-2, 101)]),
        (Selection(project="/work/b"), [(-2, 10), (4, 1000)]),
        (Selection(since=DAY, project="/work/a"), [(-2, 101)]),
        (Selection(until=DAY, project="/work/b"), []),
    ],
)
def test_blocks_begin_where_all_calls_say(ledger: Ledger, chosen: Selection, expected: list[tuple[int, int]]) -> None:
    found = ledger.blocks(chosen)
    assert [((block.start - DAY) // HOUR, block.totals.counts.output) for block in found] == expected


def test_a_block_tells_the_first_and_last_call_that_it_shows(ledger: Ledger) -> None:
    (block, _) = ledger.blocks(Selection(project="/work/b"))
    assert (block.first, block.last) == (DAY + HOUR * 7 // 6, DAY + HOUR * 7 // 6)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_loaded_is_enough_for_the_blocks_of_a_time(scene: Scene, seed: int) -> None:
    """Blocks of a time are those that all calls make, however long it went on before it without a pause."""
    random = Random(seed)
    longest = (3.0, 4.9, 5.2, 9.0, 30.0, 200.0)[seed]
    moment = DAY
    for number in range(150):
        moment += round(random.uniform(0.01, longest) * HOUR) if random.random() < 0.9 else round(4.99 * HOUR)
        time = datetime.fromtimestamp(moment / 1e6, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row = scene.answer(f"m{number}", tokens(1, number), request=f"r{number}", time=time)
        scene.append(f"s{number // 10}", row | {"cwd": random.choice(("/work/a", "/work/b"))})
    with scene.open() as ledger:
        every = ledger.calls()
        for _ in range(60):
            since, until = (random.choice((None, random.randrange(DAY - HOUR, moment + 9 * HOUR))) for _ in range(2))
            for project in (None, "/work/a"):
                among = {item[:3] for item in every if project in (None, item.cwd)}
                expected = find_blocks(every, ledger.book, among=among, since=since, until=until)
                assert ledger.blocks(Selection(since, until, project=project)) == expected, (since, until)


def test_only_what_may_touch_the_blocks_is_loaded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in range(1, 31):
        time = f"2026-05-{day:02}T10:00:00.000Z"
        scene.append("s", scene.answer(f"m{day}", tokens(1, 1), request=f"r{day}", time=time))
    loaded: list[int] = []
    with scene.open() as ledger:
        ask = ledger.calls

        def asked(selection: Selection | None = None) -> object:
            found = ask(selection)
            loaded.append(len(found))
            return found

        monkeypatch.setattr(ledger, "calls", asked)
        assert len(ledger.blocks(Selection(DAY + 20 * 24 * HOUR, DAY + 22 * 24 * HOUR))) == 2
    assert loaded == [4]
