"""Lines as bytes: where they end, where they stand, and how long ones are handed on."""

from __future__ import annotations

import io
import re

import pytest

from recollect.format import line as line_module
from recollect.format.line import BOM, DAMAGE_KINDS, HARMLESS, RawLine, read_lines

AWKWARD = {
    "empty": b"",
    "one LF": b"\n",
    "many LFs": b"\n\n\n",
    "no LF at the end": b"one\ntwo",
    "CRLF": b"one\r\ntwo\r\n",
    "CR only": b"one\rtwo\r",
    "NULs": b"\0" * 9 + b"\n\0",
    "BOM": BOM + b"one\n",
    "invalid UTF-8": b"\xff\xfe\n\xc3\n",
    "other line ends": "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\n".encode(),
}


def lines_of(data: bytes) -> list[RawLine]:
    return list(read_lines(io.BytesIO(data)))


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of 8 bytes; a line above 24 is never held as a whole."""
    monkeypatch.setattr(line_module, "PIECE", 8)
    monkeypatch.setattr(line_module, "HELD_LIMIT", 24)


@pytest.mark.parametrize("data", AWKWARD.values(), ids=AWKWARD)
def test_joined_lines_are_the_file(data: bytes) -> None:
    assert b"".join(line.data for line in lines_of(data)) == data


@pytest.mark.parametrize("data", AWKWARD.values(), ids=AWKWARD)
def test_lines_end_at_lf_only(data: bytes) -> None:
    assert [line.data for line in lines_of(data)] == re.findall(rb"[^\n]*\n|[^\n]+", data)


def test_lines_are_counted_from_one_and_placed_from_zero() -> None:
    assert [(line.number, line.offset, line.data) for line in lines_of(b"a\n\nbcd\ne")] == [
        (1, 0, b"a\n"),
        (2, 2, b"\n"),
        (3, 3, b"bcd\n"),
        (4, 7, b"e"),
    ]


def test_reading_may_begin_inside_the_file() -> None:
    stream = io.BytesIO(b"first\nsecond\nthird\n")
    stream.seek(6)
    found = list(read_lines(stream, offset=6, number=2))
    assert [(line.number, line.offset, line.data) for line in found] == [(2, 6, b"second\n"), (3, 13, b"third\n")]


@pytest.mark.parametrize(
    ("line", "body", "ending"),
    [
        (RawLine(b"{}\n", 0, 1), b"{}", b"\n"),
        (RawLine(b"{}\r\n", 0, 1), b"{}", b"\n"),
        (RawLine(b"{}", 0, 1), b"{}", b""),
        (RawLine(b"{}\r", 0, 1), b"{}", b""),
        (RawLine(BOM + b"{}\n", 0, 1), b"{}", b"\n"),
        (RawLine(BOM + b"{}\n", 9, 2), BOM + b"{}", b"\n"),
        (RawLine(b"\n", 0, 1), b"", b"\n"),
    ],
)
def test_the_body_is_the_line_without_what_surrounds_it(line: RawLine, body: bytes, ending: bytes) -> None:
    assert (line.body, line.ending) == (body, ending)


@pytest.mark.usefixtures("small_pieces")
class TestLongLines:
    @pytest.mark.parametrize("length", [7, 8, 9, 15, 16, 17, 23, 24])
    @pytest.mark.parametrize("end", [b"\n", b""])
    def test_up_to_the_limit_a_line_is_one_object(self, length: int, end: bytes) -> None:
        long = b"x" * (length - len(end)) + end
        assert lines_of(b"before\n" + long)[1:] == [RawLine(long, 7, 2)]

    @pytest.mark.parametrize("length", [25, 31, 32, 33, 200])
    @pytest.mark.parametrize("end", [b"\n", b""])
    def test_above_the_limit_it_comes_in_pieces_that_join(self, length: int, end: bytes) -> None:
        long = bytes(ord("a") + place % 26 for place in range(length - len(end))) + end
        pieces = lines_of(b"before\n" + long)[1:]
        assert b"".join(piece.data for piece in pieces) == long
        assert all(len(piece.data) <= 8 for piece in pieces)
        assert {piece.number for piece in pieces} == {2}
        assert [piece.more for piece in pieces] == [True] * (len(pieces) - 1) + [False]
        offset = 7
        for piece in pieces:
            assert piece.offset == offset
            offset += len(piece.data)

    def test_the_line_behind_it_has_the_right_place(self) -> None:
        last = lines_of(b"x" * 100 + b"\n{}\n")[-1]
        assert (last.number, last.offset, last.data) == (2, 101, b"{}\n")

    def test_a_file_that_is_cut_meanwhile_ends_the_pieces(self) -> None:
        stream = io.BytesIO(b"x" * 100 + b"\n")
        reader = read_lines(stream)
        first = next(reader)
        stream.truncate(20)
        rest = list(reader)
        assert first.data + b"".join(piece.data for piece in rest) == b"x" * 20


def test_every_kind_of_damage_is_explained() -> None:
    assert all(words and not words.endswith(".") for words in DAMAGE_KINDS.values())
    assert set(DAMAGE_KINDS) > HARMLESS
