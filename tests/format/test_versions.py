"""Client versions and the ages of the format."""

from __future__ import annotations

from itertools import pairwise

import pytest

from recollect.format.versions import AGES, NEWEST_KNOWN, age_of, is_future, parse_version
from recollect.testing import ALL_AGES


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.325", (2, 1, 325)),
        ("0.2.126", (0, 2, 126)),
        ("2.1.9-beta.1", (2, 1, 9)),
        ("9.4.0", (9, 4, 0)),
        ("[redacted]", None),
        ("2.1", None),
        ("v2.1.3", None),
        ("", None),
        (None, None),
    ],
)
def test_versions(text: str | None, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


def test_versions_are_compared_as_numbers() -> None:
    nine, fifty = parse_version("2.1.9"), parse_version("2.1.50")
    assert nine is not None
    assert fifty is not None
    assert nine < fifty


@pytest.mark.parametrize(
    ("text", "future"), [("2.1.326", False), ("2.1.327", True), ("10.0.0", True), ("2.0.999", False), (None, False)]
)
def test_newer_than_anything_measured(text: str | None, future: bool) -> None:
    assert is_future(text) is future


def test_ages_are_in_order_and_end_with_the_newest() -> None:
    versions = [version for version, _ in AGES]
    assert versions == sorted(set(versions))
    assert versions[-1] == NEWEST_KNOWN


@pytest.mark.parametrize("version", [*ALL_AGES, "99.0.0"])
def test_every_version_has_an_age(version: str) -> None:
    assert age_of(version) in {words for _, words in AGES}


def test_an_age_begins_with_its_first_version() -> None:
    for (version, words), (following, later) in pairwise(AGES):
        assert age_of("{}.{}.{}".format(*version)) == words
        assert age_of("{}.{}.{}".format(*following)) == later
    assert age_of("2.1.49") == age_of("2.1.9")
    assert age_of("no version") is None
