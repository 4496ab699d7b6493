"""Rows that a compaction takes along, in both forms the client has written; and large files."""

from __future__ import annotations

from tests.compat.crafted.sheet import Json, Sheet, row_uuid


def _kept(anchor: str, *names: str) -> Json:
    uuids = [row_uuid(name) for name in names]
    return {"preservedMessages": {"anchorUuid": row_uuid(anchor), "uuids": uuids, "allUuids": uuids}}


def _segment(anchor: str, head: str, tail: str) -> Json:
    ends = {"headUuid": row_uuid(head), "tailUuid": row_uuid(tail)}
    return {"preservedSegment": {**ends, "anchorUuid": row_uuid(anchor)}}


def preserved_last_turn(s: Sheet) -> None:
    """The last turn before the boundary is hung below the summary."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_at_the_end(s: Sheet) -> None:
    """Nothing after the summary: the kept rows are the end."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")


def preserved_one_row(s: Sheet) -> None:
    """Only the last answer is kept."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_rows_from_the_middle(s: Sheet) -> None:
    """Kept rows that do not touch each other."""
    s.turns(1, 2, 3)
    s.boundary("B1", metadata=_kept("C1", "A1", "U3"))
    s.summary("C1")
    s.turns(4)


def preserved_in_other_order(s: Sheet) -> None:
    """The list is not in the order of the file."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "A2", "U2"))
    s.summary("C1")
    s.turns(3)


def preserved_unknown_rows(s: Sheet) -> None:
    """All kept rows are unknown."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "GHOST", "GHOST2"))
    s.summary("C1")
    s.turns(3)


def preserved_partly_unknown(s: Sheet) -> None:
    """One of the kept rows is unknown."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "GHOST", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_unknown_anchor(s: Sheet) -> None:
    """The anchor is not there."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("GHOST", "U2", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_below_the_boundary(s: Sheet) -> None:
    """The anchor is the boundary."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("B1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_empty_list(s: Sheet) -> None:
    """Nothing is kept."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1"))
    s.summary("C1")
    s.turns(3)


def preserved_malformed(s: Sheet) -> None:
    """The list is a word."""
    s.turns(1, 2)
    s.boundary("B1", metadata={"preservedMessages": {"anchorUuid": row_uuid("C1"), "uuids": "U2"}})
    s.summary("C1")
    s.turns(3)


def preserved_with_tools(s: Sheet) -> None:
    """A call and its result are kept."""
    s.turns(1)
    s.user("U2")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.assistant("A2")
    s.boundary("B1", metadata=_kept("C1", "K1", "R1", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_with_parallel_tools(s: Sheet) -> None:
    """Parallel calls and their results are kept."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1", parent="K1")
    s.result("R2", "T2", parent="K2")
    s.assistant("A1")
    s.boundary("B1", metadata=_kept("C1", "K1", "K2", "R1", "R2", "A1"))
    s.summary("C1")
    s.turns(3)


def preserved_with_attachments(s: Sheet) -> None:
    """An attachment among the kept rows."""
    s.turns(1)
    s.user("U2")
    s.attachment("T1")
    s.assistant("A2")
    s.boundary("B1", metadata=_kept("C1", "U2", "T1", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_and_more_below_anchor(s: Sheet) -> None:
    """Two rows hang on the anchor."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turn(3, parent="C1")
    s.turn(4, parent="C1")


def preserved_then_row_on_kept_row(s: Sheet) -> None:
    """The talk goes on from the kept row itself."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turn(3, parent="A2")


def preserved_then_row_on_inner_kept_row(s: Sheet) -> None:
    """The talk goes on from the first of two kept rows."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turn(3, parent="U2")


def preserved_twice(s: Sheet) -> None:
    """Two compactions, each with kept rows."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)
    s.boundary("B2", metadata=_kept("C2", "U3", "A3"))
    s.summary("C2")
    s.turns(4)


def preserved_twice_same_row(s: Sheet) -> None:
    """A row kept by the first compaction is kept again by the second."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "A2"))
    s.summary("C1")
    s.turns(3)
    s.boundary("B2", metadata=_kept("C2", "A2", "U3", "A3"))
    s.summary("C2")
    s.turns(4)


def preserved_first_only(s: Sheet) -> None:
    """The first compaction kept rows, the second did not."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)
    s.boundary("B2")
    s.summary("C2")
    s.turns(4)


def preserved_with_checkpoint(s: Sheet) -> None:
    """A checkpoint at a kept row."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)
    s.checkpoint("A2", explicit=True)


def preserved_boundary_with_parent(s: Sheet) -> None:
    """Kept rows, and the boundary hangs on the row before it."""
    s.turns(1, 2)
    s.boundary("B1", parent="A2", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_segment(s: Sheet) -> None:
    """The older form: head, tail and anchor."""
    s.turns(1, 2, 3)
    s.boundary("B1", metadata=_segment("C1", "U2", "A3"))
    s.summary("C1")
    s.turns(4)


def preserved_segment_one_row(s: Sheet) -> None:
    """Head and tail are one row."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_segment("C1", "A2", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_segment_unknown_tail(s: Sheet) -> None:
    """The tail is not there."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_segment("C1", "U2", "GHOST"))
    s.summary("C1")
    s.turns(3)


def preserved_segment_unknown_head(s: Sheet) -> None:
    """The head is not there."""
    s.turns(1, 2)
    s.boundary("B1", metadata=_segment("C1", "GHOST", "A2"))
    s.summary("C1")
    s.turns(3)


def preserved_segment_at_the_end(s: Sheet) -> None:
    """Nothing after the summary."""
    s.turns(1, 2, 3)
    s.boundary("B1", metadata=_segment("C1", "U3", "A3"))
    s.summary("C1")


def preserved_both_forms(s: Sheet) -> None:
    """Both forms, as the client writes them."""
    s.turns(1, 2, 3)
    s.boundary("B1", metadata={**_segment("C1", "U3", "A3"), **_kept("C1", "U3", "A3")})
    s.summary("C1")
    s.turns(4)


def preserved_both_forms_differ(s: Sheet) -> None:
    """The two forms disagree."""
    s.turns(1, 2, 3)
    s.boundary("B1", metadata={**_segment("C1", "U2", "A3"), **_kept("C1", "U3", "A3")})
    s.summary("C1")
    s.turns(4)


def compaction_in_a_large_file(s: Sheet) -> None:
    """More than five megabytes before the boundary: the client reads such files another way."""
    s.turns(1)
    for number in range(12):
        s.user(f"P{number}", f"P{number} " + "x" * 500_000)
    s.boundary("B1")
    s.summary("C1")
    s.turns(2)


def preserved_in_a_large_file(s: Sheet) -> None:
    """The same with a kept turn."""
    s.turns(1)
    for number in range(12):
        s.user(f"P{number}", f"P{number} " + "x" * 500_000)
    s.turns(2)
    s.boundary("B1", metadata=_kept("C1", "U2", "A2"))
    s.summary("C1")
    s.turns(3)


def compaction_in_a_large_file_row_hangs_before(s: Sheet) -> None:
    """A large file where a row after the boundary hangs on one from before it."""
    s.turns(1)
    for number in range(12):
        s.user(f"P{number}", f"P{number} " + "x" * 500_000)
    s.turns(2)
    s.boundary("B1")
    s.summary("C1")
    s.turn(3, parent="A2")
