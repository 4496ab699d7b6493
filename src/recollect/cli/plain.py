"""Choose the columns of a table that are not empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.cli.command_run import Column


def used_columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> list[Column]:
    """Return the columns that are not empty in some row."""
    return [column for column in columns if any(row.get(column.key) not in (None, "", [], False) for row in rows)]
