"""Lay out a table: share the width of a terminal among the columns. Text may be cut, numbers never.

A number without its end is another number. So columns of text are cut, the widest first; if that is not enough, columns that
can be spared are left out, the last first; and if that is not enough either, the table is wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .terminal_text import safe_line

BETWEEN: Final = 2
"""Number of spaces between two columns."""
LEAST: Final = 16
"""How many characters a column of text keeps at least: enough for a moment, or to tell names apart."""
LEAST_OF_MAIN: Final = 28
"""How many characters the main column, such as the title, keeps at least: enough to recognise one."""


@dataclass(frozen=True)
class Column:
    """A column of a table: the row's key, the heading, and how a value is written."""

    key: str
    heading: str | None = None
    show: Callable[[Any], str] | None = None
    right: bool = False
    stretch: bool = False
    """Whether this is the main column, which takes the remaining width and is cut less than the others."""
    spare: bool = False
    """Whether the column is left out if there is no room for all columns."""
    drawn: bool = False
    """Whether the column holds bars, which are shown whole or not at all."""

    @property
    def title(self) -> str:
        return self.key.replace("_", " ") if self.heading is None else self.heading


@dataclass(frozen=True)
class Table:
    """A table as text: the line of headings, the number of rows, and a line for each row."""

    header: str
    count: int
    lines: Iterator[str]


class Wish(NamedTuple):
    """The width that a column needs."""

    place: int
    width: int
    whole: bool
    """Whether the column must not be cut, such as numbers and bars."""
    spare: bool
    """Whether the column may be left out."""
    main: bool = False
    """Whether this is the main column of the table."""

    @property
    def least(self) -> int:
        return self.width if self.whole else min(self.width, LEAST_OF_MAIN if self.main else LEAST)


def shared_out(wishes: Sequence[Wish], room: int) -> list[tuple[int, int]]:
    """Return the columns that are shown, by position, each with its width."""
    shown = list(wishes)
    while True:
        found = _cut(shown, room)
        spare = [wish for wish in shown if wish.spare]
        if found is not None or not spare:
            return found or [(wish.place, wish.least) for wish in shown]
        shown.remove(spare[-1])


def _cut(wishes: Sequence[Wish], room: int) -> list[tuple[int, int]] | None:
    """Return the widths of all these columns, cut where necessary; None if that is not enough."""
    widths = [wish.width for wish in wishes]
    too_much = sum(widths) + BETWEEN * (len(widths) - 1) - room
    while too_much > 0:
        left = [(width, place) for place, width in enumerate(widths) if width > wishes[place].least]
        if not left:
            return None
        widths[max(left)[1]] -= 1
        too_much -= 1
    return [(wish.place, width) for wish, width in zip(wishes, widths, strict=True)]


def table_lines(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], room: int, *, fill: bool = False
) -> Table | None:
    """Lay out a table, every cell safe to print; None if there are no rows.

    `room` is how many characters fit into a line. With `fill`, columns that stretch take what is left of it.
    """
    from rich.cells import cell_len  # measures how wide characters are

    same: dict[str, str] = {}  # most cells of a column are equal
    widest = [cell_len(column.title) for column in columns]
    cells: list[tuple[str, ...]] = []
    for row in rows:
        texts = tuple(_cell(row.get(column.key), column) for column in columns)
        cells.append(tuple(same.setdefault(text, text) for text in texts))
        widest = [max(width, cell_len(text)) for width, text in zip(widest, texts, strict=True)]
    if not cells:
        return None
    wishes = [
        Wish(place, width, column.right or column.drawn, column.spare, column.stretch)
        for place, (column, width) in enumerate(zip(columns, widest, strict=True))
    ]
    shown = dict(shared_out(wishes, room))
    stretched = [place for place in shown if columns[place].stretch] if fill else []
    left = room - sum(shown.values()) - BETWEEN * (len(shown) - 1)
    for count, place in enumerate(stretched):
        more = max(left, 0) // (len(stretched) - count)
        shown[place], left = shown[place] + more, left - more
    header = _line((columns[place].title for place in shown), columns, shown)
    return Table(header, len(cells), (_line((row[place] for place in shown), columns, shown) for row in cells))


def _line(texts: Iterable[str], columns: Sequence[Column], widths: Mapping[int, int]) -> str:
    """Put cells side by side, each as wide as its column; a text that is too long ends in an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    parts = []
    for text, (place, width) in zip(texts, widths.items(), strict=True):
        size = cell_len(text)
        if size > width:
            parts.append(set_cell_size(text, width - 1) + "…")
        else:
            parts.append(" " * (width - size) + text if columns[place].right else text + " " * (width - size))
    return (" " * BETWEEN).join(parts)


def _cell(value: Any, column: Column) -> str:
    if value is None:
        return ""
    text = column.show(value) if column.show else str(value)
    indent = len(text) - len(text.lstrip(" "))  # trees are drawn in a column by indentation
    return " " * indent + safe_line(text)
