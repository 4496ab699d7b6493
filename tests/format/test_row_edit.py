"""Details of a row's line: what is read of them, and what changes while every other byte stays."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from recollect.format import row_edit
from recollect.format.row_edit import (
    as_words,
    change_blocks,
    content_blocks,
    fixed_text,
    image_sides,
    missing_result,
    on_one_line,
    persisted_output,
    persisted_preview,
    refused_images,
    role_of,
    says_side_plainly,
    set_in_message,
    set_members,
    text_block,
    todos_written,
    unsigned_thoughts,
)


def message(*blocks: Any) -> dict[str, Any]:
    return {"message": {"content": list(blocks)}}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(width: int, height: int) -> str:
    return encoded(b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + width.to_bytes(4) + height.to_bytes(4))


def jpeg(width: int, height: int) -> str:
    app = b"\xff\xe0\x00\x04ab"
    return encoded(b"\xff\xd8" + app + b"\xff\xc0\x00\x11\x08" + height.to_bytes(2) + width.to_bytes(2) + b"\0" * 9)


def picture(data: Any, kind: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


@pytest.mark.parametrize("entry", [{}, {"message": "said"}, {"message": {"content": "said"}}])
def test_a_message_that_is_text_has_no_blocks(entry: dict[str, Any]) -> None:
    assert content_blocks(entry) == []


def test_thoughts_without_a_signature() -> None:
    bare, empty = {"type": "thinking", "thinking": "a"}, {"type": "thinking", "thinking": "b", "signature": ""}
    signed = {"type": "thinking", "thinking": "c", "signature": "s"}
    assert unsigned_thoughts(message(bare, "text", signed, empty, text_block("d"))) == [bare, empty]


@pytest.mark.parametrize(
    ("data", "sides"),
    [
        (png(300, 20), (300, 20)),
        (encoded(b"GIF89a" + (12).to_bytes(2, "little") + (34).to_bytes(2, "little")), (12, 34)),
        (jpeg(640, 480), (640, 480)),
        (encoded(b"\xff\xd8\xff\xe0\x00\x04ab"), None),
        (encoded(b"\x89PNG\r\n\x1a\n"), None),
        (encoded(b"RIFF....WEBP"), None),
        ("not base64 at all!", None),
    ],
)
def test_the_sides_of_a_picture(data: str, sides: tuple[int, int] | None) -> None:
    assert image_sides(data) == sides


def test_pictures_that_the_api_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_edit, "IMAGE_BYTES", 100)
    inner = {"type": "tool_result", "content": [picture(png(8001, 2)), "text"]}
    entry = message(
        picture("A" * 101, "image/gif"), picture(png(8000, 8000)), inner, picture(7), {"type": "image"}, "x"
    )
    assert refused_images(entry) == ["image/gif, 101 bytes encoded", "image/png, 8,001 x 2 pixels"]


def test_the_file_of_a_long_output() -> None:
    assert persisted_output({"toolUseResult": {"persistedOutputPath": "/t/1.txt"}}) == "/t/1.txt"
    odd: list[dict[str, Any]] = [{}, {"toolUseResult": "text"}, {"toolUseResult": {"persistedOutputPath": 7}}]
    assert [persisted_output(entry) for entry in odd] == [None, None, None]
    preview = persisted_preview("a" * 2001 + "end", "/t/1.txt")
    assert "/t/1.txt" in preview and "2,004 characters" in preview and "end" not in preview


def test_the_last_to_do_list_of_a_row_counts() -> None:
    def call(*items: Any) -> dict[str, Any]:
        return {"type": "tool_use", "name": "TodoWrite", "input": {"todos": list(items)}}

    entry = message(call({"content": "old"}), call({"content": "new", "status": "pending"}, "odd"), text_block("done"))
    assert [(item.content, item.status) for item in todos_written(entry)] == [("new", "pending")]
    assert todos_written(message({"name": "TodoWrite", "input": "x"}, {"name": "Read", "input": {"todos": []}})) == []


def test_the_role_of_a_message() -> None:
    assert role_of({"message": {"role": "user", "content": ""}}) == "user"
    odd: list[Any] = [[], {"message": 1}, {"message": {"role": "user"}}, {"message": {"role": "owl", "content": ""}}]
    assert [role_of(entry) for entry in odd] == [None] * 4


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        (b'{"isSidechain":true}', True),
        (b'{"isSidechain": false}', True),
        (b'{"isSidechain":"yes"}', False),
        (b'{"a":1}', False),
        (b"[1]", False),
        (b"torn", False),
    ],
)
def test_whether_a_line_says_plainly_that_it_is_a_subagents(line: bytes, plain: bool) -> None:
    assert says_side_plainly(line) is plain


def test_a_result_without_its_call_becomes_words() -> None:
    (alone,) = as_words({"tool_use_id": "t1", "content": "gone"})
    assert alone["text"].endswith("t1]\ngone")
    assert as_words({"tool_use_id": "t1"})[0]["text"].endswith("t1]")
    head, kept = as_words({"tool_use_id": "t1", "content": [text_block("kept"), "odd"]})
    assert head["type"] == "text" and kept == text_block("kept")
    assert missing_result("t2")["tool_use_id"] == "t2" and missing_result("t2")["is_error"]


def test_an_object_over_several_lines_goes_on_one() -> None:
    assert on_one_line(b'{\n  "a b": [1,\t2],\r\n "c": "x \\" \\n y"\n}') == b'{"a b":[1,2],"c":"x \\" \\n y"}'


def test_members_are_set_in_place_or_added_at_the_end() -> None:
    line = b'{"a": 1.0, "b":{"c":[1, 2]},"a":  2}'
    assert set_members(line, {"b": None, "d": "é", "e": [1]}) == '{"a": 1.0, "b":null,"a":  2,"d":"é","e":[1]}'.encode()
    assert set_members(b"{ }", {"a": 1}) == b'{"a":1 }'
    assert set_members(line, {}) == line


def test_a_message_changes_only_where_it_is_an_object() -> None:
    line = b'{"x":1,"message":{"role":"user","content":"a"}, "y": 2}'
    assert set_in_message(line, {"role": "assistant"}) == line.replace(b'"user"', b'"assistant"')
    for other in (b'{"message":"said"}', b'{"x":1}', b"[1]"):
        assert set_in_message(other, {"role": "user"}) == other


def test_blocks_change_and_everything_else_stays() -> None:
    line = b'{"n": 1.50,"message":{"content":[{"type":"text","text":"a"},{"type":"odd"}]},"z":0}'
    changed = change_blocks(line, lambda block: [] if block["type"] == "odd" else [block, text_block("b")])
    assert changed.startswith(b'{"n": 1.50,') and changed.endswith(b',"z":0}')
    assert content_blocks(json.loads(changed)) == [text_block("a"), text_block("b")]
    assert change_blocks(line, lambda block: [block]) is line
    for other in (b'{"message":{"content":"a"}}', b'{"message":1}', b"7", b"torn"):
        assert change_blocks(other, lambda _: []) is other


@pytest.mark.parametrize(
    ("damaged", "fixed"),
    [
        (b'{"a":"\xff"}', '{"a":"\ufffd"}'.encode()),
        (b'{"a":NaN,"b":[-Infinity,Infinity]}', b'{"a":null,"b":[null,null]}'),
        (b'{"a":"NaN\tx\x00"}', b'{"a":"NaN\\u0009x\\ufffd"}'),
        (rb'{"a":"\ud83d\ude00"}', rb'{"a":"\ud83d\ude00"}'),
        (rb'{"a":"\ud83d!","b":"\ude00","c":"\ud83d"}', rb'{"a":"\ufffd!","b":"\ufffd","c":"\ufffd"}'),
        (rb'{"a":"\ud83d\ud83d\ude00 \ud83d\n\u0041"}', rb'{"a":"\ufffd\ud83d\ude00 \ufffd\n\u0041"}'),
        (rb'{"a":"\u0000 \\u0000"}', rb'{"a":"\ufffd \\u0000"}'),
    ],
)
def test_text_that_some_version_cannot_read_is_fixed(damaged: bytes, fixed: bytes) -> None:
    assert fixed_text(damaged) == fixed
    assert fixed_text(fixed) == fixed
