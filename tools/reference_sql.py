"""The page of the SQL tables, from the module that makes them."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.index.sql.child import TABLE_FUNCTIONS
from recollect.index.sql.query import Limits
from recollect.index.sql.tables import TABLES, SqlTable


def sql_page() -> str:
    limits = Limits()
    lines = [
        "# SQL tables",
        "",
        "What `recollect sql`, `Library.sql` and `SessionRepository.query` ask: see the [guide](../guide/sql.md). Times are",
        "moments (`TIMESTAMPTZ`); days and hours are those of your time zone. Paths are as they stand in the transcripts.",
        "",
        f"One SELECT at a time, in DuckDB's dialect. Limits: {limits.seconds:g} seconds, {limits.rows:,} rows, "
        f"{limits.bytes >> 20} MB of rows,",
        f"{limits.memory >> 20:,} MB of memory. Table functions that may be called: "
        + ", ".join(f"`{name}`" for name in sorted(TABLE_FUNCTIONS))
        + ".",
        "",
        "| table | columns | |",
        "|---|---:|---|",
        *(f"| [{table.name}](#{table.name}) | {len(table.columns)} | {table.doc} |" for table in TABLES),
    ]
    for table in TABLES:
        lines += ["", *_section(table)]
    return "\n".join(lines) + "\n"


def _section(table: SqlTable) -> Iterator[str]:
    yield from (f"## {table.name}", "", table.doc, "", "| column | type | |", "|---|---|---|")
    for column in table.columns:
        yield f"| `{column.name}` | {column.type} | {column.doc} |"
