"""Write the answer to an SQL question: as rows of a table, as JSON, as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from .csv_text import csv_lines
from .formatting import iso, number
from .table import Column
from .terminal_text import safe_line

if TYPE_CHECKING:
    from ..index.sql.query import Answer

WIDEST: Final = 60
"""A table must have room for this many characters of a cell; the rest of a longer cell may be cut."""
_NUMBERS: Final = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")
_CSV_ROWS: Final = 1000
"""How many rows are written together."""


def answer_rows(answer: Answer) -> Iterator[dict[str, Any]]:
    """Return the rows of an answer as in JSON, a field for each column."""
    names = [column.name for column in answer.columns]
    return (dict(zip(names, map(plain_value, row), strict=True)) for row in answer.rows)


def answer_fields(answer: Answer) -> list[dict[str, str]]:
    """Return name and type of each column."""
    return [{"name": column.name, "type": column.type} for column in answer.columns]


def answer_table(answer: Answer, most: int, room: int) -> tuple[list[dict[str, str]], list[Column]] | None:
    """Return rows and columns of a table with at most `most` rows; None if the columns do not fit into `room` characters."""
    from rich.cells import cell_len

    shown = [[safe_line(text_value(value)) for value in row] for row in answer.rows[:most]]
    heads = [safe_line(column.name) for column in answer.columns]
    widths = [
        max(cell_len(head), *(min(cell_len(row[place]), WIDEST) for row in shown)) if shown else 0
        for place, head in enumerate(heads)
    ]
    if sum(widths) + 2 * len(widths) > room and len(heads) > 1:
        return None
    columns = [
        Column(str(place), head, right=_is_number(column.type))
        for place, (head, column) in enumerate(zip(heads, answer.columns, strict=True))
    ]
    return [{str(place): cell for place, cell in enumerate(row)} for row in shown], columns


def answer_lists(answer: Answer, most: int) -> Iterator[str]:
    """Yield each row as a list of its columns, one line each: for answers that are too wide for a table."""
    heads = [safe_line(column.name) for column in answer.columns]
    margin = max(map(len, heads))
    for place, row in enumerate(answer.rows[:most], 1):
        yield f"-- {place} --"
        for head, value in zip(heads, row, strict=True):
            yield f"{head:{margin}}  {safe_line(text_value(value))}".rstrip()


def cut_remark(answer: Answer) -> str | None:
    """Say that a limit cut the answer; None if the answer is complete."""
    if not answer.cut:
        return None
    what = f"{number(answer.count)} rows" if answer.cut == "rows" else f"{number(len(answer.rows))} rows (their size)"
    return f"the answer was cut after {what}: put a LIMIT or a GROUP BY into the question"


def answer_csv(answer: Answer) -> Iterator[str]:
    """Yield the answer as CSV, some lines at a time."""
    yield csv_lines([[column.name for column in answer.columns]])
    for start in range(0, len(answer.rows), _CSV_ROWS):
        yield csv_lines([_csv_value(value) for value in row] for row in answer.rows[start : start + _CSV_ROWS])


def _csv_value(value: Any) -> Any:
    if value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool)):
        return value
    value = plain_value(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain_value(value: Any) -> Any:
    """Return a value as in JSON: moments in UTC, decimals and NaN as text, intervals in seconds, bytes in hexadecimal."""
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


def text_value(value: Any) -> str:
    """Return a value for people: moments in local time, nested values as JSON."""
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


def _is_number(type_name: str) -> bool:
    """Return whether a column of this type holds single numbers, which are aligned right."""
    is_numeric = type_name.startswith(_NUMBERS) or "INT" in type_name.split("(")[0].split("[")[0]
    return is_numeric and "[" not in type_name
