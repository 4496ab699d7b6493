"""Answers and mistakes of SQL: types survive the way between the processes, mistakes have a place."""

from __future__ import annotations

import io
import math
import struct
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.sql_scene import ask, database, mistake

from recollect.errors import QueryError, Unavailable
from recollect.index.sql.query import Question, with_place
from recollect.index.sql.wire import MOST_BYTES, pack, read_frame, tagged, unpack

__all__ = ["database"]

TYPES: list[tuple[str, str, Any]] = [
    ("NULL", "", None),
    ("true", "BOOLEAN", True),
    ("7", "INTEGER", 7),
    ("(-9223372036854775808)::BIGINT", "BIGINT", -(2**63)),
    ("18446744073709551615::UBIGINT", "UBIGINT", 2**64 - 1),
    ("100000000000000000000000000000::HUGEINT", "HUGEINT", 10**29),
    ("1.5::DOUBLE", "DOUBLE", 1.5),
    ("'-inf'::DOUBLE", "DOUBLE", -math.inf),
    ("12.50::DECIMAL(10, 2)", "DECIMAL(10,2)", Decimal("12.50")),
    ("'grün \U0001f331 ''x'''", "VARCHAR", "grün \U0001f331 'x'"),
    ("'\\x00\\xFF'::BLOB", "BLOB", b"\x00\xff"),
    ("DATE '2026-03-02'", "DATE", date(2026, 3, 2)),
    ("TIME '12:30:05.25'", "TIME", time(12, 30, 5, 250000)),
    ("TIMESTAMP '2026-03-02 12:30:00.000001'", "TIMESTAMP", datetime(2026, 3, 2, 12, 30, 0, 1)),
    (
        "TIMESTAMPTZ '2026-03-02 12:30:00+02'",
        "TIMESTAMP WITH TIME ZONE",
        datetime(2026, 3, 2, 10, 30, tzinfo=UTC),
    ),
    ("INTERVAL '3 days 2 seconds'", "INTERVAL", timedelta(days=3, seconds=2)),
    (
        "'3bd243c5-9aab-4dfb-96c2-f29bbf73324a'::UUID",
        "UUID",
        uuid.UUID("3bd243c5-9aab-4dfb-96c2-f29bbf73324a"),
    ),
    ("[1, NULL, 3]", "INTEGER[]", [1, None, 3]),
    ("[DATE '2026-03-02']", "DATE[]", [date(2026, 3, 2)]),
    ("{'a': 1, 'b': [1.50::DECIMAL(4, 2)]}", "STRUCT(a INTEGER, b DECIMAL(4,2)[])", {"a": 1, "b": [Decimal("1.50")]}),
    ("map {'k': 1}", "MAP(VARCHAR, INTEGER)", {"k": 1}),
    ("map {2: 'x'}", "MAP(INTEGER, VARCHAR)", [[2, "x"]]),
    ("'a'::ENUM ('a', 'b')", "ENUM('a', 'b')", "a"),
]


def test_values_keep_their_types(database: Path) -> None:
    answer = ask(database, "SELECT " + ", ".join(f"{sql} AS c{place}" for place, (sql, _, _) in enumerate(TYPES)))
    assert answer.rows == [[value for _, _, value in TYPES]]
    assert [type(value) for value in answer.rows[0]] == [type(value) for _, _, value in TYPES]
    kinds = {column.name: column.type for column in answer.columns}
    assert {f"c{place}": kind for place, (_, kind, _) in enumerate(TYPES) if kind}.items() <= kinds.items()


def test_what_is_not_a_number_arrives(database: Path) -> None:
    assert math.isnan(ask(database, "SELECT 'nan'::DOUBLE").rows[0][0])


def test_days_are_those_of_the_zone(database: Path) -> None:
    sql = "SELECT strftime(TIMESTAMPTZ '2026-03-02 23:30:00+00', '%Y-%m-%d'), (TIMESTAMPTZ '2026-03-02 23:30:00+00')::DATE"
    told = Question(database, sql, time_zone="Asia/Tokyo").answer().rows
    assert told == [["2026-03-03", date(2026, 3, 3)]]
    assert Question(database, sql, time_zone="UTC").answer().rows == [["2026-03-02", date(2026, 3, 2)]]
    assert len(Question(database, sql, time_zone="Not/AZone").answer().rows) == 1


