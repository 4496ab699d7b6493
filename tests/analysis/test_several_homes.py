"""Several homes: a call that stands in more than one of them is booked on its first, whatever part is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.analysis.scene import Scene, ledger_over, tokens

from recollect.analysis.api_calls import ApiCall, api_calls, calls_in_sessions
from recollect.library.usage import Ledger, Selection

DAY = 1_777_680_000_000_000
"""The second day's midnight."""


@pytest.fixture
def both(scene: Scene, tmp_path: Path) -> Iterator[Ledger]:
    """The first home has a call that the second one has, too: later and with less output."""
    other = Scene(tmp_path / "other")
    first, second = "2026-05-01T10:00:00.000Z", "2026-05-02T10:00:00.000Z"
    scene.write("s1", scene.answer("m1", tokens(1, 100), time=first, session="s1"))
    other.write(
        "s2",
        scene.answer("m1", tokens(1, 50), time=second, session="s2"),
        scene.answer("m2", tokens(1, 7), request="r2", time=second, session="s2"),
    )
    with ledger_over([scene.root, other.root], scene.folder) as ledger:
        yield ledger


def told(found: list[ApiCall]) -> list[tuple[str, int, int]]:
    return [(item.message_id, item.counts.output, item.copies) for item in found]


def test_a_day_has_only_what_is_booked_on_it(both: Ledger) -> None:
    assert told(both.calls()) == [("m1", 100, 2), ("m2", 7, 1)]
    assert told(both.calls(Selection(until=DAY))) == [("m1", 100, 2)]
    assert told(both.calls(Selection(since=DAY))) == [("m2", 7, 1)]
    assert both.calls(Selection(since=DAY * 2)) == []
    assert both.usage("day", Selection(since=DAY)).totals.calls == 1


def test_a_file_has_only_what_is_booked_on_it(both: Ledger) -> None:
    every = both.calls()
    for item in every:
        assert list(api_calls(both.catalogue, both.homes, files=[item.file_id])) == [item]
    assert list(api_calls(both.catalogue, both.homes, files=[])) == []
    parts = calls_in_sessions(both.catalogue, [every[1].file_id])
    assert [item.message_id for item in parts] == ["m1", "m2"]
