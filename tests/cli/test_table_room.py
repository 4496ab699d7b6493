"""Tables on narrow terminals: no number is ever cut."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens
from tests.cli.usage_scene import SESSION, ask, scene

from recollect.export.table import Wish, shared_out
from recollect.testing import build_demo_home

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


def test_what_a_table_is_read_for_keeps_more() -> None:
    main = Wish(2, 60, whole=False, spare=False, main=True)
    assert shared_out((NAME, NUMBER, main), 80) == [(0, 30), (2, 9), (2, 37)]
    assert shared_out((NAME, NUMBER, main), 57) == [(0, 16), (2, 9), (2, 28)]
    assert shared_out((NAME, BAR, main), 60) == [(0, 29), (2, 29)]


def test_titles_of_a_list_on_a_usual_terminal(tmp_path: Path) -> None:
    build_demo_home(tmp_path / "claude")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm"}
    command = [sys.executable, "-m", "recollect", "--home", str(tmp_path / "claude"), "list"]
    ran = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # so a terminal ends
        while part := os.read(ours, 65536):
            text += part
    os.close(ours)
    assert ran.wait() == 0
    heading, *lines = text.decode().splitlines()
    assert heading.split() == ["session", "changed", "msgs", "project", "title"]
    assert all(len(line) <= 80 for line in lines) and any("Cache the tide tables" in line for line in lines)


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
