"""Any bytes give a value; what others refuse is read; what cannot be read says why."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.json_file import decode_json_file


def test_plain_object() -> None:
    file = decode_json_file(b'{"a": [1, 2.5, null, "\xc3\xa4"]}', expect=dict)
    assert file.value == {"a": [1, 2.5, None, "ä"]}
    assert file.problem is None


def test_bom_and_lone_surrogate_and_nan_are_read() -> None:
    assert decode_json_file(b'\xef\xbb\xbf{"a": 1}').value == {"a": 1}
    assert decode_json_file(rb'{"a": "\ud83d"}').value == {"a": "\ud83d"}
    value = decode_json_file(b'{"a": NaN}').value
    assert math.isnan(value["a"])


def test_integer_beyond_64_bits_is_exact() -> None:
    assert decode_json_file(b'{"n": 1180591620717411303424}').value == {"n": 2**70}


def test_invalid_utf8_is_read_and_said() -> None:
    file = decode_json_file(b'{"a": "x\xff"}')
    assert file.value == {"a": "x\ufffd"}
    assert file.problem == "invalid UTF-8 at byte 8"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file holds only blanks or NUL bytes"),
        (b"\0" * 300, "the file holds only blanks or NUL bytes"),
        (b'{"a": ', "not JSON at character 6"),
        (b"[1]", "expected an object, found a list"),
        (b"null", "expected an object, found null"),
        (b'"x"', "expected an object, found a string"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, problem: str) -> None:
    assert decode_json_file(data, expect=dict).problem == problem


def test_endless_nesting_is_a_value() -> None:
    file = decode_json_file(b"[" * 200_000)
    assert file.value is None
    assert file.problem is not None


def test_number_of_too_many_digits_is_a_value() -> None:
    assert decode_json_file(b'{"n": ' + b"9" * 20_000 + b"}").problem == "not JSON"


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    file = decode_json_file(data)
    assert file.value is not None or file.problem is not None or data.strip() == b"null"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=4)))
def test_every_json_value_comes_back(value: object) -> None:
    assert decode_json_file(json.dumps(value).encode()).value == value
