"""How the columns of a table share the room that a terminal has: words give way, numbers never do.

A number without its end is another number. So columns of words are cut, the widest first; where that is not enough, columns
that can be spared are left out, the last first; and where that is not enough either, the table is wider than the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

BETWEEN: Final = 2
"""Spaces between two columns."""
LEAST: Final = 16
"""Characters that a column of words keeps: enough for a moment, or to tell names apart."""
LEAST_OF_MAIN: Final = 28
"""The same for the column that the table is read for, such as titles: enough to know one again."""


class Wish(NamedTuple):
    """What a column would like to have."""

    place: int
    width: int
    whole: bool
    """Not to be cut: numbers, and what is drawn."""
    spare: bool
    """Not needed where there is no room for it."""
    main: bool = False
    """What the table is read for."""

    @property
    def least(self) -> int:
        return self.width if self.whole else min(self.width, LEAST_OF_MAIN if self.main else LEAST)


def shared_out(wishes: Sequence[Wish], room: int) -> list[tuple[int, int]]:
    """The columns that are shown, by place, each with its width."""
    shown = list(wishes)
    while True:
        found = _cut(shown, room)
        spare = [wish for wish in shown if wish.spare]
        if found is not None or not spare:
            return found or [(wish.place, wish.least) for wish in shown]
        shown.remove(spare[-1])


def _cut(wishes: Sequence[Wish], room: int) -> list[tuple[int, int]] | None:
    """All of these columns, cut where they must be; None where that is not enough."""
    widths = [wish.width for wish in wishes]
    too_much = sum(widths) + BETWEEN * (len(widths) - 1) - room
    while too_much > 0:
        left = [(width, place) for place, width in enumerate(widths) if width > wishes[place].least]
        if not left:
            return None
        widths[max(left)[1]] -= 1
        too_much -= 1
    return [(wish.place, width) for wish, width in zip(wishes, widths, strict=True)]
