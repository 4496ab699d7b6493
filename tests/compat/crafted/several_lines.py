"""Objects written over several lines, whole and damaged. Rows are a second apart: only what the client cannot read is missing."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.compat.crafted.sheet import Sheet

#: Which row the damage is in: the first answer of four rows before and two behind.
_SPOILED = 3


def _pretty(data: bytes, indent: int | str = 2) -> bytes:
    return json.dumps(json.loads(data), indent=indent, ensure_ascii=False).encode() + b"\n"


def _rows(s: Sheet, change: Callable[[bytes], bytes], *places: int) -> None:
    for number in (1, 2, 3):
        s.turn(number, gap=1)
    for place in places or (_SPOILED,):
        s.spoil(change, place)


def pretty_row(s: Sheet) -> None:
    """An object over several lines in the middle of the file."""
    _rows(s, _pretty)


def pretty_row_by_tabs(s: Sheet) -> None:
    """The same, with tabs."""
    _rows(s, lambda data: _pretty(data, "\t"))


def pretty_row_crlf(s: Sheet) -> None:
    """The same with Windows line ends."""
    _rows(s, lambda data: _pretty(data).replace(b"\n", b"\r\n"))


def pretty_row_with_blank_lines(s: Sheet) -> None:
    """The same with empty lines inside."""
    _rows(s, lambda data: _pretty(data).replace(b"\n", b"\n\n"))


def pretty_first_row(s: Sheet) -> None:
    """The root over several lines."""
    _rows(s, _pretty, 0)


def pretty_first_row_with_mark(s: Sheet) -> None:
    """The root over several lines behind a byte order mark."""
    _rows(s, lambda data: b"\xef\xbb\xbf" + _pretty(data), 0)


def pretty_last_row(s: Sheet) -> None:
    """The leaf over several lines."""
    _rows(s, _pretty, 5)


def pretty_last_row_no_line_feed(s: Sheet) -> None:
    """The leaf over several lines, without a line feed at the end."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n"), 5)


def pretty_rows(s: Sheet) -> None:
    """All rows over several lines."""
    _rows(s, _pretty, 0, 1, 2, 3, 4, 5)


def pretty_last_row_torn(s: Sheet) -> None:
    """The leaf over several lines, cut in half."""
    _rows(s, lambda data: _pretty(data)[: len(data) // 2], 5)


def pretty_row_cut_at_a_line_end(s: Sheet) -> None:
    """Cut behind a comma at the end of a line; whole rows follow."""
    _rows(s, lambda data: b"".join(_pretty(data).splitlines(keepends=True)[:8]))


def pretty_row_cut_in_a_line(s: Sheet) -> None:
    """Cut inside a string; whole rows follow."""
    _rows(s, lambda data: b"".join(_pretty(data).splitlines(keepends=True)[:8])[:-6] + b"\n")


def pretty_row_cut_in_a_name(s: Sheet) -> None:
    """Cut inside a field's name, the next row on the same line."""
    _rows(s, lambda data: b"".join(_pretty(data).splitlines(keepends=True)[:8]) + b'  "vers')


def pretty_row_without_its_end(s: Sheet) -> None:
    """Only the last brace is missing."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n}") + b"\n")


def pretty_row_without_its_beginning(s: Sheet) -> None:
    """Only the first brace is missing: every line is a name, or the end of something."""
    _rows(s, lambda data: _pretty(data)[2:])


def pretty_row_with_a_comma_too_much(s: Sheet) -> None:
    """A comma before the last brace."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n}") + b",\n}\n")


def pretty_row_with_a_wrong_word(s: Sheet) -> None:
    """No JSON on its third line."""
    _rows(s, lambda data: _pretty(data).replace(b"false", b"nonsense"))


def pretty_row_with_a_raw_line_feed(s: Sheet) -> None:
    """A string of it goes over a line end."""
    _rows(s, lambda data: _pretty(data).replace(b'"text": "A2"', b'"text": "A\n2"'))


def pretty_row_behind_a_row(s: Sheet) -> None:
    """It begins on the line of the row before."""
    _rows(s, lambda data: data.rstrip(b"\n") + b" " + _pretty(data.replace(b"U2", b"X2")), 2)


