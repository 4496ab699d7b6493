"""Which row the conversation stands at: ``last-prompt`` lines of every kind, and rewinds."""
from __future__ import annotations

from tests.compat.crafted.sheet import ABSENT, NIL, Sheet


def _two_branches(s: Sheet) -> None:
    """A1 has two branches; the second stands later in the file."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")


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
    _two_branches(s)
    s.checkpoint("A2")


def checkpoint_on_other_branch_explicit(s: Sheet) -> None:
    """The same, explicit."""
    _two_branches(s)
    s.checkpoint("A2", explicit=True)


def checkpoint_at_the_fork(s: Sheet) -> None:
    """Names the row where two branches part."""
    _two_branches(s)
    s.checkpoint("A1")


def checkpoint_at_the_fork_explicit(s: Sheet) -> None:
    """The same, explicit."""
    _two_branches(s)
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
    _two_branches(s)
    s.checkpoint("A2")
    s.system("I1", parent="A3")


def checkpoint_then_attachment(s: Sheet) -> None:
    """Only an attachment follows, below it."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.attachment("T1")


def checkpoint_then_sidechain(s: Sheet) -> None:
    """Only rows of a sub-agent follow."""
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
    """The row that follows would be mended."""
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


def checkpoint_null_explicit(s: Sheet) -> None:
    """Rewound to before the first prompt: empty."""
    s.turns(1, 2)
    s.checkpoint(None, explicit=True)


def checkpoint_null_explicit_then_rows(s: Sheet) -> None:
    """Emptied, then a new tree."""
    s.turns(1, 2)
    s.checkpoint(None, explicit=True)
    s.turn(3, parent=None)


def checkpoint_null_explicit_then_old_tree(s: Sheet) -> None:
    """Emptied, then the old tree goes on."""
    s.turns(1, 2)
    s.checkpoint(None, explicit=True)
    s.turns(3)


def checkpoint_null_plain(s: Sheet) -> None:
    """A null leaf that is not explicit."""
    s.turns(1, 2)
    s.checkpoint(None)


def checkpoint_without_leaf(s: Sheet) -> None:
    """Only the prompt's text, as some clients wrote it."""
    s.turns(1, 2)
    s.checkpoint(ABSENT)


def checkpoint_nil_explicit(s: Sheet) -> None:
    """The nil uuid withdraws the checkpoint before it."""
    s.turns(1, 2)
    s.checkpoint("A1")
    s.state("last-prompt", leafUuid=NIL, explicit=True)


def checkpoint_nil_plain(s: Sheet) -> None:
    """The nil uuid, not explicit."""
    s.turns(1, 2)
    s.checkpoint("A1")
    s.state("last-prompt", leafUuid=NIL)


def checkpoint_unknown(s: Sheet) -> None:
    """Names a row that is not there."""
    s.turns(1, 2)
    s.checkpoint("GHOST")


def checkpoint_unknown_after_good_one(s: Sheet) -> None:
    """A good one, then one that names no row."""
    s.turns(1, 2, 3)
    s.checkpoint("A2")
    s.checkpoint("GHOST")


def checkpoint_unknown_explicit(s: Sheet) -> None:
    """Explicit and unknown."""
    s.turns(1, 2, 3)
    s.checkpoint("A1")
    s.checkpoint("GHOST", explicit=True)


def checkpoint_twice(s: Sheet) -> None:
    """The last one counts."""
    s.turns(1, 2, 3)
    s.checkpoint("A3")
    s.checkpoint("A1")


def checkpoint_explicit_then_plain(s: Sheet) -> None:
    """An explicit one, then a plain one elsewhere."""
    s.turns(1, 2, 3)
    s.checkpoint("A1", explicit=True)
    s.checkpoint("A2")


def checkpoint_number_as_leaf(s: Sheet) -> None:
    """A leaf that is no string."""
    s.turns(1, 2)
    s.checkpoint(ABSENT, leafUuid=5)


def checkpoint_at_the_top_of_the_file(s: Sheet) -> None:
    """Stands before the row it names."""
    s.checkpoint("A1")
    s.turns(1, 2)


def checkpoint_before_its_row(s: Sheet) -> None:
    """The client writes it before the last lines of a response: the row it names comes later, and others after it."""
    s.turns(1)
    s.user("U2")
    s.checkpoint("A2")
    s.assistant("A2")
    s.turns(3)


def checkpoint_before_its_row_then_branch(s: Sheet) -> None:
    """It names a row that comes later; then another branch."""
    s.turns(1)
    s.checkpoint("A2")
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")


def checkpoint_at_sidechain_row(s: Sheet) -> None:
    """Names a row of a sub-agent."""
    s.turns(1)
    s.user("S1", parent="A1", isSidechain=True)
    s.assistant("S2", isSidechain=True)
    s.turn(2, parent="A1")
    s.checkpoint("S2")


