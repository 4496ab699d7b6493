"""Answer SQL questions on the command line, and print the answer in the requested form."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from ..export import sql_answer
from ..export.formatting import number
from ..export.terminal_text import safe_line
from ..library import questions
from ..library.questions import TABLES, Answer
from .command_run import Column, CommandRun, indexing_bar

MOST_SHOWN: Final = 1000
"""A table for people has at most this many rows; programs get all rows."""


def ask(run: CommandRun, query: str, values: Mapping[str, Any] | None = None) -> Answer:
    """Return the answer. Ctrl-C ends the query with everything it does."""
    with indexing_bar("Reading") as progress:
        asked = questions.prepare(run.library, query, values or (), progress=progress)
    return questions.answer(run.library, asked)


def write_parquet(run: CommandRun, query: str, values: Mapping[str, Any], target: Path) -> Answer:
    """Write the answer into a Parquet file."""
    with indexing_bar("Reading") as progress:
        return questions.write_parquet(run.library, query, target, values, progress=progress)


def show(run: CommandRun, answer: Answer) -> None:
    """Print the answer as a table or as JSON, with a remark if a limit cut it."""
    if run.is_text:
        _show_text(run, answer)
    else:
        fields = sql_answer.answer_fields(answer)
        run.rows(sql_answer.answer_rows(answer), total=len(answer.rows), fields=fields, cut=answer.cut or None)
    say_cut(run, answer)


def _show_text(run: CommandRun, answer: Answer) -> None:
    """Print a table; if its columns do not fit side by side, each row as a list of them."""
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    table = sql_answer.answer_table(answer, MOST_SHOWN, room)
    if table is not None:
        run.rows(*table, empty="no rows")
    else:
        for line in sql_answer.answer_lists(answer, MOST_SHOWN):
            run.print(line)
    if len(answer.rows) > MOST_SHOWN:
        run.say(f"{number(MOST_SHOWN)} of {number(len(answer.rows))} rows are shown; --csv or --json gives all")


def say_cut(run: CommandRun, answer: Answer) -> None:
    """Say that a limit left rows out, if one did."""
    remark = sql_answer.cut_remark(answer)
    if remark is not None:
        run.say(remark)


def print_csv(answer: Answer) -> None:
    """Print the answer as CSV."""
    for lines in sql_answer.answer_csv(answer):
        click.echo(lines, nl=False)


def show_tables(run: CommandRun, names: Iterable[str] = ()) -> None:
    """List the tables, or the columns of one."""
    wanted = [name.lower() for name in names]
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
