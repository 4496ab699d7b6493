"""Kinds of rows: sub-agents, progress, attachments, system and meta rows, errors, empty and odd contents."""
from __future__ import annotations

from tests.compat.crafted.sheet import ABSENT, Sheet

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


# -- sub-agents in the main file ---------------------------------------------------------------------------------------
def sidechain_between(s: Sheet) -> None:
    """Older clients: a sub-agent's rows between call and result."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("S1", parent=None, isSidechain=True)
    s.assistant("S2", isSidechain=True)
    s.result("R1", "T1", parent="K1")
    s.assistant("A1")


def sidechain_last(s: Sheet) -> None:
    """The last row of the file is a sub-agent's."""
    s.turns(1)
    s.user("S1", parent=None, isSidechain=True)
    s.assistant("S2", isSidechain=True)


def sidechain_below_main_row(s: Sheet) -> None:
    """A sub-agent's row hangs on a main row."""
    s.turns(1)
    s.user("S1", parent="A1", isSidechain=True)
    s.assistant("S2", isSidechain=True)


def main_row_below_sidechain(s: Sheet) -> None:
    """A main row hangs on a sub-agent's row."""
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


# -- rows in the chain that say nothing --------------------------------------------------------------------------------
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
    s.system("I1", subtype=ABSENT)
    s.turns(2)


def system_only(s: Sheet) -> None:
    """Nothing but system rows."""
    s.system("I1", parent=None)
    s.system("I2")


# -- user rows that no person wrote -----------------------------------------------------------------------------------------
def meta_in_the_chain(s: Sheet) -> None:
    """Sent, though not shown."""
    s.user("M1", isMeta=True)
    s.turns(1)
    s.user("M2", isMeta=True)
    s.turns(2)


def meta_at_the_end(s: Sheet) -> None:
    """The last row is meta."""
    s.turns(1)
    s.user("M1", isMeta=True)


def meta_only(s: Sheet) -> None:
    """Nothing but a meta row."""
    s.user("M1", isMeta=True)


def meta_on_its_own_branch(s: Sheet) -> None:
    """A meta row hangs beside the talk and stands last."""
    s.turns(1)
    s.turn(2, parent="A1")
    s.user("M1", parent="A1", isMeta=True)


def visible_in_transcript_only(s: Sheet) -> None:
    """Also sent."""
    s.turns(1)
    s.user("V1", isVisibleInTranscriptOnly=True)
    s.turns(2)


def visible_in_transcript_only_at_the_end(s: Sheet) -> None:
    """As the last row."""
    s.turns(1)
    s.user("V1", isVisibleInTranscriptOnly=True)


def summary_without_boundary(s: Sheet) -> None:
    """isCompactSummary in the middle of a chain."""
    s.turns(1)
    s.summary("C1")
    s.turns(2)


def local_command_rows(s: Sheet) -> None:
    """What a slash command leaves."""
    s.turns(1)
    s.user("<local-command-caveat>K1</local-command-caveat>", isMeta=True)
    s.user("<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>")
    s.user("<local-command-stdout>S1</local-command-stdout>")
    s.turns(2)


def local_command_last(s: Sheet) -> None:
    """A slash command at the end."""
    s.turns(1)
    s.user("<command-name>/model</command-name>")
    s.user("<local-command-stdout>S1</local-command-stdout>")


def interrupted(s: Sheet) -> None:
    """A person pressed Esc."""
    s.user("U1")
    s.assistant("A1")
    s.user("[Request interrupted by user]", [{"type": "text", "text": "[Request interrupted by user]"}])
    s.turns(2)


def interrupted_tool(s: Sheet) -> None:
    """A person stopped a tool."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.user("[Request interrupted by user for tool use]")
    s.turns(2)


# -- errors -------------------------------------------------------------------------------------------------------------------
def api_error_in_the_middle(s: Sheet) -> None:
    """Left out of the request."""
    s.user("U1")
    s.error("E1")
    s.turns(2)


def api_error_at_the_end(s: Sheet) -> None:
    """The last row."""
    s.turns(1)
    s.user("U2")
    s.error("E1")


def api_error_twice(s: Sheet) -> None:
    """Two in a row."""
    s.user("U1")
    s.error("E1")
    s.error("E2")
    s.turns(2)


def api_error_only(s: Sheet) -> None:
    """A prompt and an error."""
    s.user("U1")
    s.error("E1")


def api_error_alone(s: Sheet) -> None:
    """Nothing but an error."""
    s.error("E1")


def api_error_after_tool(s: Sheet) -> None:
    """The API failed after a tool had run."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.error("E1")
    s.turns(2)


def api_error_flag_on_real_model(s: Sheet) -> None:
    """The flag on a row with a model's name."""
    s.user("U1")
    s.assistant("A1", isApiErrorMessage=True)
    s.turns(2)


def synthetic_answer(s: Sheet) -> None:
    """An answer of the client's own, without the error flag."""
    s.user("U1")
    s.assistant("A1")
    s.edit(lambda line: line["message"].update(model="<synthetic>"))
    s.turns(2)


def synthetic_no_response(s: Sheet) -> None:
    """The filler as older clients wrote it."""
    s.user("U1")
    s.assistant("No response requested.")
    s.edit(lambda line: line["message"].update(model="<synthetic>"))
    s.turns(2)
