"""Tool calls and their results, one by one and in parallel."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet


def _fan_out(s: Sheet, *numbers: int, message_id: str = "m1") -> None:
    """One response with several calls, a line each, and each result on the line of its own call."""
    for number in numbers:
        s.call(f"K{number}", f"T{number}", message_id=message_id)
    for number in numbers:
        s.result(f"R{number}", f"T{number}", parent=f"K{number}")


def tool_call(s: Sheet) -> None:
    """One call, one result."""
    s.user("U1")
    s.call("K1", "T1")
    s.result("R1", "T1")
    s.assistant("A1")


def tool_call_with_text_and_thought(s: Sheet) -> None:
    """A response in three lines."""
    s.user("U1")
    s.assistant("H1", [{"type": "thinking", "thinking": "H1", "signature": "c2ln"}], message_id="m1")
    s.assistant("X1", message_id="m1")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1")
    s.assistant("A1")


def parallel_calls_two(s: Sheet) -> None:
    """Two calls: the first result hangs beside the chain."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("A1")


def parallel_calls_three(s: Sheet) -> None:
    """Three calls."""
    s.user("U1")
    _fan_out(s, 1, 2, 3)
    s.assistant("A1")
    s.turns(2)


def parallel_calls_after_text(s: Sheet) -> None:
    """Text and two calls in one response."""
    s.user("U1")
    s.assistant("X1", message_id="m1")
    _fan_out(s, 1, 2)
    s.assistant("A1")


def parallel_calls_results_reversed(s: Sheet) -> None:
    """The last call was answered first; the talk goes on from the first."""
    s.user("U1")
    for number in (1, 2, 3):
        s.call(f"K{number}", f"T{number}", message_id="m1")
    for number in (3, 2, 1):
        s.result(f"R{number}", f"T{number}", parent=f"K{number}")
    s.assistant("A1")


def parallel_calls_go_on_from_first_result(s: Sheet) -> None:
    """The talk goes on from the first result."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("A1", parent="R1")


def parallel_calls_go_on_from_first_of_three(s: Sheet) -> None:
    """Two calls and two results hang beside the chain."""
    s.user("U1")
    _fan_out(s, 1, 2, 3)
    s.assistant("A1", parent="R1")


def parallel_calls_go_on_from_middle(s: Sheet) -> None:
    """The talk goes on from the second of three results."""
    s.user("U1")
    _fan_out(s, 1, 2, 3)
    s.assistant("A1", parent="R2")


def parallel_calls_go_on_from_call(s: Sheet) -> None:
    """The talk goes on from the last call itself."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("A1", parent="K2")


def parallel_calls_one_unanswered(s: Sheet) -> None:
    """The result of the first call is missing."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R2", "T2")
    s.assistant("A1")


def parallel_calls_at_the_end(s: Sheet) -> None:
    """The file ends with the results."""
    s.user("U1")
    _fan_out(s, 1, 2)


def parallel_calls_in_one_line(s: Sheet) -> None:
    """Older clients: all calls in one line, all results in one line."""
    s.user("U1")
    s.call("K1", "T1", "T2")
    s.result("R1", "T1", "T2")
    s.assistant("A1")


def parallel_calls_in_one_line_results_apart(s: Sheet) -> None:
    """All calls in one line, each result in its own, side by side."""
    s.user("U1")
    s.call("K1", "T1", "T2")
    s.result("R1", "T1", parent="K1")
    s.result("R2", "T2", parent="K1")
    s.assistant("A1")


def parallel_calls_results_in_a_row(s: Sheet) -> None:
    """The second result hangs on the first."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1")
    s.result("R2", "T2")
    s.assistant("A1")


def parallel_calls_twice(s: Sheet) -> None:
    """Two rounds of parallel calls."""
    s.user("U1")
    _fan_out(s, 1, 2)
    _fan_out(s, 3, 4, message_id="m2")
    s.assistant("A1")


def parallel_calls_nested(s: Sheet) -> None:
    """The second round hangs on the first result of the first."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.call("K3", "T3", message_id="m2", parent="R1")
    s.call("K4", "T4", message_id="m2")
    s.result("R3", "T3", parent="K3")
    s.result("R4", "T4", parent="K4")
    s.assistant("A1", parent="R3")


def parallel_calls_as_siblings(s: Sheet) -> None:
    """The lines of one response hang side by side on the prompt."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1", parent="U1")
    s.result("R1", "T1")
    s.call("K2", "T2", message_id="m1", parent="U1")
    s.result("R2", "T2")
    s.assistant("A1")


def parallel_calls_interleaved(s: Sheet) -> None:
    """Each result stands right behind its call, before the next call."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.result("R1", "T1", parent="K1")
    s.call("K2", "T2", message_id="m1", parent="K1")
    s.result("R2", "T2", parent="K2")
    s.assistant("A1")


def parallel_calls_without_message_id(s: Sheet) -> None:
    """No message.id tells that the calls belong together."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("A1")
    for index in (1, 2):
        s.edit(lambda line: line["message"].pop("id"), index)


def parallel_calls_other_request(s: Sheet) -> None:
    """One message.id, two request ids."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("A1")
    s.edit(lambda line: line.update(requestId="req_other"), 1)


def parallel_result_with_attachment(s: Sheet) -> None:
    """Attachments hang on the results, and the talk goes on from one of them."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.attachment("N1", parent="R1")
    s.attachment("N2", parent="R2")
    s.assistant("A1")


def parallel_result_on_sidechain(s: Sheet) -> None:
    """The result beside the chain is marked as a subagent's."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1")
    s.result("R1", "T1", parent="K1", isSidechain=True)
    s.result("R2", "T2", parent="K2")
    s.assistant("A1")


def parallel_results_behind_the_answer(s: Sheet) -> None:
    """The result beside the chain stands below the next answer in the file."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("A1")
    s.turns(2)
    s.lines.append(s.lines.pop(3))


def parallel_results_behind_the_answer_with_checkpoint(s: Sheet) -> None:
    """The same with a checkpoint at the end."""
    parallel_results_behind_the_answer(s)
    s.checkpoint("A2")


def parallel_call_with_own_branch(s: Sheet) -> None:
    """The result beside the chain has descendants: an abandoned branch."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.assistant("X1", parent="R1")
    s.assistant("A1", parent="R2")


def parallel_call_rewound(s: Sheet) -> None:
    """A rewind to before the parallel calls: none of them comes back."""
    s.turns(1)
    s.user("U2")
    _fan_out(s, 1, 2)
    s.assistant("A2")
    s.turn(3, parent="A1")


def parallel_call_text_beside(s: Sheet) -> None:
    """A text line of the same response hangs beside the chain."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.assistant("X1", message_id="m1", parent="U1")
    s.result("R1", "T1", parent="K1")
    s.assistant("A1")


def parallel_call_beside_without_result(s: Sheet) -> None:
    """A call beside the chain that nobody answered."""
    s.user("U1")
    s.call("K1", "T1", message_id="m1")
    s.call("K2", "T2", message_id="m1", parent="U1")
    s.result("R1", "T1", parent="K1")
    s.assistant("A1")


def parallel_result_twice_beside(s: Sheet) -> None:
    """Two results for the call beside the chain."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.result("Q1", "T1", parent="K1")
    s.assistant("A1", parent="R2")


def parallel_prompt_beside(s: Sheet) -> None:
    """A prompt, not a result, hangs on the call beside the chain."""
    s.user("U1")
    _fan_out(s, 1, 2)
    s.user("V1", parent="K1")
    s.assistant("A1", parent="R2")
