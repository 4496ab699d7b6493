"""Rows for the answer: typed values as plain JSON data, and the columns of a table that have something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from recollect.cli.command_run import Column
from recollect.export.formatting import iso


def used_columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> list[Column]:
    """Return the columns that have something to show in some row."""
    return [column for column in columns if any(row.get(column.key) not in (None, "", [], False) for row in rows)]


def plain(value: Any) -> Any:
    """Return a typed value as plain data: attributes by their names, times in ISO form, unknown fields under `extra`."""
    try:
        return _plain(value)
    except RecursionError:
        return "(nested too deeply)"


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Path):
        return str(value)
    return value
