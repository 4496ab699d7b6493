"""A broken global config, put together from its backup and from what can still be read of it."""

from __future__ import annotations

import json

import pytest

from recollect.format.settings import config_bytes, merged, still_said, whole_object


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"a":1', b"\xff"])
def test_what_is_no_whole_config(data: bytes) -> None:
    assert whole_object(data) is None


def test_a_whole_config() -> None:
    assert whole_object(b'{"a": [1]}') == {"a": [1]}


def test_members_with_whole_values_are_still_read() -> None:
    assert still_said(b'junk {"a": 1, "b": {"c": [true]}, "torn": {"d": "e') == {"a": 1, "b": {"c": [True]}}
    assert still_said(b"nothing") == {}


def test_no_project_of_either_is_lost() -> None:
    backup = {"theme": "dark", "old": 1, "projects": {"/a": {"cost": 1}, "/b": {}}}
    broken = b'{"theme": "light", "projects": {"/a": {"cost": 2}, "/c": {}}, "torn": '
    assert merged(backup, broken) == {
        "theme": "light",
        "old": 1,
        "projects": {"/a": {"cost": 2}, "/b": {}, "/c": {}},
    }
    assert merged({"projects": "odd"}, b'{"projects": {"/c": {}}, "x": ')["projects"] == {"/c": {}}


def test_a_config_is_written_as_the_client_writes_it() -> None:
    value = {"theme": "dünkel", "projects": {"/a": {}}}
    written = config_bytes(value)
    assert written.startswith('{\n  "theme": "dünkel"'.encode()) and json.loads(written) == value
