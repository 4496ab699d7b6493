"""Compaction: what a boundary leaves out, and what it takes along."""

from __future__ import annotations

from tests.compat.crafted.sheet import ABSENT, Sheet


def compaction(s: Sheet) -> None:
    """Boundary, summary, and the talk goes on."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.turns(3)


def compaction_at_the_end(s: Sheet) -> None:
    """Nothing after the summary."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")


def compaction_boundary_last(s: Sheet) -> None:
    """Nothing after the boundary."""
    s.turns(1, 2)
    s.boundary("B1")


def compaction_without_summary(s: Sheet) -> None:
    """The talk hangs on the boundary itself."""
    s.turns(1, 2)
    s.boundary("B1")
    s.turns(3)


def compaction_of_a_slash_command(s: Sheet) -> None:
    """With the rows that /compact writes behind the summary."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.user("<local-command-caveat>K1</local-command-caveat>", isMeta=True)
    s.user("<command-name>/compact</command-name>")
    s.user("<local-command-stdout>Compacted</local-command-stdout>")
    s.turns(3)


def compaction_twice(s: Sheet) -> None:
    """The last boundary counts."""
    s.turns(1)
    s.boundary("B1")
    s.summary("C1")
    s.turns(2)
    s.boundary("B2")
    s.summary("C2")
    s.turns(3)


def compaction_three_times(s: Sheet) -> None:
    """Three boundaries, the last one at the end."""
    for number in (1, 2, 3):
        s.turn(number)
        s.boundary(f"B{number}")
        s.summary(f"C{number}")


def compaction_boundary_with_parent(s: Sheet) -> None:
    """A boundary that hangs on the row before it."""
    s.turns(1, 2)
    s.boundary("B1", parent="A2")
    s.summary("C1")
    s.turns(3)


def compaction_boundary_with_parent_1s(s: Sheet) -> None:
    """The same, rows one second apart."""
    s.user("U1", gap=1)
    s.assistant("A1", gap=1)
    s.boundary("B1", parent="A1", gap=1)
    s.summary("C1", gap=1)
    s.user("U2", gap=1)
    s.assistant("A2", gap=1)


def compaction_boundary_without_metadata(s: Sheet) -> None:
    """No compactMetadata at all."""
    s.turns(1, 2)
    s.boundary("B1", compactMetadata=ABSENT, logicalParentUuid=ABSENT)
    s.summary("C1")
    s.turns(3)


def compaction_summary_unmarked(s: Sheet) -> None:
    """The summary is an ordinary user row."""
    s.turns(1, 2)
    s.boundary("B1")
    s.user("C1")
    s.turns(3)


def compaction_row_hangs_before_boundary(s: Sheet) -> None:
    """After the boundary a row hangs on a row from before it."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.turn(3, parent="A2")


def compaction_row_hangs_before_boundary_1s(s: Sheet) -> None:
    """The same within five seconds of the summary."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.user("U3", parent="A2", gap=1)
    s.assistant("A3")


def compaction_on_sidechain(s: Sheet) -> None:
    """A boundary of a subagent."""
    s.turns(1)
    s.boundary("B1", isSidechain=True)
    s.summary("C1", isSidechain=True)
    s.turn(2, parent="A1")


def micro_compaction(s: Sheet) -> None:
    """A boundary of the small kind leaves nothing out."""
    s.turns(1)
    s.system("B1", "microcompact_boundary", microcompactMetadata={"trigger": "auto", "preTokens": 1, "tokensSaved": 1})
    s.turns(2)


def micro_compaction_as_root(s: Sheet) -> None:
    """A small boundary without a parent."""
    s.turns(1)
    s.system("B1", "microcompact_boundary", parent=None)
    s.turns(2)


def compaction_checkpoint_before_it(s: Sheet) -> None:
    """The checkpoint from before the boundary is out of date."""
    s.turns(1, 2)
    s.checkpoint("A1")
    s.boundary("B1")
    s.summary("C1")
    s.turns(3)


def compaction_checkpoint_after_names_row_before(s: Sheet) -> None:
    """A checkpoint after the boundary names a row from before it: rewound over the compaction."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.turns(3)
    s.checkpoint("A1")


def compaction_checkpoint_after_explicit_before(s: Sheet) -> None:
    """The same, explicit."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.turns(3)
    s.checkpoint("A1", explicit=True)


def compaction_checkpoint_at_summary(s: Sheet) -> None:
    """A checkpoint at the summary, explicit."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.turns(3)
    s.checkpoint("C1", explicit=True)


def compaction_then_rewind(s: Sheet) -> None:
    """Two branches after the boundary."""
    s.turns(1, 2)
    s.boundary("B1")
    s.summary("C1")
    s.turn(3, parent="C1")
    s.turn(4, parent="C1")


def compaction_then_null_checkpoint(s: Sheet) -> None:
    """Emptied after a compaction."""
    s.turns(1)
    s.boundary("B1")
    s.summary("C1")
    s.turns(2)
    s.checkpoint(None, explicit=True)