def test_parameters_are_values_and_never_sql(database: Path) -> None:
    evil = "x'; DROP TABLE numbers; --"
    assert ask(database, "SELECT ? AS v, ?::INT + 1", [evil, 4]).rows == [[evil, 5]]
    assert ask(database, "SELECT b FROM numbers WHERE a = $n", {"n": 3}).rows == [["n3"]]
    assert "not provided" in str(mistake(database, "SELECT ?"))


def test_columns_of_one_name_are_told_apart(database: Path) -> None:
    answer = ask(database, "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a")
    assert [column.name for column in answer.columns] == ["a", "a_1", "a_1_1", "a_2"]
    assert answer.dicts() == [{"a": 1, "a_1": 2, "a_1_1": 3, "a_2": 4}]


def test_an_empty_answer_has_columns(database: Path) -> None:
    answer = ask(database, "SELECT a, b FROM numbers WHERE false")
    assert ([column.name for column in answer.columns], answer.rows, answer.cut) == (["a", "b"], [], "")


# -- mistakes ---------------------------------------------------------------------------------------------------------
MISTAKES = [
    ("selec 1", "syntax error", 1, 1),
    ("SELECT a,\n       nme\nFROM numbers", '"nme" not found', 2, 8),
    ("SELECT 'ä', 'öü', nme FROM numbers", '"nme" not found', 1, 19),
    ("SELECT *\nFROM nmbers", "nmbers does not exist", 2, 6),
    ("SELECT 'x'::INT", "Could not convert", 1, 11),
    ("SELECT nofunction(1)", "nofunction does not exist", 1, 8),
]


@pytest.mark.parametrize(("sql", "words", "line", "column"), MISTAKES)
def test_a_mistake_has_its_place_and_an_example(database: Path, sql: str, words: str, line: int, column: int) -> None:
    problem = mistake(database, sql)
    assert isinstance(problem, QueryError)
    assert (problem.slug, problem.exit_code) == ("bad-sql", 7)
    assert words in problem.message
    assert f"(line {line}, column {column})" in problem.message
    shown = problem.message.split("\n")
    assert shown[1] == "  " + sql.split("\n")[line - 1]
    assert shown[2].rstrip("^") == " " * (column + 1)
    assert shown[2].endswith("^")
    assert problem.hint is not None
    assert "recollect sql" in problem.hint


def test_a_long_line_is_shown_around_the_place() -> None:
    sql = "SELECT " + "a, " * 100 + "nme, " + "b, " * 100 + "c"
    place = sql.index("nme")
    told = with_place(sql, "wrong", place, 3).split("\n")
    assert len(told[1]) <= 104
    assert told[1][told[2].index("^") :].startswith("nme")


@given(st.text(max_size=40), st.integers(-5, 60), st.integers(-5, 60))
def test_any_place_of_any_text_can_be_told(sql: str, position: int, length: int) -> None:
    assert with_place(sql, "wrong", position, length).startswith("wrong")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.duckdb").write_bytes(b"no database at all" * 1000)
    for name in ("bad.duckdb", "absent.duckdb"):
        with pytest.raises(Unavailable) as caught:
            Question(tmp_path / name, "SELECT 1").answer()
        assert caught.value.slug == "sql-broken"
    assert [path.name for path in tmp_path.iterdir()] == ["bad.duckdb"]


def test_text_that_is_no_unicode_is_a_mistake(database: Path) -> None:
    assert mistake(database, "SELECT '\ud800'").slug == "bad-sql"


# -- frames -----------------------------------------------------------------------------------------------------------
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.decimals(allow_nan=False) | st.dates() | st.times() | st.datetimes() | st.timedeltas() | st.uuids(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@given(VALUES)
def test_values_come_back_as_they_went(value: object) -> None:
    assert read_frame(io.BytesIO(pack(tagged(value))).read) == value


@given(st.binary(max_size=60))
def test_garbage_is_an_error_of_two_kinds_and_nothing_else(data: bytes) -> None:
    with pytest.raises((EOFError, ValueError)):
        stream = io.BytesIO(data)
        while True:
            read_frame(stream.read)


def test_a_frame_that_claims_too_much_is_not_waited_for() -> None:
    with pytest.raises(ValueError, match="a frame of"):
        read_frame(io.BytesIO(struct.pack("<I", MOST_BYTES + 1)).read)


def test_a_tag_that_makes_no_sense_stays_text() -> None:
    for code in (1, 2, 5, 6, 7, 99):
        assert unpack(msgspec.msgpack.encode(msgspec.msgpack.Ext(code, b"nonsense"))) == "nonsense"
