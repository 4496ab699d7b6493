from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from recollect.export.formatting import iso
from recollect.export.moments import local
from recollect.format.times import parse_moment

NOW = datetime(2026, 3, 2, 15, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("today", False, datetime(2026, 3, 1, 22, tzinfo=UTC)),
        ("today", True, datetime(2026, 3, 2, 22, tzinfo=UTC)),
        ("yesterday", False, datetime(2026, 2, 28, 22, tzinfo=UTC)),
        ("12h", False, datetime(2026, 3, 2, 1, 30, tzinfo=UTC)),
        ("2d", True, datetime(2026, 2, 28, 13, 30, tzinfo=UTC)),
        ("1w", False, datetime(2026, 2, 23, 13, 30, tzinfo=UTC)),
        ("2026-03-02T10:00:00Z", True, datetime(2026, 3, 2, 10, tzinfo=UTC)),
        ("20260302", True, datetime(2026, 3, 2, 22, tzinfo=UTC)),
        ("2026-W10-1", True, datetime(2026, 3, 2, 22, tzinfo=UTC)),
        ("9999-12-31", True, datetime.max.replace(tzinfo=UTC)),
        ("999999w", False, None),
        ("soon", False, None),
        ("", False, None),
    ],
)
def test_moments(text: str, end: bool, expected: datetime | None) -> None:
    assert parse_moment(text, end=end, now=NOW, zone=NOW.tzinfo) == expected


@pytest.mark.parametrize("system", [False, True])
@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("today", False, datetime(2026, 3, 28, 23, tzinfo=UTC)),
        ("today", True, datetime(2026, 3, 29, 22, tzinfo=UTC)),
        ("yesterday", False, datetime(2026, 3, 27, 23, tzinfo=UTC)),
        ("yesterday", True, datetime(2026, 3, 28, 23, tzinfo=UTC)),
        ("2026-03-29", False, datetime(2026, 3, 28, 23, tzinfo=UTC)),
        ("2026-03-29", True, datetime(2026, 3, 29, 22, tzinfo=UTC)),
        ("2026-03-29T12:00", False, datetime(2026, 3, 29, 10, tzinfo=UTC)),
        ("2026-03-29T12:00+00:00", False, datetime(2026, 3, 29, 12, tzinfo=UTC)),
        ("12h", False, datetime(2026, 3, 29, 0, tzinfo=UTC)),
    ],
)
def test_the_day_on_which_summer_time_begins(
    text: str, end: bool, expected: datetime, system: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = None if system else ZoneInfo("Europe/Berlin")
    monkeypatch.setenv("TZ", "Europe/Berlin" if system else "Asia/Tokyo")
    time.tzset()
    try:
        now = datetime(2026, 3, 29, 12, tzinfo=UTC)
        assert parse_moment(text, end=end, now=now, zone=zone) == expected
        assert parse_moment(text, end=end, now=now.astimezone(), zone=zone) == expected
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_day_ends_a_day_later() -> None:
    start, end = parse_moment("2026-03-02"), parse_moment("2026-03-02", end=True)
    assert start is not None
    assert end is not None
    assert end - start == timedelta(days=1)


def test_shown() -> None:
    assert iso(datetime(2026, 3, 2, 9, 0, 0, 123_456, tzinfo=UTC)) == "2026-03-02T09:00:00.123Z"
    assert iso(None) is None
    assert len(local("2026-03-02T09:00:00.123Z")) == len("2026-03-02 09:00")
    assert local("never") == "never"
