"""Blocks of five hours belong to an account: no filter makes others of them."""

from __future__ import annotations

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.analysis.blocks import HOUR
from recollect.library.accounting import Accounting, Selection

DAY = 1_777_680_000_000_000
"""The second day's midnight."""


@pytest.fixture
def accounting(scene: Scene) -> Accounting:
    times = ("01T22:30", "02T01:10", "02T02:00", "02T04:00")
    projects = ("/work/a", "/work/b", "/work/a", "/work/b")
    scene.write("s", *(
        scene.answer(f"m{number}", tokens(0, 10**number), request=f"r{number}", time=f"2026-05-{time}:00.000Z", cwd=cwd)
        for number, (time, cwd) in enumerate(zip(times, projects, strict=True))
    ))  # fmt: skip
    return scene.open()


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
def test_blocks_begin_where_all_calls_say(
    accounting: Accounting, chosen: Selection, expected: list[tuple[int, int]]
) -> None:
    with accounting:
        found = accounting.blocks(chosen)
    assert [((block.start - DAY) // HOUR, block.totals.counts.output) for block in found] == expected


def test_a_block_tells_the_first_and_last_call_that_it_shows(accounting: Accounting) -> None:
    with accounting:
        (block, _) = accounting.blocks(Selection(project="/work/b"))
    assert (block.first, block.last) == (DAY + HOUR * 7 // 6, DAY + HOUR * 7 // 6)
