"""Names of files as text and back."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.path_text import to_path, to_text


@given(st.binary(max_size=40))
def test_every_name_comes_back_as_the_bytes_that_it_was(name: bytes) -> None:
    path = name.decode("utf-8", "surrogateescape")
    text = to_text(path)
    text.encode("utf-8")  # no lone surrogate is left
    assert to_path(text).encode("utf-8", "surrogateescape") == name


@given(st.text(st.characters(min_codepoint=0xEF00, max_codepoint=0xF000)))
def test_also_of_the_range_that_stands_for_bytes(name: str) -> None:
    assert os.fsencode(to_path(to_text(name))) == os.fsencode(name)


def test_two_names_never_become_the_same_text() -> None:
    names = [b"\xff", b"\xee\xbf\xbf", b"\xee\xbf", "\uefff".encode(), b"\xef\xbf\xbf"]
    assert len({to_text(name.decode("utf-8", "surrogateescape")) for name in names}) == len(set(names))
