"""Tables on narrow terminals: no number is ever cut."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens
from tests.cli.usage_scene import SESSION, ask, scene

from recollect.cli.table_room import Wish, shared_out

__all__ = ["ask", "scene"]

NAME = Wish(0, 30, whole=False, spare=False)
WORDS = Wish(1, 40, whole=False, spare=True)
NUMBER = Wish(2, 9, whole=True, spare=False)
BAR = Wish(3, 16, whole=True, spare=True)
ALL = (NAME, WORDS, NUMBER, BAR)


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (101, [(0, 30), (1, 40), (2, 9), (3, 16)]),
        (90, [(0, 30), (1, 29), (2, 9), (3, 16)]),
        (63, [(0, 16), (1, 16), (2, 9), (3, 16)]),
        (62, [(0, 25), (1, 24), (2, 9)]),
        (45, [(0, 16), (1, 16), (2, 9)]),
        (44, [(0, 30), (2, 9)]),
        (27, [(0, 16), (2, 9)]),
        (5, [(0, 16), (2, 9)]),
    ],
)
def test_words_give_way_and_numbers_do_not(room: int, expected: list[tuple[int, int]]) -> None:
    assert shared_out(ALL, room) == expected


def test_a_table_of_many_models_keeps_its_numbers(ask: Any, scene: Scene) -> None:
    for number in range(14):
        row = scene.answer(
            f"n{number}", tokens(123_456, 7), request=f"n{number}", model=f"claude-opus-with-a-long-name-{number}"
        )
        scene.append(SESSION, row)
    lines = ask("usage", "--by", "year").out.splitlines()
    total = next(line for line in lines if line.startswith("total"))
    assert "…" not in total and "1.73M" in total.split() and re.search(r"\$\d+\.\d\d\+\?", total)
    assert max(map(len, lines)) <= 200 and any("…" in line for line in lines)
