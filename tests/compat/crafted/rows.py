"""Kinds of rows: subagents, progress, attachments, system rows."""

from __future__ import annotations

from tests.compat.crafted.sheet import ABSENT, Sheet


# -- subagents in the main file --------------------------------------------------------------------------------------
def sidechain_between(s: Sheet) -> None:
    """Older clients: a subagent's rows between call and result."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("S1", parent=None, isSidechain=True)
    s.assistant("S2", isSidechain=True)
    s.result("R1", "T1", parent="K1")
    s.assistant("A1")


def sidechain_last(s: Sheet) -> None:
    """The last row of the file is a subagent's."""
    s.turns(1)
    s.user("S1", parent=None, isSidechain=True)
    s.assistant("S2", isSidechain=True)


def sidechain_below_main_row(s: Sheet) -> None:
    """A subagent's row hangs on a main row."""
    s.turns(1)
    s.user("S1", parent="A1", isSidechain=True)
    s.assistant("S2", isSidechain=True)


def main_row_below_sidechain(s: Sheet) -> None:
    """A main row hangs on a subagent's row."""
    s.turns(1)
    s.user("S1", isSidechain=True)
    s.assistant("S2", isSidechain=True)
    s.turns(2)


def only_sidechain(s: Sheet) -> None:
    """No conversation found."""
    s.user("S1", isSidechain=True)
    s.assistant("S2", isSidechain=True)


def sidechain_word(s: Sheet) -> None:
    """isSidechain as a word on the last turn."""
    s.turns(1)
    s.turn(2, isSidechain="false")


# -- rows in the chain that say nothing -------------------------------------------------------------------------------
def progress_in_the_chain(s: Sheet) -> None:
    """Bridged over."""
    s.user("U1")
    s.call("K1", "T1")
    s.progress("P1")
    s.progress("P2")
    s.result("R1", "T1")
    s.assistant("A1")


def progress_at_the_end(s: Sheet) -> None:
    """The last row is progress."""
    s.turns(1)
    s.user("U2")
    s.assistant("A2")
    s.progress("P1")


def progress_as_root(s: Sheet) -> None:
    """The first row is progress."""
    s.progress("P1", parent=None)
    s.turns(1, 2)


def progress_with_missing_parent(s: Sheet) -> None:
    """The chain of progress rows leads nowhere."""
    s.turns(1)
    s.progress("P1", parent="GHOST")
    s.turns(2)


def progress_with_two_children(s: Sheet) -> None:
    """Two branches part at a progress row."""
    s.turns(1)
    s.progress("P1")
    s.turn(2, parent="P1")
    s.turn(3, parent="P1")


def progress_cycle(s: Sheet) -> None:
    """Two progress rows hang on each other."""
    s.turns(1)
    s.progress("P1", parent="P2")
    s.progress("P2", parent="P1")
    s.turns(2)


def attachment_in_the_chain(s: Sheet) -> None:
    """A link of the chain."""
    s.user("U1")
    s.attachment("N1")
    s.attachment("N2")
    s.assistant("A1")
    s.turns(2)


def attachment_at_the_end(s: Sheet) -> None:
    """The last row is an attachment."""
    s.turns(1)
    s.attachment("N1")


def attachment_as_root(s: Sheet) -> None:
    """The first row is an attachment."""
    s.attachment("N1", parent=None)
    s.turns(1)


def attachment_of_unknown_kind(s: Sheet) -> None:
    """An attachment of the future."""
    s.user("U1")
    s.attachment("N1", attachment={"type": "attachment_of_the_future", "x": 1})
    s.assistant("A1")


def attachment_without_body(s: Sheet) -> None:
    """An attachment row without an attachment."""
    s.user("U1")
    s.attachment("N1", attachment=ABSENT)
    s.assistant("A1")


def attachment_only(s: Sheet) -> None:
    """Nothing but attachments."""
    s.attachment("N1", parent=None)
    s.attachment("N2")


def system_in_the_chain(s: Sheet) -> None:
    """System rows are links."""
    s.turns(1)
    s.system("I1", "turn_duration")
    s.turns(2)
    s.system("I2", "stop_hook_summary")


def system_local_command(s: Sheet) -> None:
    """What a local command printed."""
    s.turns(1)
    s.system("I1", "local_command", content="<local-command-stdout>I1</local-command-stdout>")
    s.turns(2)


def system_api_error(s: Sheet) -> None:
    """A retry of the API."""
    s.user("U1")
    s.system("I1", "api_error", level="error")
    s.assistant("A1")


def system_unknown_kind(s: Sheet) -> None:
    """A subtype of the future."""
    s.turns(1)
    s.system("I1", "subtype_of_the_future")
    s.turns(2)


def system_without_subtype(s: Sheet) -> None:
    """No subtype."""
    s.turns(1)
    s.row("system", "I1", content="I1", level="info")
    s.turns(2)


def system_only(s: Sheet) -> None:
    """Nothing but system rows."""
    s.system("I1", parent=None)
    s.system("I2")