def checkpoint_at_system_row(s: Sheet) -> None:
    """Names a system row: the message above it."""
    _two_branches(s)
    s.system("I1", "turn_duration", parent="A2")
    s.checkpoint("I1")


def checkpoint_at_attachment(s: Sheet) -> None:
    """Names an attachment."""
    _two_branches(s)
    s.attachment("T1", parent="A2")
    s.checkpoint("T1")


def checkpoint_at_progress(s: Sheet) -> None:
    """Names a progress row."""
    _two_branches(s)
    s.progress("P1", parent="A2")
    s.checkpoint("P1")


def checkpoint_at_meta(s: Sheet) -> None:
    """Names a meta row."""
    _two_branches(s)
    s.user("M1", parent="A2", isMeta=True)
    s.checkpoint("M1")


def checkpoint_at_api_error(s: Sheet) -> None:
    """Names an error row."""
    _two_branches(s)
    s.error("E1", parent="A2")
    s.checkpoint("E1")


def checkpoint_at_unknown_type(s: Sheet) -> None:
    """Names a row of an unknown type."""
    _two_branches(s)
    s.row("row-of-the-future", "F1", parent="A2")
    s.checkpoint("F1")


def checkpoint_at_row_without_timestamp(s: Sheet) -> None:
    """Names a row that has no timestamp."""
    s.turns(1)
    s.user("U2", parent="A1")
    s.assistant("A2", timestamp=ABSENT)
    s.turn(3, parent="A1")
    s.checkpoint("A2")


def checkpoint_of_another_session(s: Sheet) -> None:
    """The line carries another session's id."""
    s.turns(1, 2, 3)
    s.checkpoint("A1")
    s.edit(lambda line: line.update(sessionId="11111111-2222-4333-8444-555555555555"))


def checkpoint_without_session(s: Sheet) -> None:
    """The line carries no session id."""
    s.turns(1, 2, 3)
    s.checkpoint("A1")
    s.edit(lambda line: line.pop("sessionId"))


def checkpoint_with_uuid_of_dropped_duplicate(s: Sheet) -> None:
    """Names a row that was written again later with another parent."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")
    s.assistant("A2", parent="A3")
    s.checkpoint("A2")


def checkpoint_after_torn_line(s: Sheet) -> None:
    """A torn row stands before it."""
    s.turns(1, 2)
    s.user("U3")
    s.spoil(lambda data: data[: len(data) // 2] + b"\n")
    s.checkpoint("A1")


# -- rewinds as the client writes them ---------------------------------------------------------------------------------
def rewind_and_go_on(s: Sheet) -> None:
    """Esc Esc, a new prompt: the nil uuid withdraws the checkpoint, the new branch stands."""
    s.turns(1)
    s.checkpoint("A1")
    s.turns(2)
    s.user("U3", parent="A1")
    s.state("last-prompt", leafUuid=NIL, explicit=True)
    s.assistant("A3")
    s.checkpoint("A3")


def rewind_and_go_on_without_end(s: Sheet) -> None:
    """The same, and the client was killed before the last checkpoint."""
    s.turns(1)
    s.checkpoint("A1")
    s.turns(2)
    s.checkpoint("A2")
    s.user("U3", parent="A1")
    s.state("last-prompt", leafUuid=NIL, explicit=True)
    s.assistant("A3")


def rewind_without_withdrawal(s: Sheet) -> None:
    """The new branch without the nil line: the old checkpoint stands."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.user("U3", parent="A1")
    s.assistant("A3")


def rewind_only(s: Sheet) -> None:
    """A rewind without a new prompt."""
    s.turns(1, 2, 3)
    s.checkpoint("A3")
    s.checkpoint("A1", explicit=True, rewound=True)


def rewind_with_cut(s: Sheet) -> None:
    """With the row that was cut off."""
    s.turns(1, 2, 3)
    s.checkpoint("A3")
    s.checkpoint("A1", explicit=True, rewound=True)
    s.edit(lambda line: line.update(cutUuid="x"))


def rewind_twice(s: Sheet) -> None:
    """Two rewinds one after the other."""
    s.turns(1, 2)
    s.turn(3, parent="A1")
    s.state("last-prompt", leafUuid=NIL, explicit=True)
    s.checkpoint("A3")
    s.turn(4, parent="U1")
    s.state("last-prompt", leafUuid=NIL, explicit=True)


def rewind_to_the_first_prompt(s: Sheet) -> None:
    """The new prompt is a root of its own."""
    s.turns(1, 2)
    s.checkpoint("A2")
    s.user("U3", parent=None)
    s.state("last-prompt", leafUuid=NIL, explicit=True)
    s.assistant("A3")
