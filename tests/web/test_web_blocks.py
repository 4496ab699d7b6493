"""Blocks of five hours on the usage page and in the interface: a span chooses among them and makes no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.library.usage import Ledger
from recollect.web import api_questions, usage_views

DAY = 1_777_680_000_000_000
"""The midnight with which the span begins."""


def test_a_span_that_begins_within_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path)
    times = ("2026-05-01T22:30:00.000Z", "2026-05-02T01:10:00.000Z", "2026-05-02T04:00:00.000Z")
    scene.write("s", *(scene.answer(time, tokens(1, 2), request=time, time=time) for time in times))
    for module in (usage_views, api_questions):
        monkeypatch.setattr(module, "since", lambda *_: DAY)
    with scene.open() as ledger:

        def counted(service: object, name: object, count: Callable[[Ledger], Any]) -> Any:
            return count(ledger)

        monkeypatch.setattr(api_questions, "counted", counted)
        shown = usage_views.extras(ledger, "7")
        told = api_questions.blocks(None, {"span": "7"})  # type: ignore[arg-type]
    expected = [("2026-05-02T04:00:00.000Z", 1), ("2026-05-01T22:00:00.000Z", 2)]
    assert [(row["start"], row["calls"]) for row in told["rows"]] == expected
    assert [row["calls"] for row in shown["blocks"]] == [1, 2]
    assert shown["blocks"][1]["start"] == DAY / 1e6 - 7200
    assert sum(row["calls"] for row in shown["cache_models"]) == 2
