"""Only the replaced letters of a line change, whatever the line holds."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.secrets.rewrite import Replacement, rewrite_line, rewrite_strings

SECRET = "hunter2"


def hide(pointer: str, text: str) -> list[Replacement]:
    return [Replacement(item.start(), item.end(), "[gone]") for item in re.finditer(SECRET, text)]


def hide_all(pointer: str, text: str) -> str | None:
    return text.replace(SECRET, "[gone]")


def places(line: bytes) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def note(pointer: str, text: str) -> tuple[Replacement, ...]:
        found.append((pointer, text))
        return ()

    rewrite_strings(line, note)
    return found


# --- made-up JSON, written in every odd way ------------------------------------------------------------------------------


class Members(list[Any]):
    """The members of an object in their order; keys may stand twice."""


_TEXTS = st.lists(
    st.sampled_from([SECRET, "a", "\n", '"', "\\", "/", "\x01", "é", "😀", "\ud83d", "\udc00", "~", "key", "\u2028"]),
    max_size=6,
).map("".join)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(math.nan) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(_TEXTS, inner), max_size=4).map(Members),
    max_leaves=12,
)


@st.composite
def _written(draw: st.DrawFn, value: Any = None, *, top: bool = True) -> str:
    if top:
        value = draw(st.lists(st.tuples(_TEXTS, _VALUES), min_size=1, max_size=4).map(Members))
    space = draw(st.sampled_from(["", "", " ", "\t", "  "]))

    def item(inner: Any) -> str:
        return draw(_written(inner, top=False))

    if isinstance(value, Members):
        body = ",".join(f"{space}{_string(draw, key)}{space}:{space}{item(inner)}" for key, inner in value)
        return "{" + body + space + "}"
    if isinstance(value, list):
        return "[" + f"{space},".join(item(inner) for inner in value) + space + "]"
    return _string(draw, value) if isinstance(value, str) else json.dumps(value)


def _string(draw: st.DrawFn, text: str) -> str:
    """Write a string as JSON allows it: escapes where none is needed, pairs as two escapes, slashes either way."""
    styles = draw(st.lists(st.integers(0, 2), min_size=len(text), max_size=len(text)))
    written = []
    for letter, style in zip(text, styles, strict=True):
        plain = json.dumps(letter, ensure_ascii=False)[1:-1]
        if style == 1 or "\ud800" <= letter <= "\udfff":
            units = letter.encode("utf-16-be", "surrogatepass")
            plain = "".join(f"\\u{units[at] << 8 | units[at + 1]:04X}" for at in range(0, len(units), 2))
        elif style == 2 and letter == "/":
            plain = "\\/"
        written.append(plain)
    return '"' + "".join(written) + '"'


@given(_written(), st.sampled_from(["\n", "\r\n", "", " \n"]))
@example('{"a":"\\ud83d\\ude00hunter2\\ude00"}', "\n")
def test_only_the_replaced_letters_change(text: str, ending: str) -> None:
    line = (text + ending).encode()
    changed = rewrite_strings(line, hide)
    assert changed.replace(b"[gone]", b"") == _without_secret_values(line)
    assert _pairs(changed) == _map(_pairs(line))


@given(_written())
def test_a_new_text_of_a_string_gives_the_same_value(text: str) -> None:
    line = text.encode()
    assert _pairs(rewrite_line(line, hide_all)) == _map(_pairs(line))
    assert rewrite_line(line, lambda _, old: old) == line
    assert rewrite_line(line, lambda *_: None) == line


@given(_written(), st.data())
def test_no_torn_or_mixed_line_is_too_much(text: str, data: st.DataObject) -> None:
    whole = text.encode()
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    junk = data.draw(st.sampled_from([b"", b"\x00\x00", b"\xff\xfe", b"junk hunter2 ", whole]))
    line = cut + junk + whole + b"\n"
    assert rewrite_strings(line, lambda *_: ()) == line
    assert rewrite_strings(rewrite_strings(line, hide), hide) == rewrite_strings(line, hide)


@given(_written(), st.data())
def test_a_torn_line_keeps_its_other_bytes(text: str, data: st.DataObject) -> None:
    whole = text.encode()
    line = whole[: data.draw(st.integers(1, len(whole)))]
    changed = rewrite_strings(line, hide)
    same = _SECRET_WRITTEN.join(re.escape(piece) for piece in changed.split(b"[gone]"))
    assert re.fullmatch(same, line, re.DOTALL)


_SECRET_WRITTEN = b"".join(rb"(?:%c|\\u%04X)" % (code, code) for code in SECRET.encode())


def _without_secret_values(line: bytes) -> bytes:
    """Take the secret out of all values, however it is written, by another way than the one that is tested."""
    strings = re.compile(rb'("(?:[^"\\]|\\.)*")([ \t]*:)?', re.DOTALL)
    pieces = re.compile(_SECRET_WRITTEN + rb"|(\\.|[^\\])", re.DOTALL)  # an escape is never taken apart
    return strings.sub(
        lambda found: found[0] if found[2] else pieces.sub(lambda piece: piece[1] or b"", found[1]), line
    )


def _pairs(line: bytes) -> Any:
    return repr(json.loads(line, object_pairs_hook=lambda pairs: ("object", pairs)))


def _map(written: str) -> str:
    value = eval(written, {"nan": math.nan})  # noqa: S307 - written by `_pairs`

    def mapped(item: Any) -> Any:
        if isinstance(item, str):
            return item.replace(SECRET, "[gone]")
        if isinstance(item, list):
            return [mapped(inner) for inner in item]
        if isinstance(item, tuple) and len(item) == 2 and item[0] == "object":
            return ("object", [(key, mapped(inner)) for key, inner in item[1]])
        return item

    return repr(mapped(value))


# --- places and damage ---------------------------------------------------------------------------------------------------


def test_the_pointer_names_the_place() -> None:
    line = b'{"a":{"b/c~d":["x",{"e":"y"},[],"z"]},"f":["g"],"\\u0068":"i"}'
    assert places(line) == [
        ("/a/b~1c~0d/0", "x"), ("/a/b~1c~0d/1/e", "y"), ("/a/b~1c~0d/3", "z"), ("/f/0", "g"), ("/h", "i"),
    ]  # fmt: skip
    assert places(b'"alone"') == [("", "alone")]


def test_keys_are_changed_only_when_asked() -> None:
    line = b'{"hunter2": {"k": "hunter2"}}'
    assert rewrite_strings(line, hide) == b'{"hunter2": {"k": "[gone]"}}'
    assert rewrite_strings(line, hide, change_key=hide) == b'{"[gone]": {"k": "[gone]"}}'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"a":"x hunter2 y', b'{"a":"x [gone] y'),
        (b'{"a":"x hunter2\\', b'{"a":"x [gone]\\'),
        (b'{"a":"hunter2\\u00', b'{"a":"[gone]\\u00'),
        (b'{"a":"hunter2\\\\u00\r\n', b'{"a":"[gone]\\\\u00\r\n'),
        (b'{"a":"hunter2"}{"a":"hunter2"}\n', b'{"a":"[gone]"}{"a":"[gone]"}\n'),
        (b'\x00\x00{"a":"hunter2"}\n', b'\x00\x00{"a":"[gone]"}\n'),
        (b'no JSON, "hunter2": hunter2\n', b'no JSON, "[gone]": [gone]\n'),
        (b'\xef\xbb\xbf{"a":"hunter2"}\r\n', b'\xef\xbb\xbf{"a":"[gone]"}\r\n'),
        (b'{"a":"\xff\xfehunter2\xc3"}\n', b'{"a":"\xff\xfe[gone]\xc3"}\n'),
        (b'{"a":"\\x hunter2 \\q"}\n', b'{"a":"\\x [gone] \\q"}\n'),
        (b'{"a":NaN,"b":"hunter2","c":-Infinity}\n', b'{"a":NaN,"b":"[gone]","c":-Infinity}\n'),
        (b'{"a":"\thunter2\x01"}\n', b'{"a":"\thunter2\x01"}\n'.replace(b"hunter2", b"[gone]")),
        (b'{"parentUuid":null,"type":"user","message":{"content":"hunter2 {"type":"user","uuid":"u","a":"hunter2"}\n',
         b'{"parentUuid":null,"type":"user","message":{"content":"[gone] {"type":"user","uuid":"u","a":"[gone]"}\n'),
        (b"\n", b"\n"), (b"", b""), (b"hunter2", b"[gone]"),
    ],
)  # fmt: skip
def test_damaged_lines(line: bytes, expected: bytes) -> None:
    assert rewrite_strings(line, hide) == expected


def test_bytes_that_are_no_text_stay_when_the_whole_text_is_new() -> None:
    assert rewrite_line(b'{"a":"hunter2 \xff hunter2"}', hide_all) == b'{"a":"[gone] \xff [gone]"}'
    assert rewrite_line(b'{"a":"hunter2 \\ud800 hunter2"}', hide_all) == b'{"a":"[gone] \\ud800 [gone]"}'


def test_deep_nesting_and_long_keys_cost_their_length() -> None:
    depth = 200_000
    deep = b'["hunter2",' * depth + b"1" + b"]" * depth
    assert rewrite_strings(deep, hide).count(b"[gone]") == depth
    wide = b'{"' + b"k" * 1_000_000 + b'":[' + b",".join([b'"hunter2"'] * 20_000) + b"]}"
    assert rewrite_strings(wide, hide).count(b"[gone]") == 20_000
