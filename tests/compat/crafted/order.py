"""Order in the file, duplicate rows, branches."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet, reorder, swap


def lines_reversed(s: Sheet) -> None:
    """The whole file upside down."""
    s.turns(1, 2, 3)
    s.lines.reverse()


def two_lines_swapped(s: Sheet) -> None:
    """Prompt and answer in the wrong order in the middle."""
    s.turns(1, 2, 3)
    swap(s.lines, 2, 3)


def last_two_swapped(s: Sheet) -> None:
    """The last prompt stands below its answer."""
    s.turns(1, 2)
    swap(s.lines, 2, 3)


def last_line_first(s: Sheet) -> None:
    """The newest row stands at the top."""
    s.turns(1, 2)
    reorder(s, [3, 0, 1, 2])


def lines_shuffled(s: Sheet) -> None:
    """No order at all."""
    s.turns(1, 2, 3)
    reorder(s, [2, 5, 0, 4, 1, 3])


def shuffled_with_branch(s: Sheet) -> None:
    """Out of order, and the last row in the file has two descendants."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")
    reorder(s, [2, 3, 4, 5, 0, 1])


def duplicate_same_content(s: Sheet) -> None:
    """A row written twice."""
    s.turns(1, 2)
    s.lines.insert(2, s.lines[1])


def duplicate_other_content(s: Sheet) -> None:
    """A row written again with other words: the last copy counts."""
    s.turns(1)
    s.assistant("A1", [{"type": "text", "text": "A1 again"}], parent="U1")
    s.turns(2)


def duplicate_at_the_end(s: Sheet) -> None:
    """An inner row written again as the last line."""
    s.turns(1, 2)
    s.lines.append(s.lines[1])


def duplicate_at_the_end_other_content(s: Sheet) -> None:
    """An inner row written again at the end with other words."""
    s.turns(1, 2)
    s.assistant("A1", [{"type": "text", "text": "A1 again"}], parent="U1")


def duplicate_with_other_parent(s: Sheet) -> None:
    """The second copy hangs elsewhere."""
    s.turns(1, 2)
    s.user("U3")
    s.user("U3", parent="A1")
    s.assistant("A3")


def duplicate_of_leaf(s: Sheet) -> None:
    """The last row twice."""
    s.turns(1, 2)
    s.lines.append(s.lines[-1])


def duplicate_with_other_type(s: Sheet) -> None:
    """One uuid on a prompt and on an answer."""
    s.turns(1)
    s.user("U2")
    s.assistant("U2", parent="A1")
    s.assistant("A2")


def whole_chain_twice(s: Sheet) -> None:
    """The file was appended to itself."""
    s.turns(1, 2)
    s.lines += s.lines


def later_branch_wins(s: Sheet) -> None:
    """Two answers to the same row: the one that stands later in the file."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")


def later_branch_wins_against_time(s: Sheet) -> None:
    """The branch that stands later has the older timestamps."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.user("U3", parent="A1", gap=-55)
    s.assistant("A3", gap=1)


def branch_of_answers(s: Sheet) -> None:
    """Two answers to one prompt."""
    s.user("U1")
    s.assistant("A1")
    s.assistant("B1", parent="U1")
    s.turns(2)


def back_to_the_first_branch(s: Sheet) -> None:
    """A second branch, then the first goes on."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")
    s.turn(4, parent="A2")


def three_branches(s: Sheet) -> None:
    """Three tries from the first prompt."""
    s.user("U1")
    for number in (1, 2, 3):
        s.assistant(f"A{number}", parent="U1")
        s.user(f"V{number}")
