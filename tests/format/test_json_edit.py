"""Strings inside JSON are found and changed; every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.json_edit import (
    Edit,
    apply_edits,
    decode_text,
    encode_text,
    member,
    members,
    string_tokens,
    values_of,
)

KEYS = st.text(max_size=6)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(KEYS, children, max_size=4),
    max_leaves=20,
)
LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": 2, "ensure_ascii": False}])


def dumps(value: Any, layout: dict[str, Any]) -> bytes:
    return json.dumps(value, **layout).encode("utf-8", "surrogatepass")


@given(st.dictionaries(KEYS, VALUES, max_size=5), LAYOUTS)
def test_members_are_those_of_the_object(value: dict[str, Any], layout: dict[str, Any]) -> None:
    data = dumps(value, layout)
    found = members(data)
    assert found is not None
    assert {item.key: json.loads(data[item.value_start : item.value_end]) for item in found} == value


@given(VALUES, LAYOUTS)
def test_every_string_is_found(value: Any, layout: dict[str, Any]) -> None:
    expected: list[str] = []

    def collect(item: Any) -> None:
        if isinstance(item, str):
            expected.append(item)
        elif isinstance(item, dict):
            for key, inner in item.items():
                expected.append(key)
                collect(inner)
        elif isinstance(item, list):
            for inner in item:
                collect(inner)

    collect(value)
    data = dumps(value, layout)
    tokens = list(string_tokens(data))
    assert [token.text for token in tokens] == expected
    assert all(data[token.start : token.start + 1] == b'"' == data[token.end - 1 : token.end] for token in tokens)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text()), max_size=6), st.text(), LAYOUTS)
def test_one_string_changes_and_nothing_else(pairs: list[tuple[str, str]], new: str, layout: dict[str, Any]) -> None:
    value = [{key: text} for key, text in pairs]
    data = dumps(value, layout)
    edits = [Edit(token.start, token.end, encode_text(new)) for token in values_of(data, "b")]
    changed = apply_edits(data, edits)
    assert json.loads(changed) == [{key: new if key == "b" else text} for key, text in pairs]
    if not edits:
        assert changed == data


@given(st.text())
def test_texts_survive(text: str) -> None:
    assert decode_text(encode_text(text)) == text


def test_half_pairs_are_escaped() -> None:
    assert encode_text("a\ud83d") == b'"a\\ud83d"'
    assert encode_text("ä\u2028/") == '"ä\u2028/"'.encode()


@pytest.mark.parametrize(
    "data",
    [
        b'{"text":"say \\"path\\":\\"/old\\" aloud"}',
        b'{"text":"\\"path\\":","path2":"/old"}',
        b'{"text":"path","value":"/old"}',
    ],
)
def test_words_that_look_like_a_member_are_none(data: bytes) -> None:
    assert list(values_of(data, "path")) == []


def test_the_last_of_two_members_counts() -> None:
    data = b'{"a": 1, "a": "two"}'
    found = member(data, "a")
    assert found is not None and data[found.value_start : found.value_end] == b'"two"'
    assert member(data, "b") is None


def test_no_object() -> None:
    assert members(b"[1]") is None
    assert members(b"") is None
    assert members(b"{}") == []


def test_long_strings_can_be_passed_over() -> None:
    data = dumps(["short", "x" * 100], {})
    assert [token.text for token in string_tokens(data, limit=50)] == ["short"]
    assert [token.is_key for token in string_tokens(b'{"a" : "b"}')] == [True, False]
