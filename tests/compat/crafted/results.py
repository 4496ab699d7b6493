"""Results and calls that do not fit together: orphans, unanswered calls, odd order."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet, swap, tool_result, tool_use


def result_with_text(s: Sheet) -> None:
    """A result and words in one row."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("R1", [tool_result("T1"), {"type": "text", "text": "R1 words"}])
    s.assistant("A1")


def result_then_prompt(s: Sheet) -> None:
    """A prompt follows the result at once."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.user("U2")
    s.assistant("A2")


def result_is_error(s: Sheet) -> None:
    """A failed tool."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("R1", [{**tool_result("T1"), "is_error": True}], toolUseResult="Error: no")
    s.assistant("A1")


# -- calls without results and results without calls ------------------------------------------------------------------
def unanswered_call_at_the_end(s: Sheet) -> None:
    """The client was killed while the tool ran."""
    s.turns(1)
    s.user("U2")
    s.call("K1", "T1")


def unanswered_call_in_the_middle(s: Sheet) -> None:
    """A prompt follows a call without result."""
    s.user("U1")
    s.call("K1", "T1")
    s.turns(2)


def unanswered_call_with_text(s: Sheet) -> None:
    """Text and an unanswered call in one response of two lines."""
    s.user("U1")
    s.assistant("X1", message_id="m1")
    s.call("K1", "T1", message_id="m1")
    s.turns(2)


def unanswered_call_in_one_line_with_text(s: Sheet) -> None:
    """Text and an unanswered call in one line."""
    s.user("U1")
    s.assistant("X1", [{"type": "text", "text": "X1"}, tool_use("T1")])
    s.turns(2)


def orphan_result_at_the_start(s: Sheet) -> None:
    """The first row is a result without a call."""
    s.result("R1", "T1")
    s.assistant("A1")
    s.turns(2)


def orphan_result_in_the_middle(s: Sheet) -> None:
    """A result without a call after an answer."""
    s.turns(1)
    s.result("R1", "T1")
    s.assistant("A2")


def orphan_result_at_the_end(s: Sheet) -> None:
    """A result without a call is the last row."""
    s.turns(1)
    s.result("R1", "T1")


def orphan_result_beside_good_one(s: Sheet) -> None:
    """One row with a good result and an orphan."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("R1", [tool_result("T1"), tool_result("T9")])
    s.assistant("A1")


def orphan_result_with_text(s: Sheet) -> None:
    """An orphan and words in one row."""
    s.turns(1)
    s.user("R1", [tool_result("T9"), {"type": "text", "text": "R1 words"}])
    s.assistant("A2")


def result_twice(s: Sheet) -> None:
    """Two results for one call, one after the other."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.result("R2", "T1")
    s.assistant("A1")


def call_id_twice(s: Sheet) -> None:
    """Two calls with one id."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.call("K2", "T1")
    s.result("R2", "T1")
    s.assistant("A1")


def result_before_call(s: Sheet) -> None:
    """In the chain the result stands above its call."""
    s.user("U1")
    s.assistant("A1")
    s.result("R1", "T1")
    s.call("K1", "T1")
    s.turns(2)


def result_line_before_call_line(s: Sheet) -> None:
    """Only in the file the result stands above its call."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.assistant("A1")
    swap(s.lines, 1, 2)


def prompt_between_call_and_result(s: Sheet) -> None:
    """A prompt got between a call and its result."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("V1")
    s.result("R1", "T1")
    s.assistant("A1")


def meta_between_call_and_result(s: Sheet) -> None:
    """A meta row got between a call and its result."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("M1", isMeta=True)
    s.result("R1", "T1")
    s.assistant("A1")


