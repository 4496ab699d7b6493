"""Client versions and the ages of the format."""

from __future__ import annotations

import pytest

from recollect.format.versions import is_future, parse_version


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
