"""Numbers, sizes, durations and moments have one spelling."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recollect.export import formatting
from recollect.format.times import local_minute

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, ""), (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (1_234_567, "1.2 MB"), (5_000_000_000, "5.0 GB")],
)
def test_sizes(count: int | None, words: str) -> None:
    assert formatting.size(count) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, ""), (0.44, "0.4s"), (9.94, "9.9s"), (12.4, "12s"), (60, "1m 00s"), (185, "3m 05s"), (7800, "2h 10m")],
)
def test_durations(value: float | None, words: str) -> None:
    assert formatting.seconds(value) == words


@pytest.mark.parametrize(
    ("passed", "words"),
    [(-30, "just now"), (59, "just now"), (60, "1 min ago"), (3600, "1 h ago"), (86400 * 2, "2 d ago")],
)
def test_how_long_ago(passed: float, words: str) -> None:
    assert formatting.ago(NOW - passed, NOW) == words
    assert formatting.ago(datetime.fromtimestamp(NOW - passed, UTC), NOW) == words


def test_moments_that_are_far_away_have_their_day() -> None:
    assert formatting.ago(NOW - 86400 * 90, NOW) == local_minute(NOW - 86400 * 90)[:10]
    assert formatting.ago(NOW + 3600, NOW) == local_minute(NOW + 3600)
    assert formatting.ago(None) == ""


def test_counts() -> None:
    assert formatting.number(12345) == "12,345"
    assert formatting.short_number(1234) == "1.2k"
    assert formatting.plural(1, "branch", "branches") == "1 branch"
    assert formatting.plural(1200, "branch", "branches") == "1,200 branches"


def test_the_end_of_a_path() -> None:
    assert formatting.tail("/home/ada/code/tidepool/") == "code/tidepool"
    assert formatting.tail("C:\\code\\tidepool\\web") == "tidepool/web"
    assert formatting.tail("/tidepool") == "/tidepool"
    assert formatting.tail(None) == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": "ls  -l\n/tmp", "timeout": 5}, "ls -l /tmp"),
        ({"file_path": "/a.py", "content": "x"}, "/a.py"),
        ({"description": "Look around", "prompt": "Please ..."}, "Look around"),
        ({"todos": [1, 2]}, "2 items"),
        ({"odd": 1, "even": 2}, "odd=1, even=2"),
        (["a"], "['a']"),
        ({}, ""),
        (None, ""),
    ],
)
def test_what_a_call_was_asked_to_do(arguments: object, words: str) -> None:
    assert formatting.argument_line(arguments) == words


def test_a_long_argument_is_cut() -> None:
    line = formatting.argument_line({"command": "x" * 9000}, 20)
    assert line == "x" * 19 + "…"
