"""Checkpoints that name no row or an odd one; and rewinds as the client writes them."""

from __future__ import annotations

from tests.compat.crafted.checkpoints import two_branches
from tests.compat.crafted.sheet import ABSENT, NIL, Sheet


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
    """Names a row of a subagent."""
    s.turns(1)
    s.user("S1", parent="A1", isSidechain=True)
    s.assistant("S2", isSidechain=True)
    s.turn(2, parent="A1")
    s.checkpoint("S2")


def checkpoint_at_system_row(s: Sheet) -> None:
    """Names a system row: the message above it."""
    two_branches(s)
    s.system("I1", "turn_duration", parent="A2")
    s.checkpoint("I1")


def checkpoint_at_attachment(s: Sheet) -> None:
    """Names an attachment."""
    two_branches(s)
    s.attachment("T1", parent="A2")
    s.checkpoint("T1")


def checkpoint_at_progress(s: Sheet) -> None:
    """Names a progress row."""
    two_branches(s)
    s.progress("P1", parent="A2")
    s.checkpoint("P1")


def checkpoint_at_meta(s: Sheet) -> None:
    """Names a meta row."""
    two_branches(s)
    s.user("M1", parent="A2", isMeta=True)
    s.checkpoint("M1")


def checkpoint_at_api_error(s: Sheet) -> None:
    """Names an error row."""
    two_branches(s)
    s.error("E1", parent="A2")
    s.checkpoint("E1")


def checkpoint_at_unknown_type(s: Sheet) -> None:
    """Names a row of an unknown type."""
    two_branches(s)
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


# -- rewinds as the client writes them --------------------------------------------------------------------------------
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
