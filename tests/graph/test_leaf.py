"""Where the conversation ends: checkpoints of all kinds, rewinds, and files without either."""

from __future__ import annotations

import pytest
from tests.reading import sent, thread_of, transcript_of

from recollect.graph.client_state import load_as_client
from recollect.graph.leaf import Leaf, choose_leaf
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash


def leaf_of(t: TranscriptBuilder) -> Leaf:
    return choose_leaf(load_as_client(transcript_of(t)))


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("leaf"))


class TestWithoutCheckpoint:
    def test_the_last_row_in_the_file(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two")
        assert leaf_of(t) == Leaf(two, "last row in the file")

    def test_by_file_order_and_not_by_time(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.entry(one)["timestamp"], t.entry(two)["timestamp"] = t.entry(two)["timestamp"], t.entry(one)["timestamp"]
        assert leaf_of(t).uuid == two

    def test_in_a_file_out_of_order_its_newest_descendant(self, t: TranscriptBuilder) -> None:
        one, two, three = t.user("one"), t.assistant("two"), t.user("three")
        lines = t.lines
        leaf = choose_leaf(load_as_client(transcript_of(b"\n".join([lines[2], lines[1], lines[0]]) + b"\n")))
        assert leaf == Leaf(three, "newest row below the last one in the file")
        assert sent(b"\n".join([lines[2], lines[1], lines[0]]) + b"\n") == [one, two, three]

    def test_a_newer_row_elsewhere_is_not_taken(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.wait(1000)
        t.assistant("other branch")
        t.wait(-2000)
        last = t.assistant("last", parent=one)
        assert leaf_of(t).uuid == last

    def test_subagents_rows_do_not_count(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two")
        t.entry(t.user("subagent", parent=None))["isSidechain"] = True
        assert leaf_of(t).uuid == two

    @pytest.mark.parametrize("kind", ["attachment", "system"])
    def test_from_what_is_no_message_up_to_the_nearest_one(self, t: TranscriptBuilder, kind: str) -> None:
        t.user("one")
        two = t.assistant("two")
        if kind == "attachment":
            t.attachment("date", date="x")
            t.attachment("date", date="y")
        else:
            t.system("turn_duration", durationMs=1)
        assert leaf_of(t).uuid == two

    @pytest.mark.parametrize("time", [None, 1_772_442_000_000, "yesterday", ""])
    def test_it_needs_a_time(self, t: TranscriptBuilder, time: object) -> None:
        t.user("one")
        t.entry(t.assistant("two"))["timestamp"] = time
        leaf = leaf_of(t)
        assert leaf.uuid is None
        assert leaf.why == "no user or assistant row with a readable time"
        assert not thread_of(t).found

    def test_a_time_as_in_mails_will_do(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two")
        t.entry(two)["timestamp"] = "Mon, 02 Mar 2026 10:00:00 GMT"
        assert leaf_of(t).uuid == two


class TestNothingThere:
    def test_no_rows(self, t: TranscriptBuilder) -> None:
        t.state("mode", mode="normal")
        assert leaf_of(t) == Leaf(None, "no rows")

    def test_only_subagents(self, t: TranscriptBuilder) -> None:
        for uuid in (t.user("one"), t.assistant("two")):
            t.entry(uuid)["isSidechain"] = True
        assert leaf_of(t).uuid is None
        assert not thread_of(t).found

    def test_a_checkpoint_on_a_subagents_row(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("two")
        side = t.user("subagent", parent=None)
        t.entry(side)["isSidechain"] = True
        t.last_prompt(leaf=side)
        assert leaf_of(t) == Leaf(None, "the conversation would end on a subagent's row")

    def test_nothing_but_attachments_is_a_conversation_that_says_nothing(self, t: TranscriptBuilder) -> None:
        t.attachment("date", date="x")
        t.system("informational", "hello")
        thread = thread_of(t)
        assert thread.found
        assert thread.sent == []


class TestCheckpoint:
    def test_it_stands_if_what_follows_does_not_descend_from_it(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.last_prompt("one", leaf=two)
        t.user("three", parent=one)
        assert leaf_of(t) == Leaf(two, "checkpoint")

    def test_the_last_row_counts_if_it_descends_from_it(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt("one")
        t.assistant("two")
        three = t.user("three")
        assert leaf_of(t) == Leaf(three, "last row, after the checkpoint")

    def test_unknown_it_is_ignored(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two")
        t.last_prompt("one", leaf="nowhere")
        assert leaf_of(t) == Leaf(two, "last row in the file")

    def test_unknown_it_still_keeps_the_newest_descendant_away(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("two")
        t.last_prompt("one", leaf="nowhere")
        lines = t.lines
        swapped = b"\n".join([lines[1], lines[0], lines[2]]) + b"\n"
        assert choose_leaf(load_as_client(transcript_of(swapped))).uuid == t.row_uuids[0]

    def test_on_purpose_it_stands_even_on_an_inner_row(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.user("three")
        t.assistant("four")
        t.last_prompt(leaf=two, explicit=True)
        assert leaf_of(t) == Leaf(two, "checkpoint")
        assert sent(t) == [one, two]

    def test_in_passing_it_does_not_stand_on_an_inner_row(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two")
        t.user("three")
        four = t.assistant("four")
        t.last_prompt(leaf=two)
        assert leaf_of(t).uuid == four

    def test_null_on_purpose_is_an_empty_conversation(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt(leaf=None, explicit=True)
        thread = thread_of(t)
        assert leaf_of(t) == Leaf(None, "rewound to before the first prompt", cleared=True)
        assert thread.found
        assert thread.sent == []

    def test_rows_after_null_on_purpose_are_the_conversation(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt(leaf=None, explicit=True)
        rows = [t.user("two", parent=None), t.assistant("three")]
        assert sent(t) == rows

    def test_on_an_attachment_the_message_above_it(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two")
        note = t.attachment("date", date="x")
        t.last_prompt(leaf=note, explicit=True)
        assert leaf_of(t).uuid == two

    def test_before_the_last_boundary_it_is_forgotten(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt(explicit=True)
        summary = t.compact()
        assert leaf_of(t).uuid == summary


class TestRewind:
    def test_the_new_way_counts(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.user("three")
        t.assistant("four")
        t.last_prompt("three")
        t.rewind(two)
        five, six = t.user("five"), t.assistant("six")
        assert sent(t) == [one, two, five, six] == t.thread

    def test_before_anything_new_was_said_the_old_way_is_still_the_last(self, t: TranscriptBuilder) -> None:
        rows = [t.user("one"), t.assistant("two")]
        t.last_prompt("one")
        t.rewind(rows[0])
        assert sent(t) == rows

    def test_to_the_start(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("two")
        t.last_prompt("one")
        t.rewind(None)
        rows = [t.user("three"), t.assistant("four")]
        assert sent(t) == rows == t.thread

    def test_twice(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        for text in ("three", "four"):
            t.user(text)
            t.assistant("answer")
            t.last_prompt(text)
            t.rewind(two)
        five = t.user("five")
        assert sent(t) == [one, two, five]

    def test_there_and_back_again_by_a_checkpoint(self, t: TranscriptBuilder) -> None:
        one, two, three, four = t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")
        t.rewind(two)
        t.user("five")
        t.last_prompt("three", leaf=four, explicit=True)
        assert sent(t) == [one, two, three, four]


class TestParallelCalls:
    def test_talk_that_goes_on_from_another_call_of_the_same_response(self, t: TranscriptBuilder) -> None:
        """The checkpoint stands on one result, the conversation went on from the other."""
        t.user("look")
        t.assistant("at both", tools=[bash("a", "1"), bash("b", "2")])
        first, second = list(t.calls)
        first_result = t.tool_result(first)
        second_result = t.tool_result(second)
        t.last_prompt("look", leaf=first_result)
        end = t.assistant("done", parent=second_result)
        assert leaf_of(t).uuid == end

    def test_not_if_the_checkpoint_was_ever_set_on_purpose(self, t: TranscriptBuilder) -> None:
        t.user("look")
        t.assistant("at both", tools=[bash("a", "1"), bash("b", "2")])
        first, second = list(t.calls)
        first_result = t.tool_result(first)
        t.last_prompt("look", leaf=first_result, explicit=True)
        second_result = t.tool_result(second)
        t.assistant("done", parent=second_result)
        assert leaf_of(t).uuid == first_result


class TestAfterPreservedMessages:
    def test_nothing_new(self, t: TranscriptBuilder) -> None:
        rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
        summary = t.compact(preserved=rows[2:])
        assert sent(t) == [summary, *rows[2:]]

    def test_new_rows(self, t: TranscriptBuilder) -> None:
        rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
        summary = t.compact(preserved=rows[2:])
        new = [t.user("five"), t.assistant("six")]
        t.last_prompt("five")
        assert sent(t) == [summary, *rows[2:], *new]

    def test_the_checkpoint_if_there_are_several_ends(self, t: TranscriptBuilder) -> None:
        rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
        summary = t.compact(preserved=rows[2:])
        five, six = t.user("five"), t.assistant("six")
        t.last_prompt("five", leaf=six)
        t.user("seven", parent=summary)
        assert leaf_of(t).uuid == six
        assert sent(t) == [summary, *rows[2:], five, six]


class TestTies:
    def test_of_open_ends_of_the_same_time_the_first_is_taken(self, t: TranscriptBuilder) -> None:
        """Several ends are candidates only where no checkpoint and no last row decides: snapshots follow the last row."""
        one = t.user("one")
        first = t.assistant("first", parent=one)
        second = t.assistant("second", parent=one)
        third = t.assistant("third", parent=one)
        for uuid in (first, second, third):
            t.entry(uuid)["timestamp"] = "2026-03-01T12:00:00.000Z"
        t.entry(third)["timestamp"] = "2026-03-01T11:00:00.000Z"
        t.system("file_snapshot", "", parent=third)
        assert leaf_of(t) == Leaf(first, "newest open end")
