"""User and assistant rows that no person and no model wrote: meta rows, commands, errors."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet


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
    s.user(
        "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>"
    )
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


# -- errors -----------------------------------------------------------------------------------------------------------
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
