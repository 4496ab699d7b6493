"""Timestamps, read as the client reads them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.format.times import parse_time, to_datetime, to_iso

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
