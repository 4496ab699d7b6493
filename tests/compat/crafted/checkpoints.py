"""Which row the conversation stands at: ``last-prompt`` lines of every kind, and rewinds."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet


def two_branches(sheet: Sheet) -> None:
    """A1 has two branches; the second stands later in the file."""
    sheet.turns(1)
    sheet.turn(2, parent="A1")
    sheet.turn(3, parent="A1")


def checkpoint_at_the_leaf(s: Sheet) -> None:
    """As the client leaves it."""
    s.turns(1, 2)
    s.checkpoint("A2")


def checkpoint_inner_plain(s: Sheet) -> None:
    """Names an inner row, nothing follows."""
    s.turns(1, 2, 3)
    s.checkpoint("A1")


def checkpoint_inner_prompt(s: Sheet) -> None:
    """Names an inner prompt, nothing follows."""
    s.turns(1, 2, 3)
    s.checkpoint("U2")


def checkpoint_inner_explicit(s: Sheet) -> None:
    """Explicit: taken as it stands."""
    s.turns(1, 2, 3)
    s.checkpoint("A1", explicit=True)


def checkpoint_inner_explicit_prompt(s: Sheet) -> None:
    """Explicit, at a prompt."""
    s.turns(1, 2, 3)
    s.checkpoint("U2", explicit=True)


def checkpoint_inner_explicit_false(s: Sheet) -> None:
    """explicit:false is not explicit."""
    s.turns(1, 2, 3)
    s.checkpoint("A1", explicit=False)


def checkpoint_inner_explicit_word(s: Sheet) -> None:
    """explicit as a word."""
    s.turns(1, 2, 3)
    s.checkpoint("A1", explicit="true")


def checkpoint_on_other_branch(s: Sheet) -> None:
    """Names the branch that stands earlier in the file."""
    two_branches(s)
    s.checkpoint("A2")


def checkpoint_on_other_branch_explicit(s: Sheet) -> None:
    """The same, explicit."""
    two_branches(s)
    s.checkpoint("A2", explicit=True)


def checkpoint_at_the_fork(s: Sheet) -> None:
    """Names the row where two branches part."""
    two_branches(s)
    s.checkpoint("A1")


def checkpoint_at_the_fork_explicit(s: Sheet) -> None:
    """The same, explicit."""
    two_branches(s)
    s.checkpoint("A1", explicit=True)


def checkpoint_then_descending_rows(s: Sheet) -> None:
    """Rows follow that descend from it: the last of them."""
    s.turns(1)
    s.checkpoint("A1")
    s.turns(2)


def checkpoint_then_other_branch(s: Sheet) -> None:
    """Rows follow that do not descend from it: the checkpoint stands."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.turn(3, parent="A1")


def checkpoint_then_sibling_of_ancestor(s: Sheet) -> None:
    """The rows that follow hang on an ancestor of the checkpoint."""
    s.turns(1, 2, 3)
    s.checkpoint("A2")
    s.turn(4, parent="U2")


def checkpoint_then_both(s: Sheet) -> None:
    """Rows that descend follow, then rows that do not."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.turns(3)
    s.turn(4, parent="A1")


def checkpoint_then_both_other_order(s: Sheet) -> None:
    """Rows that do not descend follow, then rows that do."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.turn(4, parent="A1")
    s.turn(3, parent="A2")


def checkpoint_then_two_descending_branches(s: Sheet) -> None:
    """Two branches below it: the one that stands later."""
    s.turns(1)
    s.checkpoint("A1")
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")


def checkpoint_inner_then_old_descendants(s: Sheet) -> None:
    """Its descendants stand before it in the file, rows of another branch after it."""
    s.turns(1, 2, 3)
    s.checkpoint("A2")
    s.turn(4, parent="A1")


def checkpoint_then_system_row(s: Sheet) -> None:
    """Only a system row follows, below it."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.system("I1")


def checkpoint_then_system_row_elsewhere(s: Sheet) -> None:
    """Only a system row follows, on another branch."""
    two_branches(s)
    s.checkpoint("A2")
    s.system("I1", parent="A3")


def checkpoint_then_attachment(s: Sheet) -> None:
    """Only an attachment follows, below it."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.attachment("T1")


def checkpoint_then_sidechain(s: Sheet) -> None:
    """Only rows of a subagent follow."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.user("S1", parent=None, isSidechain=True)
    s.assistant("S2", isSidechain=True)


def checkpoint_then_second_root(s: Sheet) -> None:
    """A new tree follows."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.turn(3, parent=None)


def checkpoint_then_missing_parent(s: Sheet) -> None:
    """The row that follows names a parent that is not there."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.turn(3, parent="GHOST")


def checkpoint_then_missing_parent_1s(s: Sheet) -> None:
    """The row that follows would be repaired."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.user("U3", parent="GHOST", gap=1)
    s.assistant("A3", gap=1)


def checkpoint_explicit_then_descending_rows(s: Sheet) -> None:
    """Explicit, then rows below it."""
    s.turns(1)
    s.checkpoint("A1", explicit=True)
    s.turns(2)


def checkpoint_explicit_inner_then_descending_rows(s: Sheet) -> None:
    """Explicit at an inner row, then a new branch from it: a rewind that went on."""
    s.turns(1, 2)
    s.checkpoint("A1", explicit=True)
    s.turn(3, parent="A1")


def checkpoint_explicit_then_other_branch(s: Sheet) -> None:
    """Explicit, then rows that do not descend from it."""
    s.turns(1, 2)
    s.checkpoint("A2", explicit=True)
    s.turn(3, parent="A1")
