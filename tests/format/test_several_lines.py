"""Objects over several lines are one entry, as Claude Code reads them; everything else stays line by line."""

from __future__ import annotations

import io
import json

import pytest
from tests.reading import read

from recollect.format import line as line_module
from recollect.format.decode import file_entries
from recollect.format.line import (
    BOM,
    HARMLESS,
    SMALL_FILE,
    Damage,
    Extent,
    RawLine,
    join_lines,
    read_entry_lines,
    value_extent,
)


def row(name: str) -> bytes:
    message = {"role": "user", "content": [{"type": "text", "text": f"words of {name}"}]}
    return json.dumps({"parentUuid": None, "type": "user", "uuid": name, "message": message}).encode()


def pretty(name: str, indent: int | str = 2) -> bytes:
    return json.dumps(json.loads(row(name)), indent=indent).encode()


ONE, TWO, THREE = row("one"), row("two"), row("three")
OPEN = b'{"type":"user","uuid":"cut","message":'


def shape(data: bytes) -> list[tuple[int, int]]:
    """The first and the last line of each piece of a file."""
    return [(line.number, line.last_number) for line in read_entry_lines(io.BytesIO(data))]


@pytest.mark.parametrize(
    "spread",
    [
        pretty("two"),
        pretty("two", "\t"),
        pretty("two", 0),
        pretty("two").replace(b"\n", b"\r\n"),
        pretty("two").replace(b"\n", b"\n\n \n"),
        TWO.replace(b",", b"\n,"),
        TWO.replace(b":", b"\n:\n"),
        TWO.replace(b"}", b"\n}"),
        TWO.replace(b"{", b"{\n"),
        b"  " + pretty("two") + b"  ",
        pretty("two").replace(b"words", b"\\ud83d"),
        pretty("two").replace(b"words", b"\xff"),
        pretty("two").replace(b"{", b'{"cwd": 3,', 1),
    ],
)
def test_an_object_over_several_lines_is_one_entry(spread: bytes) -> None:
    reading = read(ONE + b"\n" + spread + b"\n" + THREE + b"\n")
    lines = spread.count(b"\n") + 1
    assert [(line.number, line.lines) for line in reading.lines] == [(1, 1), (2, lines), (lines + 2, 1)]
    assert reading.uuids == ["one", "two", "three"]
    assert [item.line for item in reading.found] == [1, 2, lines + 2]
    assert all(item.client_reads for item in reading.found)
    assert json.loads(reading.at(reading.found[1]).decode("utf-8", "replace"))["uuid"] == "two"
    assert "several-lines" in reading.kinds
    assert {kind for kind, _ in reading.harm} <= {"surrogate", "encoding"}


def test_at_the_start_behind_a_byte_order_mark_and_at_the_end_without_a_line_feed() -> None:
    data = BOM + pretty("one") + b"\n" + pretty("two")
    reading = read(data)
    assert [reading.at(item) for item in reading.found] == [pretty("one"), pretty("two")]
    assert [item.line for item in reading.found] == [1, pretty("one").count(b"\n") + 2]
    assert set(reading.kinds) == {"bom", "several-lines", "no-newline"}
    assert reading.kinds.count("several-lines") == 2
    assert {item.line for item in reading.damage if item.kind == "no-newline"} == {data.count(b"\n") + 1}


def test_what_stands_behind_an_object_on_its_last_line_is_found_but_not_read_by_the_client() -> None:
    reading = read(pretty("one") + TWO + b"\n" + THREE + b"\n")
    lines = pretty("one").count(b"\n") + 1
    assert reading.uuids == ["one", "two", "three"]
    assert [item.client_reads for item in reading.found] == [True, False, True]
    assert [item.line for item in reading.found] == [1, lines, lines + 1]
    assert "glued" in reading.kinds


@pytest.mark.parametrize(
    "broken",
    [
        pretty("two").replace(b"words of two", b"words\nof two"),  # a string does not go over a line end
        pretty("two").replace(b"null", b"nonsense"),
        pretty("two")[:-2] + b",\n}",
        pretty("two").replace(b"null", b"NaN"),
        pretty("two").replace(b"\n", b"\n\0\n", 1),
        pretty("two")[:-2],
        pretty("two")[2:],
        OPEN,
        OPEN[:-1],
        OPEN + b"[",
        OPEN + b"{}",
        OPEN + b"1,",
        b"{",
    ],
)
def test_a_value_that_fails_costs_the_line_it_begins_on(broken: bytes) -> None:
    reading = read(ONE + b"\n" + broken + b"\n" + TWO + b"\n" + THREE + b"\n")
    assert reading.lines[1].lines == 1
    assert [item.entry.uuid for item in reading.found if item.entry.uuid] == ["one", "two", "three"]
    assert all(item.client_reads for item in reading.found)
    assert {"torn", "not-json", "not-object"} & set(reading.kinds)


def test_a_value_inside_one_that_fails_is_read() -> None:
    reading = read(b'{\n "x": [\n' + pretty("one") + b",\n" + pretty("two") + b"\n oops ]}\n" + THREE + b"\n")
    assert [(item.entry.uuid, item.client_reads) for item in reading.found] == [
        ("one", True), ("two", True), ("three", True),
    ]  # fmt: skip


