"""Write rows as CSV that neither a spreadsheet nor a terminal would execute."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from .terminal_text import harmless_cell


def csv_text(rows: Iterable[dict[str, Any]], names: Iterable[str] = ()) -> str:
    """Return rows as CSV with a heading. `names` are the columns; without them, all columns without nested values.

    Without names and without rows the text is empty.
    """
    rows = list(rows)
    fields = list(names) or csv_names(rows)
    return csv_lines([fields, *([row.get(key) for key in fields] for row in rows)]) if fields else ""


def csv_names(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the columns that rows have in CSV: those without a nested value in any row."""
    return [
        key for row in rows[:1] for key in row if not any(isinstance(other.get(key), list | dict) for other in rows)
    ]


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """Return cells as lines of CSV. A text that a spreadsheet would read as a formula gets a `'` in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([harmless_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()
