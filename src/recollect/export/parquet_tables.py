"""Export messages and tool calls as Parquet: two files, because they are two tables. DuckDB writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from .document import Document, ExportOptions
from .formats import ScratchOutput
from .json_text import json_text
from .tables import MESSAGES, TOOL_CALLS, Table, call_rows, message_rows

_PIECE: Final = 1 << 20
_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "threads": 1,  # several threads would write the rows in any order
    "memory_limit": "256MiB",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


def write(documents: Iterable[Document], out: ScratchOutput, options: ExportOptions) -> None:
    """Write the messages into the main file, and the tool calls into `NAME.tool_calls.parquet` beside it."""
    opened = list(documents)
    _write(out, out.name, MESSAGES, opened, message_rows)
    if options.depth in ("prompts", "conversation"):
        return
    if out.may_be_several:
        _write(out, f"{out.stem}.tool_calls.parquet", TOOL_CALLS, opened, call_rows)
    elif opened:
        opened[0].leave_out("the table of tool calls, which is a file of its own")


def _write(
    out: ScratchOutput, name: str, table: Table, documents: list[Document],
    rows: Callable[[Document], Iterator[dict[str, Any]]],
) -> None:  # fmt: skip
    """Write the rows as JSON into a private file first: DuckDB turns it into Parquet without holding it in memory."""
    import duckdb

    lines, made = out.scratch(f"{table.name}.jsonl"), out.scratch(f"{table.name}.parquet")
    longest = _Longest()
    out.write_scratch(lines, (longest.line(table, row) for document in documents for row in rows(document)))
    columns = ", ".join(f"{_quoted(column)}: {_quoted(kind)}" for column, kind in table.columns.items())
    with duckdb.connect(":memory:", config=_CONFIG | {"temp_directory": str(out.scratch("spill"))}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(
            f"COPY (SELECT * FROM read_json({_quoted(str(lines))}, columns = {{{columns}}}, format = 'newline_delimited', "
            f"maximum_object_size = {max(longest.length * 2, 1 << 20)})) "
            f"TO {_quoted(str(made))} (FORMAT parquet, COMPRESSION zstd)"
        )
    out.write(name, _bytes(made))


class _Longest:
    """Remembers the longest line: DuckDB takes memory for one of the length that it is told."""

    length = 0

    def line(self, table: Table, row: dict[str, Any]) -> str:
        text = json_text(dict(zip(table.columns, table.values(row), strict=True))) + "\n"
        self.length = max(self.length, len(text.encode()))
        return text


def _bytes(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
