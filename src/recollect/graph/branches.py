"""Find the branches of a conversation: rows that the user left by rewinding, and rows that are cut off from the thread.

A row with several children is nearly always fan-out of tools or hooks, not a branch. A branch consists of rows off the thread
and holds at least one message. It begins at the first row that is not on the thread, or at a further prompt with the same
parent.
"""

from __future__ import annotations

from msgspec import Struct

from .rows import Row
from .thread import ABANDONED, UNREACHABLE, Thread


class Branch(Struct):
    number: int
    """Counts from 1 in file order; 0 is the thread itself."""
    status: str
    """"abandoned" or "unreachable"."""
    left_at: str | None
    """The uuid of the row after which the branch begins; None where its first row has no parent in the file."""
    parent_branch: int
    """The number of the branch from which this one leaves, 0 for the thread."""
    rows: list[Row]
    reason: str = ""

    @property
    def prompt(self) -> Row | None:
        """The first prompt of the branch."""
        return next((row for row in self.rows if row.is_prompt), None)

    @property
    def leaf(self) -> Row:
        return next((row for row in reversed(self.rows) if row.is_message), self.rows[-1])

    @property
    def messages(self) -> int:
        return sum(1 for row in self.rows if row.is_message)


def find_branches(rows: list[Row], thread: Thread) -> list[Branch]:
    """Return all branches off the thread that hold at least one message, in file order."""
    if not any(place.status in (ABANDONED, UNREACHABLE) for place in thread.placements):
        return []
    by_uuid = {row.uuid: row for row in rows if row.uuid is not None}
    number_of: dict[int, int] = {}
    branches: list[Branch] = []
    taken: set[str] = set()  # rows of a branch that already have a prompt as a child
    for row in rows:
        placement = thread.placements[row.index]
        if placement.status not in (ABANDONED, UNREACHABLE):
            continue
        parent = by_uuid.get(row.parent) if row.parent else None
        above = number_of.get(parent.index) if parent is not None else None
        if above is not None and parent is not None:
            fork = row.is_prompt and (parent.uuid or "") in taken
            if row.is_prompt:
                taken.add(parent.uuid or "")
            if not fork:
                branches[above].rows.append(row)
                number_of[row.index] = above
                continue
        left_at = parent.uuid if parent is not None and parent.index != row.index else None
        number_of[row.index] = len(branches)
        start = 0 if above is None else above + 1
        branches.append(Branch(len(branches), placement.status, left_at, start, [row], placement.reason))
    return _numbered([branch for branch in branches if branch.messages])


def _numbered(branches: list[Branch]) -> list[Branch]:
    new_numbers = {branch.number + 1: place for place, branch in enumerate(branches, 1)}
    for place, branch in enumerate(branches, 1):
        branch.number = place
        branch.parent_branch = new_numbers.get(branch.parent_branch, 0)
    return branches
