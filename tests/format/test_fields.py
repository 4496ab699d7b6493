"""A field is taken when it is of the expected type; everything else stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recollect.format.json_file import Fields, moment_of_iso, moment_of_ms


def test_taken_fields_leave_the_rest() -> None:
    fields = Fields({"a": "x", "n": 3, "f": True, "unknown": {"deep": 1}})
    assert (fields.text("a"), fields.whole("n"), fields.flag("f")) == ("x", 3, True)
    assert fields.rest == {"unknown": {"deep": 1}}


def test_a_field_of_another_type_stays() -> None:
    fields = Fields({"a": 5, "n": "3", "f": 1, "t": ["x", 1], "m": [], "when": "yesterday", "nothing": None})
    assert fields.text("a") is None
    assert fields.whole("n") is None
    assert fields.flag("f") is None
    assert fields.texts("t") == ()
    assert fields.mapping("m") == {}
    assert fields.moment("when") is None
    assert fields.text("nothing") is None
    assert fields.rest == {"a": 5, "n": "3", "f": 1, "t": ["x", 1], "m": [], "when": "yesterday", "nothing": None}


def test_true_is_no_number() -> None:
    fields = Fields({"n": True})
    assert (fields.whole("n"), fields.number("n"), fields.moment_ms("n")) == (None, None, None)


def test_numbers_beyond_a_float_stay() -> None:
    fields = Fields({"n": 10**400, "x": float("inf")})
    assert (fields.number("n"), fields.number("x")) == (None, None)
    assert set(fields.rest) == {"n", "x"}


def test_the_source_is_not_changed() -> None:
    source = {"a": "x"}
    Fields(source).text("a")
    assert source == {"a": "x"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_700_000_000_123, datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)),
        (10**30, None),
        (float("nan"), None),
        ("5", None),
    ],
)
def test_milliseconds(value: object, expected: datetime | None) -> None:
    assert moment_of_ms(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-02T03:04:05.678Z", datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)),
        ("2026-01-02T03:04:05+02:00", datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("0001-01-01T00:00:00+09:00", None),
        ("soon", None),
        (5, None),
    ],
)
def test_iso_times(value: object, expected: datetime | None) -> None:
    assert moment_of_iso(value) == expected
