"""Damage to lines as such: cut, glued together, filled with NULs, or no objects at all."""

from __future__ import annotations

import json
from functools import partial

from .recipe import SAMPLE_ROWS, Inflict, Outcome, find_target, join_lines, parse, recipe, split_lines


@recipe("torn-tail", "The last line ends in the middle", "torn", "no-newline", lost=1, outcome=Outcome.WITHOUT_LAST)
def torn_tail(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    return join_lines(lines[:-1]) + _cut(lines[-1], seed)


@recipe(
    "torn-tail-ended", "The last line is cut but ended by a line feed", "torn", lost=1, outcome=Outcome.WITHOUT_LAST
)
def torn_tail_ended(data: bytes, seed: int) -> bytes:
    return torn_tail(data, seed) + b"\n"


@recipe("torn-middle", "A line inside the file is cut", "torn", lost=1, outcome=Outcome.AFTER_TARGET)
def torn_middle(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines[index] = _cut(lines[index], seed)
    return join_lines(lines)


@recipe("torn-start", "The file starts inside its first line", "not-json", outcome=Outcome.WHOLE)
def torn_start(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    lines[0] = lines[0][len(_cut(lines[0], seed)) :]
    return join_lines(lines)


@recipe("glued", "Two objects on one line", "glued", outcome=Outcome.AFTER_TARGET)
def glued(data: bytes, seed: int) -> bytes:
    return _glue(data, find_target(split_lines(data), seed) - 1, 2)


@recipe("glued-three", "Three objects on one line", "glued", outcome=Outcome.AFTER_TARGET)
def glued_three(data: bytes, seed: int) -> bytes:
    return _glue(data, find_target(split_lines(data), seed) - 2, 3)


@recipe("carriage-returns-only", "CR in place of every LF: one line with all objects", "glued", outcome=Outcome.NONE)
def carriage_returns_only(data: bytes, _seed: int) -> bytes:
    return data.replace(b"\n", b"\r")


@recipe("torn-and-glued", "A cut line runs into the next one", "torn", lost=1, outcome=Outcome.AFTER_TARGET)
def torn_and_glued(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines[index - 1 : index + 1] = [_cut_in_string(lines[index - 1]) + lines[index]]
    return join_lines(lines)


@recipe("nul-before", "A run of NULs before a line", "nul", outcome=Outcome.AFTER_TARGET)
def nul_before(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines[index] = b"\0" * 200 + lines[index]
    return join_lines(lines)


@recipe("nul-after", "A run of NULs after a line's object", "nul", outcome=Outcome.WHOLE)
def nul_after(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    lines[find_target(lines, seed)] += b"\0" * 200
    return join_lines(lines)


@recipe("nul-inside", "NULs in place of a part of a line", "nul", lost=1, outcome=Outcome.AFTER_TARGET)
def nul_inside(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    line = lines[index]
    third = len(line) // 3
    lines[index] = line[:third] + b"\0" * third + line[2 * third :]
    return join_lines(lines)


@recipe("nul-tail", "A run of NULs after the last line", "nul", "no-newline", outcome=Outcome.WHOLE)
def nul_tail(data: bytes, _seed: int) -> bytes:
    return data + b"\0" * 512


@recipe("nul-line", "A line of nothing but NULs", "nul", outcome=Outcome.WHOLE)
def nul_line(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, b"\0" * 4096)


@recipe("nul-line-long", "A line of 150,000 NULs", "nul", outcome=Outcome.WHOLE)
def nul_line_long(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, b"\0" * 150_000)


@recipe("nul-file", "As many NULs as the file had bytes", "nul", lost=SAMPLE_ROWS, outcome=Outcome.NONE)
def nul_file(data: bytes, _seed: int) -> bytes:
    return b"\0" * len(data)


@recipe("empty-file", "No bytes at all", lost=SAMPLE_ROWS, outcome=Outcome.NONE)
def empty_file(_data: bytes, _seed: int) -> bytes:
    return b""


@recipe("only-newlines", "Nothing but line feeds", "blank", lost=SAMPLE_ROWS, outcome=Outcome.NONE)
def only_newlines(_data: bytes, _seed: int) -> bytes:
    return b"\n" * 5


@recipe("bom", "A byte order mark at the start", "bom", outcome=Outcome.WHOLE)
def bom(data: bytes, _seed: int) -> bytes:
    return b"\xef\xbb\xbf" + data


@recipe("bom-inside", "A byte order mark before a line inside the file")
def bom_inside(data: bytes, seed: int) -> bytes:
    lines = split_lines(data)
    index = find_target(lines, seed)
    lines[index] = b"\xef\xbb\xbf" + lines[index]
    return join_lines(lines)


@recipe("crlf", "CR before every LF", "crlf", outcome=Outcome.WHOLE)
def crlf(data: bytes, _seed: int) -> bytes:
    return data.replace(b"\n", b"\r\n")


@recipe("crlf-mixed", "CR before some LFs", "crlf", outcome=Outcome.WHOLE)
def crlf_mixed(data: bytes, _seed: int) -> bytes:
    lines = split_lines(data)
    return join_lines([line + b"\r" if index % 2 else line for index, line in enumerate(lines)])


@recipe("blank-lines", "Empty lines in between", "blank", outcome=Outcome.WHOLE)
def blank_lines(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, b"\n") + b"\n"


@recipe("space-lines", "Lines of spaces and tabs", "blank", outcome=Outcome.WHOLE)
def space_lines(data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, b"  \t ")


@recipe("indented", "Spaces around every object", outcome=Outcome.WHOLE)
def indented(data: bytes, _seed: int) -> bytes:
    return join_lines([b"  " + line + b" \t" for line in split_lines(data)])


@recipe("no-final-newline", "The last line is whole but has no LF", "no-newline", outcome=Outcome.WHOLE)
def no_final_newline(data: bytes, _seed: int) -> bytes:
    return data.removesuffix(b"\n")


@recipe("pretty-printed", "Every object spread over many lines", "several-lines", outcome=Outcome.WHOLE)
def pretty_printed(data: bytes, _seed: int) -> bytes:
    texts = [json.dumps(parse(line), ensure_ascii=False, indent=2).encode() for line in split_lines(data)]
    return join_lines(texts)


def _cut(line: bytes, seed: int) -> bytes:
    """The head of a line, never empty and never whole, ending inside a string for most seeds."""
    return line[: max(1, len(line) * (3 + seed % 4) // 10)]


def _cut_in_string(line: bytes) -> bytes:
    """Cut inside the value of `content`, so that the next object's opening brace falls into a string."""
    place = line.find(b'"content":"')
    return line[: place + 14] if place >= 0 else line[: len(line) // 2]


def _glue(data: bytes, first: int, count: int) -> bytes:
    lines = split_lines(data)
    lines[first : first + count] = [b"".join(lines[first : first + count])]
    return join_lines(lines)


def insert_line(data: bytes, seed: int, line: bytes) -> bytes:
    """`line` before the one that would be hit."""
    lines = split_lines(data)
    lines.insert(find_target(lines, seed), line)
    return join_lines(lines)


def _inserting(line: bytes) -> Inflict:
    return partial(_insert, line)


def _insert(line: bytes, data: bytes, seed: int) -> bytes:
    return insert_line(data, seed, line)


for _name, _line in {"number": b"42", "string": b'"text"', "array": b"[1,2]", "null": b"null", "true": b"true"}.items():
    recipe(
        f"{_name}-line", f"A line that is JSON but no object: {_line.decode()}", "not-object", outcome=Outcome.WHOLE
    )(_inserting(_line))
recipe("prose-line", "A line that is not JSON", "not-json", outcome=Outcome.WHOLE)(_inserting(b"Segmentation fault"))
