"""Answers of SQL as people and programs read them: a table, JSON, CSV."""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any, Final
from uuid import UUID

import click
from rich.cells import cell_len

from ..export.formatting import number
from ..export.terminal_text import harmless_cell, safe_line
from ..index.sql.query import Answer, ResultColumn
from .command_run import Column, CommandRun
from .moments import iso

MOST_SHOWN: Final = 1000
"""A table for people has no more rows; programs get them all."""
WIDEST: Final = 60
"""So much of a cell must have room in a table; the rest of a longer one may be cut."""
_NUMBERS: Final = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")


def show(run: CommandRun, answer: Answer) -> None:
    """The answer in the form that was asked for. Where a limit cut it, that is said."""
    if run.is_text:
        _show_text(run, answer)
    else:
        names = [column.name for column in answer.columns]
        run.rows(
            (dict(zip(names, map(plain_value, row), strict=True)) for row in answer.rows),
            total=len(answer.rows),
            fields=[{"name": column.name, "type": column.type} for column in answer.columns],
            cut=answer.cut or None,
        )
    say_cut(run, answer)


def _show_text(run: CommandRun, answer: Answer) -> None:
    """A table; where its columns have no room side by side, each row as a list of them."""
    shown = [[safe_line(_cell(value)) for value in row] for row in answer.rows[:MOST_SHOWN]]
    heads = [safe_line(column.name) for column in answer.columns]
    widths = [
        max(cell_len(head), *(min(cell_len(row[place]), WIDEST) for row in shown)) if shown else 0
        for place, head in enumerate(heads)
    ]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    if sum(widths) + 2 * len(widths) <= room or len(heads) == 1:
        rows = [{str(place): cell for place, cell in enumerate(row)} for row in shown]
        run.rows(rows, [_table_column(place, column) for place, column in enumerate(answer.columns)], empty="no rows")
    else:
        margin = max(map(len, heads))
        for number_, row in enumerate(shown, 1):
            run.print(f"-- {number_} --")
            for head, cell in zip(heads, row, strict=True):
                run.print(f"{head:{margin}}  {cell}".rstrip())
    if len(answer.rows) > MOST_SHOWN:
        run.say(f"{number(MOST_SHOWN)} of {number(len(answer.rows))} rows are shown; --csv or --json gives all")


def say_cut(run: CommandRun, answer: Answer) -> None:
    if answer.cut:
        what = (
            f"{number(answer.count)} rows" if answer.cut == "rows" else f"{number(len(answer.rows))} rows (their size)"
        )
        run.say(f"the answer was cut after {what}: put a LIMIT or a GROUP BY into the question")


def write_csv(answer: Answer) -> None:
    """CSV to stdout, with nothing in it that a spreadsheet would run or a terminal act on."""
    click.echo(_csv_lines([[harmless_cell(column.name) for column in answer.columns]]), nl=False)
    for start in range(0, len(answer.rows), 1000):
        cells = [[_csv_cell(value) for value in row] for row in answer.rows[start : start + 1000]]
        click.echo(_csv_lines(cells), nl=False)


def _csv_lines(rows: list[list[Any]]) -> str:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _csv_cell(value: Any) -> Any:
    if value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool)):
        return value
    value = plain_value(value)
    return harmless_cell(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def plain_value(value: Any) -> Any:
    """A value as JSON has it: moments in UTC, decimals and what is no number as text, intervals in seconds."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, datetime):
        return iso(value) if value.tzinfo is not None else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, Decimal | UUID):
        return str(value)
    return str(value)


def _table_column(place: int, column: ResultColumn) -> Column:
    right = column.type.startswith(_NUMBERS) or "INT" in column.type.split("(")[0].split("[")[0]
    return Column(str(place), safe_line(column.name), right=right and "[" not in column.type)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return (value.astimezone() if value.tzinfo is not None else value).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, float):
        return f"{value:.15g}"
    value = plain_value(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tables(run: CommandRun, names: Iterable[str] = ()) -> None:
    """The tables, or the columns of one."""
    from ..index.sql.tables import TABLES

    wanted: Sequence[str] = [name.lower() for name in names]
    if not wanted:
        run.rows(
            [{"table": table.name, "columns": len(table.columns), "meaning": table.doc} for table in TABLES],
            (
                Column("table"),
                Column("columns", right=True),
                Column("meaning", show=lambda text: safe_line(text, 120), stretch=True),
            ),
        )
        return
    run.rows(
        [
            {"table": table.name, "column": column.name, "type": column.type, "meaning": column.doc}
            for table in TABLES
            if table.name in wanted
            for column in table.columns
        ],
        (Column("column"), Column("type"), Column("meaning", stretch=True)),
        empty=f"no such table; there are {', '.join(table.name for table in TABLES)}",
    )
