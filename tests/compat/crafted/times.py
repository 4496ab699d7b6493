"""Timestamps, odd and missing."""

from __future__ import annotations

from tests.compat.crafted.sheet import ABSENT, Sheet


def timestamps_reversed(s: Sheet) -> None:
    """Each row older than its parent."""
    for number in (1, 2, 3):
        s.turn(number, gap=-30)


def timestamps_equal(s: Sheet) -> None:
    """All rows at one moment."""
    for number in (1, 2, 3):
        s.turn(number, gap=0)


def leaf_without_timestamp(s: Sheet) -> None:
    """No conversation found."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp=ABSENT)


def leaf_with_number_as_timestamp(s: Sheet) -> None:
    """Milliseconds instead of a date."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp=1772366400000)


def leaf_with_null_timestamp(s: Sheet) -> None:
    """A null timestamp."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp=None)


def leaf_with_unreadable_timestamp(s: Sheet) -> None:
    """A timestamp that is no date."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp="soon")


def leaf_with_empty_timestamp(s: Sheet) -> None:
    """An empty timestamp."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp="")


def leaf_without_timestamp_prompt(s: Sheet) -> None:
    """The last row is a prompt without a timestamp."""
    s.turns(1)
    s.user("U2", timestamp=ABSENT)


def leaf_timestamp_forms(s: Sheet) -> None:
    """A date with an offset."""
    s.turns(1)
    s.user("U2", timestamp="2026-03-01T12:10:00+02:00")
    s.assistant("A2", timestamp="2026-03-01T12:10:30+02:00")


def leaf_timestamp_date_only(s: Sheet) -> None:
    """A date without a time."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp="2026-03-02")


def leaf_timestamp_with_space(s: Sheet) -> None:
    """A date and a time with a space between."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp="2026-03-02 10:00:00")


def leaf_timestamp_in_words(s: Sheet) -> None:
    """A date as a mail header writes it."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp="Mon, 02 Mar 2026 10:00:00 GMT")


def leaf_timestamp_impossible(s: Sheet) -> None:
    """The thirteenth month."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2", timestamp="2026-13-02T10:00:00.000Z")


def inner_without_timestamp(s: Sheet) -> None:
    """An inner row without a timestamp."""
    s.user("U1")
    s.assistant("A1", timestamp=ABSENT)
    s.turns(2)


def inner_with_unreadable_timestamp(s: Sheet) -> None:
    """An inner timestamp that is no date."""
    s.user("U1")
    s.assistant("A1", timestamp="soon")
    s.turns(2)


def root_without_timestamp(s: Sheet) -> None:
    """The first row without a timestamp."""
    s.user("U1", timestamp=ABSENT)
    s.assistant("A1")
    s.turns(2)


def no_timestamps(s: Sheet) -> None:
    """No row has one."""
    s.turn(1, timestamp=ABSENT)
    s.turn(2, timestamp=ABSENT)


def timestamp_in_the_far_future(s: Sheet) -> None:
    """Year 9999 on an inner row."""
    s.user("U1")
    s.assistant("A1", timestamp="9999-12-31T23:59:59.999Z")
    s.turns(2)


def microseconds(s: Sheet) -> None:
    """Five seconds and 0.8 milliseconds: the client counts whole milliseconds."""
    s.user("U1")
    s.assistant("A1", timestamp="2026-03-01T12:01:00.000100Z")
    s.user("U2", parent="GHOST", timestamp="2026-03-01T12:01:05.000900Z")
    s.assistant("A2", timestamp="2026-03-01T12:01:30.000Z")
