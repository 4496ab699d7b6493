"""Messages that programs want to write: what is refused, and what their blocks call and answer."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import Refused
from recollect.format.content_check import calls_in, check_blocks, check_row, check_uuid

TEXT = {"type": "text", "text": "a"}
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [TEXT]}
THOUGHT = {"type": "thinking", "thinking": "a"}


def source(kind: str = "image/png", data: str = "aGk=") -> dict[str, Any]:
    return {"type": "base64", "media_type": kind, "data": data}


def picture(found: Any) -> dict[str, Any]:
    return {"type": "image", "source": found}


def test_calls_and_answers_are_told() -> None:
    assert check_blocks("assistant", [THOUGHT, TEXT, CALL, {"type": "of tomorrow", "x": 1}]) == (["t1"], [])
    assert check_blocks("user", (RESULT, {"type": "tool_result", "tool_use_id": "t2"}, picture(source()))) == (
        [],
        ["t1", "t2"],
    )
    assert check_blocks("user", [picture({"type": "url", "url": "x"}), {"type": "document", "source": source("x/y")}]) == (
        [],
        [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("role", "content", "words"),
    [
        ("user", "text", "not str"),
        ("user", None, "not None"),
        ("user", b"bytes", "not bytes"),
        ("user", ["a"], "a mapping, not str"),
        ("user", [{}], "needs a type"),
        ("user", [{"type": ""}], "needs a type"),
        ("user", [{"type": "text"}], "needs 'text' as text"),
        ("assistant", [{**CALL, "id": ""}], "needs 'id' as text"),
        ("assistant", [{**CALL, "input": []}], "needs 'input' as a mapping"),
        ("user", [{**RESULT, "tool_use_id": 7}], "needs 'tool_use_id'"),
        ("user", [{**RESULT, "content": 7}], "not int"),
        ("user", [{**RESULT, "content": [RESULT]}], "no other result"),
        ("user", [{**RESULT, "content": [CALL]}], "holds no call"),
        ("user", [CALL], "a tool call is the assistant's"),
        ("assistant", [RESULT], "the result of a call is the user's"),
        ("user", [THOUGHT], "a thought is the assistant's"),
        ("assistant", [picture(source())], "a block of type image is the user's"),
        ("user", [picture("x")], "needs 'source' as a mapping"),
        ("user", [picture({})], "needs a type"),
        ("user", [picture({"type": "base64"})], "needs 'media_type'"),
        ("user", [picture(source("image/bmp"))], "not 'image/bmp'"),
        ("user", [picture(source(data="a"))], "not base64"),
        ("user", [picture(source(data=""))], "is empty"),
    ],
)
def test_what_no_version_could_use_is_refused(role: str, content: Any, words: str) -> None:
    with pytest.raises(Refused) as refused:
        check_blocks(role, content)
    assert refused.value.slug == "bad-content" and words in refused.value.message


def test_the_calls_on_a_row() -> None:
    assert calls_in({"message": {"content": [CALL, TEXT, "odd", {"type": "tool_use", "id": 7}]}}) == ["t1"]
    for entry in ({}, {"message": "a"}, {"message": {"content": "a"}}):
        assert calls_in(entry) == []


def test_a_uuid_is_in_lower_case() -> None:
    check_uuid("00000000-0000-4000-8000-000000000000")
    for wrong in ("00000000-0000-4000-8000-00000000000A", "x", None, 7):
        with pytest.raises(Refused) as refused:
            check_uuid(wrong)
        assert refused.value.slug == "bad-uuid"


@pytest.mark.parametrize(
    ("texts", "usage", "fields", "words"),
    [
        ({"model": 7}, None, {}, "model is text, not int"),
        ({}, [], {}, "usage is a mapping, not list"),
        ({}, None, {"cwd": 7}, "cwd is text, not int"),
        ({}, None, {"uuid": "x", "type": "y"}, "the writer itself sets type, uuid"),
    ],
)
def test_values_that_cannot_be_part_of_a_row(texts: Any, usage: Any, fields: Any, words: str) -> None:
    check_row({"model": None, "id": "m"}, {"input_tokens": 1}, {"cwd": None, "slug": "s", "isMeta": True})
    with pytest.raises(Refused) as refused:
        check_row(texts, usage, fields)
    assert refused.value.message == words
