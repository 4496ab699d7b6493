"""Plain data of any shape becomes a struct: what fits is taken, and nothing raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct

from recollect.format.entries import Entry, GraphEntry, fitted, raw_of, view_of
from recollect.format.worded_entry import IndexEntry
from recollect.index.api_calls.decode import CallLine


class Inner(Struct):
    name: str | None = None
    count: int | None = None


class Outer(Struct):
    text: str | list[Inner] | None = None
    flag: bool | None = None
    inner: Inner | None = None
    anything: Any = None
    raw: Raw = Raw()


def test_what_fits_is_taken_and_the_rest_left_out() -> None:
    value = {"text": 7, "flag": True, "inner": {"name": "a", "count": "b", "more": 1}, "anything": [1], "other": 2}
    assert fitted(value, Outer) == Outer(flag=True, inner=Inner("a"), anything=[1])


def test_an_item_that_fits_nowhere_keeps_its_place() -> None:
    assert fitted({"text": [{"name": "a"}, 3, None]}, Outer) == Outer(text=[Inner("a"), Inner(), Inner()])


def test_a_flag_is_no_number_and_a_number_no_flag() -> None:
    assert fitted({"flag": 1}, Outer) == Outer()


@pytest.mark.parametrize("value", [None, 1, "text", [{}], True])
def test_what_is_no_object_is_none(value: object) -> None:
    assert fitted(value, Outer) is None


def test_numbers_are_made_by_the_callers_rule() -> None:
    def whole(value: Any, _largest: int | None) -> int | None:
        return int(value) if value == int(value) else None

    assert fitted({"count": 2.0}, Inner, whole) == Inner(count=2)
    assert fitted({"count": 2.5}, Inner, whole) == Inner()


def test_raw_fields_hold_the_json() -> None:
    found = fitted({"raw": {"a": 1}}, Outer)
    assert found is not None and bytes(found.raw) == b'{"a":1}'
    assert not raw_of(None) and not raw_of(object())


def test_an_entry_is_seen_another_way() -> None:
    entry = Entry(uuid="u", isMeta=True, message=Raw(b'{"id":"m","content":[{"type":"text"},5]}'), content=Raw(b"[]"))
    view = view_of(entry, IndexEntry)
    assert (view.uuid, view.isMeta, bytes(view.content)) == ("u", True, b"[]")
    assert view.message is not None and view.message.id == "m" and len(view.message.content or "") == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "message", "content", "usage", "data", "uuid", "input"]), inner)
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([GraphEntry, IndexEntry, CallLine]))
def test_any_value_fits_somehow(value: Any, kind: type[Struct]) -> None:
    found = fitted(value, kind)
    assert (found is not None) == isinstance(value, dict)
    if found is not None:
        told = value.get("type")
        assert getattr(found, "type", None) == (told if isinstance(told, str) else None)
