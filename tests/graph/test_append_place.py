"""Where the next message hangs when the end of the file is no place for it."""

from __future__ import annotations

import pytest
from tests.reading import thread_of, transcript_of

from recollect.graph.fork_point import AppendPoint, append_point, last_row_to_append_to
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash, read

LATER = 4_000_000_000.0


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("append place"))


def test_an_empty_file_begins_a_conversation(t: TranscriptBuilder) -> None:
    assert append_point(transcript_of(t), LATER) == AppendPoint(None, True)
    assert last_row_to_append_to(thread_of(t)) is None


def test_the_last_row_also_where_it_only_accompanies(t: TranscriptBuilder) -> None:
    t.user("one")
    t.assistant("two")
    last = t.attachment("date", date="x")
    assert append_point(transcript_of(t), LATER) == AppendPoint(last, True)


def test_results_that_are_put_back_are_no_place_for_it(t: TranscriptBuilder) -> None:
    t.user("one")
    t.parallel([bash("ls", "a"), read("/a", "x")])
    thread = thread_of(t)
    parent, is_read = append_point(transcript_of(t), LATER)
    assert is_read
    assert parent == last_row_to_append_to(thread)
    assert parent not in thread.put_back


def test_a_row_without_a_time_is_no_end_but_one_above_a_message(t: TranscriptBuilder) -> None:
    one = t.user("one")
    t.entry(one)["timestamp"] = "yesterday"
    assert thread_of(t).leaf is None
    assert append_point(transcript_of(t), LATER) == AppendPoint(one, True)


def test_after_a_rewind_to_the_start_it_begins_anew(t: TranscriptBuilder) -> None:
    t.user("one")
    t.last_prompt(leaf=None, explicit=True)
    assert append_point(transcript_of(t), LATER) == AppendPoint(None, True)


def test_a_circle_of_rows_hides_nothing(t: TranscriptBuilder) -> None:
    one, two = t.user("one"), t.assistant("two")
    t.entry(one)["parentUuid"] = two
    t.last_prompt(leaf=one, explicit=True)
    assert append_point(transcript_of(t), LATER) == AppendPoint(one, True)


def test_without_a_place_that_will_do_the_end_is_named_as_such(t: TranscriptBuilder) -> None:
    """Claude Code, told to end on a row of a subagent, would not resume with the message wherever it hangs."""
    t.user("one")
    two = t.assistant("two")
    inside = t.user("of a subagent")
    t.entry(inside)["isSidechain"] = True
    t.last_prompt(leaf=inside, explicit=True)
    assert append_point(transcript_of(t), LATER) == AppendPoint(two, False)


def test_a_row_that_hides_what_hangs_on_it_is_passed_over(t: TranscriptBuilder) -> None:
    """The last row has the uuid of a progress row before it: what hangs there is read as hanging above that one."""
    one = t.user("one")
    progress = t.progress("bash_progress", tool_use_id="toolu_1", parent=one)
    two = t.assistant("two", parent=one)
    last = t.user("three", parent=two)
    t.entry(last)["uuid"] = progress
    assert append_point(transcript_of(t), LATER) == AppendPoint(progress, False)
