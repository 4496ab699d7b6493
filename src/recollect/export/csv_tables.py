"""Export messages and tool calls as CSV: two files, because they are two tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .csv_text import csv_lines
from .document import Document, ExportOptions
from .formats import Output
from .tables import MESSAGES, TOOL_CALLS, Table, batches, call_rows, message_rows


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write the messages into the main file, and the tool calls into `NAME.tool_calls.csv` beside it."""
    opened = list(documents)
    out.write(out.name, _lines(MESSAGES, opened, message_rows))
    if options.depth in ("prompts", "conversation"):
        return
    if out.may_be_several:
        out.write(f"{out.stem}.tool_calls.csv", _lines(TOOL_CALLS, opened, call_rows))
    elif opened:
        opened[0].leave_out("the table of tool calls, which is a file of its own")


def _lines(
    table: Table, documents: list[Document], rows: Callable[[Document], Iterator[dict[str, Any]]]
) -> Iterator[str]:
    yield csv_lines([table.columns])
    for document in documents:
        for some in batches(rows(document)):
            yield csv_lines(map(_cell, table.values(row)) for row in some)


def _cell(value: Any) -> Any:
    """Write a truth value as `recollect sql --csv` does."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value
