"""Rows of odd shapes, by the rules of 2.0.77: copies, times nobody can read, rows without content, calls without a result."""

from __future__ import annotations

import pytest
from tests.reading import transcript_of

from recollect.graph.older import find_thread_of
from recollect.graph.thread import Thread
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("older odd rows"), "/home/dev/orchard", step=30.0)


def found(source: TranscriptBuilder | bytes) -> Thread:
    return find_thread_of(transcript_of(source), "2.0.77")


def said(source: TranscriptBuilder | bytes) -> list[str | None]:
    return [row.uuid for row in found(source).sent]


def test_a_later_copy_takes_the_place_of_a_row(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two")]
    first, second = t.lines
    thread = found(b"\n".join([first, second, first.replace(b"one", b"uno")]) + b"\n")
    assert [row.uuid for row in thread.sent] == rows
    assert [row.index for row in thread.sent] == [2, 1]
    assert thread.placements[0].reason == "a later line with the same uuid counts"


def test_rows_of_subagents_alone_are_no_conversation(t: TranscriptBuilder) -> None:
    t.entry(t.user("one"))["isSidechain"] = True
    thread = found(t)
    assert (thread.leaf, thread.leaf_reason) == (None, "no row of the main conversation")


def test_a_first_row_without_a_time_ends_it(t: TranscriptBuilder) -> None:
    t.entry(t.user("one"))["timestamp"] = "yesterday"
    t.assistant("two")
    assert "no readable time" in found(t).leaf_reason


def test_a_time_that_cannot_be_read_is_equal_to_any_other(t: TranscriptBuilder) -> None:
    """So no row is found to be later than the first one, since the unreadable time stands between them."""
    one, two = t.user("one"), t.assistant("two")
    t.user("three")
    t.entry(two)["timestamp"] = "yesterday"
    assert said(t) == [one]


def test_an_attachment_with_nothing_attached_is_too_odd(t: TranscriptBuilder) -> None:
    t.user("one")
    t.entry(t.attachment("date", date="x"))["attachment"] = None
    t.assistant("two")
    assert "has no content" in found(t).leaf_reason


def test_a_call_without_a_result_is_left_out(t: TranscriptBuilder) -> None:
    prompt = t.user("one")
    t.assistant(tools=[bash("ls")])
    answer = t.assistant("two")
    assert said(t) == [prompt, answer]


def test_an_answer_goes_on_behind_the_results_of_its_calls(t: TranscriptBuilder) -> None:
    """Lines of one response are one message: what was said behind the results stands before them."""
    prompt = t.user("one")
    call = t.assistant(tools=[bash("ls", "a")])
    result = t.results()
    rest = t.assistant("and so")
    t.entry(rest)["message"]["id"] = t.entry(call)["message"]["id"]
    assert said(t) == [prompt, call, rest, result]