def row_behind_a_pretty_row(s: Sheet) -> None:
    """The next row begins on the line on which it ends."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n"))


def pretty_row_behind_a_pretty_row(s: Sheet) -> None:
    """Two over several lines, the second one begins where the first one ends."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n"), 3)
    s.spoil(_pretty, 4)


def garbage_behind_a_pretty_row(s: Sheet) -> None:
    """Letters behind its last brace."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n") + b"xyz\n")


def garbage_before_a_pretty_row(s: Sheet) -> None:
    """Letters before its first brace."""
    _rows(s, lambda data: b"xyz" + _pretty(data))


def nul_run_inside_a_pretty_row(s: Sheet) -> None:
    """NULs between two of its lines."""
    _rows(s, lambda data: _pretty(data).replace(b"\n", b"\n" + b"\0" * 16 + b"\n", 3))


def nul_run_behind_a_pretty_row(s: Sheet) -> None:
    """NULs behind its last brace."""
    _rows(s, lambda data: _pretty(data).rstrip(b"\n") + b"\0\0\0\n")


def pretty_list_of_rows(s: Sheet) -> None:
    """Three rows as the members of a list."""
    _rows(s, lambda data: b"[\n" + data.rstrip(b"\n") + b",\n", 2)
    s.spoil(lambda data: data.rstrip(b"\n") + b",\n", 3)
    s.spoil(lambda data: data + b"]\n", 4)


def pretty_list_of_rows_cut(s: Sheet) -> None:
    """The same without the end of the list."""
    _rows(s, lambda data: b"[\n" + data.rstrip(b"\n") + b",\n", 2)
    s.spoil(lambda data: data.rstrip(b"\n") + b",\n", 3)


def list_of_rows_without_its_beginning(s: Sheet) -> None:
    """Rows with commas behind them."""
    _rows(s, lambda data: data.rstrip(b"\n") + b",\n", 2, 3)


def row_inside_a_broken_pretty_row(s: Sheet) -> None:
    """A broken object holds a whole row on lines of its own."""
    _rows(s, lambda data: b'{\n "x": nonsense,\n "rows": [\n' + data + b" ]\n}\n")


def row_inside_a_pretty_object(s: Sheet) -> None:
    """A whole object holds a whole row on lines of its own."""
    _rows(s, lambda data: b'{\n "type": "x",\n "rows": [\n' + data + b" ]\n}\n")


def row_cut_behind_its_brace(s: Sheet) -> None:
    """Nothing but the first brace of a row is left."""
    _rows(s, lambda data: data[:1] + b"\n")


def row_cut_behind_a_comma(s: Sheet) -> None:
    """Cut between two fields: what follows on the next line could have gone on."""
    _rows(s, lambda data: data[: data.index(b'"cwd"')] + b"\n")


def row_cut_behind_a_name(s: Sheet) -> None:
    """Cut before a colon."""
    _rows(s, lambda data: data[: data.index(b':"external"')] + b"\n")


def row_cut_behind_a_colon(s: Sheet) -> None:
    """Cut before a value: the next row could be this value."""
    _rows(s, lambda data: data[: data.index(b'"external"')] + b"\n")


def row_cut_behind_a_value(s: Sheet) -> None:
    """Cut behind a value."""
    _rows(s, lambda data: data[: data.index(b',"cwd"')] + b"\n")


def row_cut_inside_a_list(s: Sheet) -> None:
    """Cut behind the beginning of a list: the next row could be its first member."""
    _rows(s, lambda data: data[: data.index(b'[{"type"') + 1] + b"\n")


def row_cut_inside_a_word(s: Sheet) -> None:
    """Cut inside `false`."""
    _rows(s, lambda data: data[: data.index(b"lse")] + b"\n")


def row_cut_inside_an_escape(s: Sheet) -> None:
    """Cut behind a backslash inside a string."""
    _rows(s, lambda data: data[: data.index(b"external")] + b"ab\\\n")


def rows_cut_behind_a_comma(s: Sheet) -> None:
    """Two cut rows one behind the other."""
    _rows(s, lambda data: data[: data.index(b'"cwd"')] + b"\n", 2, 3)


def row_cut_then_a_pretty_row(s: Sheet) -> None:
    """A cut row before one over several lines."""
    _rows(s, lambda data: data[: data.index(b'"cwd"')] + b"\n", 3)
    s.spoil(_pretty, 4)


def row_cut_then_spaces_and_end(s: Sheet) -> None:
    """The last row is cut between two fields, and empty lines follow."""
    _rows(s, lambda data: data[: data.index(b'"cwd"')] + b"\n\n  \n", 5)


def number_before_a_row(s: Sheet) -> None:
    """A number, then a row on the same line."""
    _rows(s, lambda data: b"12 " + data)


def string_before_a_row(s: Sheet) -> None:
    """A string, then a row on the same line."""
    _rows(s, lambda data: b'"x"' + data)


def colon_line_before_a_row(s: Sheet) -> None:
    """A lone colon, as left of a torn object."""
    _rows(s, lambda data: b":\n" + data)


def closing_line_before_a_row(s: Sheet) -> None:
    """Lone closing brackets, then a row on the same line."""
    _rows(s, lambda data: b"}]}" + data)


def pretty_state_line(s: Sheet) -> None:
    """A checkpoint over several lines counts."""
    _rows(s, lambda data: data)
    s.checkpoint("A2", explicit=True)
    s.spoil(_pretty)


def pretty_boundary(s: Sheet) -> None:
    """A compaction over several lines counts."""
    s.turns(1, 2)
    s.boundary("C")
    s.spoil(_pretty)
    s.summary("S")
    s.turns(3)


def pretty_row_with_bad_text(s: Sheet) -> None:
    """Invalid UTF-8 in one over several lines."""
    s.user("U1", gap=1)
    s.assistant("A1", gap=1)
    s.user("U2", gap=1)
    s.spoil(lambda data: _pretty(data).replace(b'"content": "U2"', b'"content": "U\xff2"'))
    s.says("U2", "U\ufffd2")
    s.assistant("A2", gap=1)


def list_open_to_the_end(s: Sheet) -> None:
    """A list of rows that nobody closed: it could still go on behind the end of the file."""
    _rows(s, lambda data: b"[\n" + data.rstrip(b"\n") + b",\n", 2)
    for place in (3, 4):
        s.spoil(lambda data: data.rstrip(b"\n") + b",\n", place)


def row_cut_behind_a_colon_before_the_last(s: Sheet) -> None:
    """The last row could be a value of the row cut before it."""
    _rows(s, lambda data: data[: data.index(b'"external"')] + b"\n", 4)


def pretty_row_in_a_large_file(s: Sheet) -> None:
    """The same above the five million bytes from which the client reads in another way."""
    s.turn(1, gap=1)
    s.state("unknown-kind", filling="x" * 3_000_000)
    s.turn(2, gap=1)
    s.spoil(_pretty, 3)
    s.state("unknown-kind", filling="x" * 3_000_000)
    s.turn(3, gap=1)
    s.spoil(_pretty)


def row_cut_in_a_large_file(s: Sheet) -> None:
    """Cut behind a comma, in a file of that size."""
    s.turn(1, gap=1)
    s.state("unknown-kind", filling="x" * 3_000_000)
    s.turn(2, gap=1)
    s.spoil(lambda data: data[: data.index(b'"cwd"')] + b"\n", 3)
    s.state("unknown-kind", filling="x" * 3_000_000)
    s.turn(3, gap=1)


def _filled_up(s: Sheet, size: int) -> None:
    """Two turns, of which the second prompt goes over several lines, in a file of so many bytes."""
    s.turn(1, gap=1)
    s.turn(2, gap=1)
    s.spoil(_pretty, 2)
    s.state("unknown-kind", filling="")
    room = size - len(s.data())
    s.edit(lambda line: line.update(filling="x" * room))


def pretty_row_in_a_file_of_five_mebibytes(s: Sheet) -> None:
    """The largest file that is read value by value."""
    _filled_up(s, 5 << 20)


def pretty_row_in_a_file_of_one_byte_more(s: Sheet) -> None:
    """The smallest that is read line by line."""
    _filled_up(s, (5 << 20) + 1)
