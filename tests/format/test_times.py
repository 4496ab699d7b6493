"""Timestamps, read as the client reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.format.times import has_zone, local_minute, newest_of, parse_moment, parse_time, to_datetime, to_iso

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-03-02T09:00:00.000Z", NINE),
        ("2026-03-02T09:00:00Z", NINE),
        ("2026-03-02T10:00:00+01:00", NINE),
        ("2026-03-02T09:00:00", NINE),
        ("2026-03-02T09:00:00.123Z", NINE + 0.123),
        ("2026-03-02T09:00:00.123999Z", NINE + 0.123),
        ("Mon, 02 Mar 2026 09:00:00 GMT", NINE),
        ("1969-12-31T23:59:59Z", -1.0),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("text", [None, "", "yesterday", "[trimmed]", "12", "2026-13-45T99:99:99Z", "\ud800", "\0"])
def test_what_is_no_time(text: str | None) -> None:
    assert parse_time(text) is None


@given(st.text() | st.text(alphabet="0123456789-+:TZ. MonarGMT,"))
@example("Mon, 02 Mar 99999999999999999999 10:00:00 GMT")
@example("Mon, 02 Mar 2026 10:00:00 +99999999999999")
@example("0001-01-01T00:00:00+14:00")
@example("9999-12-31T23:59:59-14:00")
def test_no_text_is_too_strange(text: str) -> None:
    found = parse_time(text)
    assert found is None or isinstance(found, float)


@pytest.mark.parametrize("text", ["2026-03-02T09:00:00.000Z", "2026-03-02T09:00:00.007Z", "1970-01-01T00:00:00.999Z"])
def test_written_as_the_client_writes_it(text: str) -> None:
    assert to_iso(parse_time(text)) == text


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2100, 1, 1)))
def test_there_and_back(moment: datetime) -> None:
    text = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    assert to_iso(parse_time(text)) == text


@pytest.mark.parametrize("seconds", [None, 1e300, -1e300, float("nan"), float("inf")])
def test_seconds_that_are_no_moment(seconds: float | None) -> None:
    assert to_datetime(seconds) is None
    assert to_iso(seconds) is None


def test_whether_a_time_names_its_zone() -> None:
    assert has_zone("2026-03-02T09:00:00Z") and has_zone("Mon, 02 Mar 2026 09:00:00 GMT")
    assert not has_zone("2026-03-02T09:00:00")


def test_the_newest_of_many_times() -> None:
    assert newest_of(["2026-03-02T09:00:00Z", "2026-03-02T09:30:00+01:00"]) == NINE
    for texts in ([], [None], ["2026-03-02T09:00:00"], ["no time"], ["2026-03-02T09:00:00", "2026-03-02T09:00:00Z"]):
        assert newest_of(texts) is None


def test_a_time_in_minutes_of_this_place() -> None:
    assert local_minute(NINE) == datetime.fromtimestamp(NINE).strftime("%Y-%m-%d %H:%M")
    assert local_minute(None) == local_minute(1e300) == ""


NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "end", "moment"),
    [
        ("today", False, datetime(2026, 3, 1, 22, tzinfo=UTC)),
        ("today", True, datetime(2026, 3, 2, 22, tzinfo=UTC)),
        (" yesterday ", False, datetime(2026, 2, 28, 22, tzinfo=UTC)),
        ("12h", False, NOW - timedelta(hours=12)),
        ("7 d", True, NOW - timedelta(days=7)),
        ("2w", False, NOW - timedelta(days=14)),
        ("2026-03-01", False, datetime(2026, 2, 28, 22, tzinfo=UTC)),
        ("20260301", True, datetime(2026, 3, 1, 22, tzinfo=UTC)),
        ("2026-03-01T10:00", True, datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T10:00Z", False, datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("9999-12-31", True, datetime.max.replace(tzinfo=UTC)),
        ("999999w", False, None),
        ("0001-01-01", False, None),
        ("soon", False, None),
    ],
)
def test_moments_as_people_type_them(text: str, end: bool, moment: datetime | None) -> None:
    assert parse_moment(text, end=end, now=NOW, zone=EAST) == moment


def test_a_moment_without_a_zone_is_of_this_system() -> None:
    assert parse_moment("2026-03-01T10:00") == datetime(2026, 3, 1, 10).astimezone(UTC)