def split_response_with_result_between(s: Sheet) -> None:
    """Two lines of one response with a result between them in the chain."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1")
    s.call("K2", "T2", message_id="m1")
    s.result("R2", "T2")
    s.assistant("A1")


def same_message_id_in_two_turns(s: Sheet) -> None:
    """Two answers share one message.id across a prompt."""
    s.user("U1")
    s.assistant("A1", message_id="m1")
    s.user("U2")
    s.assistant("A2", message_id="m1")


def same_message_id_on_abandoned_branch(s: Sheet) -> None:
    """A line of the same response hangs on an abandoned branch."""
    s.turns(1)
    s.user("U2", parent="A1")
    s.assistant("A2", message_id="m2")
    s.user("U3", parent="A1")
    s.assistant("A3", message_id="m2")


def server_tool(s: Sheet) -> None:
    """A tool that ran at the API: no result row."""
    s.user("U1")
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    s.assistant("A1", [use, found, {"type": "text", "text": "A1"}])
    s.turns(2)


# -- unanswered calls by where the talk stands ---------------------------------------------------------------------------
def unanswered_call_then_turn_ends_with_result(s: Sheet) -> None:
    """A call without result, and the file ends with the result of another."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("U2")
    s.call("K2", "T2")
    s.result("R2", "T2")


def unanswered_call_then_turn_ends_with_prompt(s: Sheet) -> None:
    """A call without result, and the file ends with a prompt."""
    s.user("U1")
    s.call("K1", "T1")
    s.turns(2)
    s.user("U3")


def unanswered_call_then_turn_ends_with_call(s: Sheet) -> None:
    """Two calls without results, one of them at the end."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("U2")
    s.call("K2", "T2")


def unanswered_parallel_call_last_of_two(s: Sheet) -> None:
    """The second of two calls has no result; the talk goes on from the first."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1", parent="K1")
    s.assistant("A1")


def unanswered_parallel_call_last_of_two_open_end(s: Sheet) -> None:
    """The same, and the file ends with the result."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1", parent="K1")


def unanswered_parallel_call_first_of_two_open_end(s: Sheet) -> None:
    """The first of two calls has no result, and the file ends with the result of the second."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R2", "T2", parent="K2")


def unanswered_parallel_call_earlier_turn(s: Sheet) -> None:
    """One of two calls has no result, a later turn ends with a result."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1", parent="K1")
    s.assistant("A1")
    s.user("U2")
    s.call("K3", "T3")
    s.result("R3", "T3")


def unanswered_parallel_call_earlier_call(s: Sheet) -> None:
    """One of two calls has no result, the next call of the same turn has, and the file ends there."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1", parent="K1")
    s.call("K3", "T3")
    s.result("R3", "T3")


def unanswered_call_then_error(s: Sheet) -> None:
    """A call without result, then an API error at the end."""
    s.user("U1")
    s.call("K1", "T1")
    s.error("E1")


def unanswered_call_then_meta(s: Sheet) -> None:
    """A call without result, then a meta row at the end."""
    s.user("U1")
    s.call("K1", "T1")
    s.user("M1", isMeta=True)


def unanswered_call_then_attachment(s: Sheet) -> None:
    """A call without result, then an attachment at the end."""
    s.user("U1")
    s.call("K1", "T1")
    s.attachment("N1")


def unanswered_call_then_answer(s: Sheet) -> None:
    """A call without result, then an answer at once."""
    s.user("U1")
    s.call("K1", "T1")
    s.assistant("A1")


def result_far_behind_its_call(s: Sheet) -> None:
    """A whole turn stands between a call and its result."""
    s.user("U1")
    s.call("K1", "T1")
    s.turns(2)
    s.result("R1", "T1")
    s.assistant("A3")


def result_far_before_its_call(s: Sheet) -> None:
    """A result stands a whole turn above its call."""
    s.turns(1)
    s.result("R1", "T1")
    s.assistant("A2")
    s.turns(3)
    s.call("K1", "T1")
    s.turns(4)


def text_shares_message_with_earlier_call(s: Sheet) -> None:
    """A text far below carries the message.id of a call."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1")
    s.assistant("A1")
    s.user("U2")
    s.assistant("A2", message_id="m1")


def text_shares_message_with_call_of_same_turn(s: Sheet) -> None:
    """A text below the result carries the message.id of the call."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1")
    s.assistant("A1", message_id="m1")


def call_shares_message_with_earlier_text(s: Sheet) -> None:
    """A call far below carries the message.id of a text."""
    s.user("U1")
    s.assistant("A1", message_id="m1")
    s.user("U2")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1")
    s.assistant("A2")


def call_shares_message_with_earlier_call(s: Sheet) -> None:
    """Two calls of two turns carry one message.id."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1")
    s.turns(2)
    s.call("K2", "T2", message_id="m1")
    s.result("R2", "T2")
    s.assistant("A3")