def test_the_client_passes_over_rows_in_a_list() -> None:
    reading = read(b"[\n" + ONE + b",\n" + TWO + b"\n]\n" + THREE + b"\n")
    assert [(item.entry.uuid, item.client_reads) for item in reading.found] == [
        ("one", False), ("two", False), ("three", True),
    ]  # fmt: skip
    assert shape(reading.data) == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]


@pytest.mark.parametrize("end", [OPEN, OPEN + b"[\n" + TWO + b",", b"[\n" + TWO + b",", pretty("two")[:-2]])
def test_what_is_open_at_the_end_costs_everything_from_its_start(end: bytes) -> None:
    reading = read(ONE + b"\n" + end + b"\n" + (TWO + b"\n" if end == OPEN else b""))
    assert [line.unclosed for line in reading.lines] == [False] + [True] * (len(reading.lines) - 1)
    assert [item.entry.uuid for item in reading.found if item.client_reads] == ["one"]
    more = read(reading.data + THREE + b"\n" + THREE + b"\n")
    assert not any(line.unclosed for line in more.lines)
    assert more.found[-1].client_reads


@pytest.mark.parametrize("half", [b"tru", b"-", b"1.", b"1e+", b'"wor', b'"\\', b'"\\u00', b'{"a', b"[[], "])
def test_half_a_line_of_something_open_belongs_to_it(half: bytes) -> None:
    lines = list(read_entry_lines(io.BytesIO(ONE + b"\n" + OPEN + b"\n" + half)))
    assert [line.unclosed for line in lines] == [False, True, True]


def test_above_five_mebibytes_the_client_reads_line_by_line() -> None:
    filling = b'{"type":"x","x":"' + b"x" * SMALL_FILE + b'"}\n'
    inside = b"[\n" + TWO + b"\n]\n"
    small, large = read(pretty("one") + b"\n" + inside), read(filling + pretty("one") + b"\n" + inside)
    assert [(item.entry.uuid, item.client_reads) for item in small.found] == [("one", True), ("two", False)]
    assert [(item.entry.uuid, item.client_reads) for item in large.found[1:]] == [("one", False), ("two", True)]
    assert "several-lines-unread" in large.kinds
    assert "several-lines" in HARMLESS
    assert "several-lines-unread" not in HARMLESS


def test_the_size_of_the_file_decides_also_where_only_its_end_is_read() -> None:
    data = b" " * SMALL_FILE + b"\n" + pretty("one") + b"\n"
    stream = io.BytesIO(data)
    stream.seek(SMALL_FILE + 1)
    (line,) = read_entry_lines(stream, offset=SMALL_FILE + 1, number=2)
    assert line.unread
    (line,) = read_entry_lines(io.BytesIO(pretty("one")), size=SMALL_FILE)
    assert not line.unread


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":\n' * 20_000,
        b"[\n" * 20_000 + b"x\n",
        (b"[\n" * 900 + b"x\n") * 20,
        (b'{"a":\n' * 900 + b"x\n") * 20,
        b"[\n" + b"[],\n" * 20_000,
        b'{\n"a": 1,\n' * 10_000,
        b"{\n" * 20_000,
        pretty("one")[:-2] * 200,
    ],
)
def test_the_work_is_in_proportion_to_the_bytes(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    read_bytes = 0

    def counting(data: bytes, start: int = 0, end: int | None = None) -> Extent:
        nonlocal read_bytes
        extent = value_extent(data, start, end)
        read_bytes += extent.reached - start
        return extent

    monkeypatch.setattr(line_module, "value_extent", counting)
    lines = list(read_entry_lines(io.BytesIO(data)))
    assert b"".join(line.data for line in lines) == data
    assert read_bytes <= 20 * len(data)


def test_no_more_lines_are_held_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "_MOST_LINES", 8)
    held = most = 0

    def lines() -> list[RawLine]:
        return [RawLine(b"[\n", 2 * place, place + 1) for place in range(100)]

    def watched() -> object:
        nonlocal held, most
        for line in lines():
            held += 1
            most = max(most, held)
            yield line

    for _ in join_lines(watched(), small=True):  # type: ignore[arg-type]
        held -= 1
    assert most <= 9


def test_a_file_of_many_such_objects_and_ordinary_lines_is_counted_right() -> None:
    data = b"".join(pretty(f"p{number}") + b"\n" + row(f"r{number}") + b"\n" for number in range(2_000))
    damage: list[Damage] = []
    entries = file_entries(io.BytesIO(data), damage)
    found = list(entries)
    assert [item.entry.uuid for item in found] == [f"{kind}{number}" for number in range(2_000) for kind in "pr"]
    assert all(item.line == data.count(b"\n", 0, item.offset) + 1 for item in found[::97])
    assert (entries.lines, entries.size) == (data.count(b"\n"), len(data))
    assert {item.kind for item in damage} == {"several-lines"}
