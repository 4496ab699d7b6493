"""The clean-up before a request: which rows of the conversation reach the model."""

from __future__ import annotations

import pytest
from tests.reading import sent, thread_of, transcript_of

from recollect.graph.request import is_dropped_error
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("request"))


class TestErrors:
    def test_the_clients_own_errors_are_left_out(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.api_error()
        two = t.user("again")
        three = t.assistant("three")
        assert sent(t) == [one, two, three]

    def test_also_at_the_end(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.api_error()
        assert sent(t) == [one]
        assert thread_of(t).found

    def test_the_flag_on_a_row_of_a_real_model_changes_nothing(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        two = t.assistant("two", isApiErrorMessage=True)
        assert sent(t) == [one, two]
        assert not is_dropped_error(transcript_of(t).rows[1])

    def test_without_a_model_it_is_an_error(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.entry(t.assistant("two", isApiErrorMessage=True))["message"].pop("model")
        assert sent(t) == [one]


class TestCallsWithoutResults:
    def test_in_the_middle_they_are_left_out(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.assistant(tools=[bash("ls")])
        two = t.user("two")
        assert sent(t) == [one, two]

    def test_words_on_lines_of_their_own_stay(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.assistant("I will look.", tools=[bash("ls")])
        words = t.row_uuids[1]
        two = t.user("two")
        assert sent(t) == [one, words, two]

    def test_words_on_the_same_line_go_with_the_call(self) -> None:
        t = TranscriptBuilder(uuid_from("whole"), version="1.0.0")
        one = t.user("one")
        t.assistant("I will look.", tools=[bash("ls")])
        two = t.user("two")
        assert sent(t) == [one, two]

    def test_at_the_end_they_stay(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        call = t.assistant(tools=[bash("ls")])
        assert sent(t) == [one, call]

    def test_of_two_calls_the_answered_one_stays(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.assistant(tools=[bash("a", "1"), bash("b", "2")])
        first, second = list(t.calls)
        result = t.tool_result(second)
        end = t.assistant("done")
        assert sent(t) == [one, t.tool_lines[second], result, end]
        assert t.tool_lines[first] not in sent(t)


class TestResultsWithoutCalls:
    def test_they_are_left_out(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.tool_result("toolu_unknown", "late")
        end = t.assistant("end")
        assert sent(t) == [one, two, end]

    def test_words_beside_them_are_sent(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        result = {"type": "tool_result", "tool_use_id": "toolu_unknown", "content": "late"}
        mixed = t.user([result, {"type": "text", "text": "words"}])
        assert sent(t) == [one, two, mixed]

    def test_a_second_result_is_left_out(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        call = t.assistant(tools=[bash("ls", "a")])
        ident = next(iter(t.calls))
        first = t.tool_result(ident)
        t.tool_result(ident, "again", parent=first)
        end = t.assistant("end")
        assert sent(t) == [one, call, first, end]


class TestThoughts:
    def test_alone_they_are_left_out(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.assistant(blocks=[{"type": "thinking", "thinking": "hm", "signature": "s"}])
        two = t.user("two")
        assert sent(t) == [one, two]

    def test_with_words_on_another_line_they_are_sent(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("words", thinking="hm")
        assert sent(t) == t.row_uuids


class TestOrder:
    def test_results_come_before_words(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        call = t.assistant(tools=[bash("ls", "a")])
        meta = t.user("a reminder", meta=True)
        result = t.tool_result(next(iter(t.calls)), parent=meta)
        end = t.assistant("end")
        assert sent(t) == [one, call, result, meta, end]

    def test_meta_lines_and_summaries_are_sent(self, t: TranscriptBuilder) -> None:
        t.user("one")
        summary = t.compact()
        meta = t.user("caveat", meta=True)
        assert sent(t) == [summary, meta]

    def test_a_call_that_was_made_before_is_sent_once(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        call = t.assistant(tools=[bash("ls", "a", id="toolu_same")])
        result = t.tool_result("toolu_same")
        t.assistant(tools=[bash("ls", "a", id="toolu_same")])
        end = t.user("end")
        assert sent(t) == [one, call, result, end]

    def test_unknown_blocks_are_sent_as_they_are(self, t: TranscriptBuilder) -> None:
        one = t.user([{"type": "hologram", "data": "x"}])
        two = t.assistant(blocks=[{"type": "hologram"}])
        assert sent(t) == [one, two]
