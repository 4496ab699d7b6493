"""Calls and results that hang beside the chain are put back into it."""

from __future__ import annotations

import pytest
from tests.reading import sent, thread_of

from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("parallel"))


def test_results_hang_on_their_own_calls_and_all_are_sent(t: TranscriptBuilder) -> None:
    t.user("look")
    t.parallel([bash("a", "1"), bash("b", "2"), bash("c", "3")], "at all three")
    t.assistant("done")
    thread = thread_of(t)
    assert [row.uuid for row in thread.sent] == t.thread == t.row_uuids
    assert thread.put_back == set(t.row_uuids[5:7])  # the walk passes the last result only


def test_a_fan_of_two_hundred(t: TranscriptBuilder) -> None:
    t.user("look")
    t.parallel([bash(str(number), "x") for number in range(200)])
    t.assistant("done")
    assert sent(t) == t.row_uuids


def test_several_fans_in_a_row(t: TranscriptBuilder) -> None:
    t.user("look")
    for _ in range(5):
        t.parallel([bash("a", "1"), bash("b", "2")], "both", thinking="hm")
    t.assistant("done")
    assert sent(t) == t.row_uuids


def test_results_written_before_the_next_call_keep_their_place(t: TranscriptBuilder) -> None:
    """A quick tool answers while the response still streams: call, result, call, result."""
    t.user("look")
    t.assistant(tools=[bash("a", "1"), bash("b", "2")])
    first, second = list(t.calls)
    one, two = (t.tool_lines[call] for call in (first, second))
    result_one = t.tool_result(first)
    result_two = t.tool_result(second)
    end = t.assistant("done")
    lines = t.lines
    data = b"\n".join([lines[0], lines[1], lines[3], lines[2], lines[4], lines[5]]) + b"\n"
    thread = thread_of(data)
    assert [row.uuid for row in thread.chain] == [t.row_uuids[0], one, result_one, two, result_two, end]
    # In the request the calls of one response come first, then their results.
    assert [row.uuid for row in thread.sent] == [t.row_uuids[0], one, two, result_one, result_two, end]


def test_a_line_of_the_response_that_hangs_beside_is_put_back(t: TranscriptBuilder) -> None:
    prompt = t.user("look")
    t.assistant("words", thinking="hm")
    thought, words = t.row_uuids[1:]
    t.entry(words)["parentUuid"] = prompt  # both lines hang on the prompt
    end = t.user("next")
    thread = thread_of(t)
    assert thread.put_back == {thought}
    # Behind the line that the walk passed, as the client does it.
    assert [row.uuid for row in thread.sent] == [prompt, words, thought, end]


def test_attachments_of_results_beside_the_chain_come_along(t: TranscriptBuilder) -> None:
    t.user("look")
    t.assistant(tools=[bash("a", "1"), bash("b", "2")])
    first, second = list(t.calls)
    t.tool_result(first)
    note = t.attachment("diagnostics")
    t.tool_result(second)
    t.assistant("done")
    thread = thread_of(t)
    assert note in {row.uuid for row in thread.chain}
    assert [row.uuid for row in thread.chain] == t.row_uuids


def test_a_result_that_names_its_call_but_hangs_elsewhere(t: TranscriptBuilder) -> None:
    prompt = t.user("look")
    t.assistant(tools=[bash("a", "1"), bash("b", "2")])
    first, second = list(t.calls)
    strayed = t.tool_result(first, parent=prompt)
    t.tool_result(second)
    t.assistant("done")
    assert strayed in sent(t)
    assert len(sent(t)) == len(t.row_uuids)


def test_a_row_of_another_response_is_not_taken(t: TranscriptBuilder) -> None:
    one = t.user("look")
    other = t.assistant("another attempt")
    t.rewind(one)
    end = t.assistant("the one that counts")
    assert sent(t) == [one, end]
    assert other not in {row.uuid for row in thread_of(t).chain}


def test_a_result_of_a_rewound_call_stays_away(t: TranscriptBuilder) -> None:
    one = t.user("look")
    t.parallel([bash("a", "1"), bash("b", "2")])
    t.rewind(one)
    end = t.assistant("never mind")
    assert sent(t) == [one, end]


@pytest.mark.parametrize("field", ["id", "requestId"])
def test_without_ids_of_the_response_nothing_is_put_back_twice(t: TranscriptBuilder, field: str) -> None:
    t.user("look")
    t.parallel([bash("a", "1"), bash("b", "2")])
    t.assistant("done")
    for uuid in t.row_uuids:
        t.entry(uuid).pop(field, None)
        t.entry(uuid)["message"].pop(field, None)
    indexes = [row.index for row in thread_of(t).chain]
    assert len(indexes) == len(set(indexes))


def test_an_assistant_row_without_a_uuid_is_in_the_chain_once(t: TranscriptBuilder) -> None:
    t.user("look")
    last = t.assistant("done")
    t.entry(last).pop("uuid")
    indexes = [row.index for row in thread_of(t).chain]
    assert indexes == [0, 1]


@pytest.mark.parametrize("branch", [False, True])
def test_a_meta_line_beside_the_chain_comes_along_unless_talk_went_on_from_it(
    t: TranscriptBuilder, branch: bool
) -> None:
    """What hangs on a call is put back if it is a single line of rows that nobody answered."""
    t.user("look")
    call = t.assistant(tools=[bash("a", "1")])
    meta = t.user("a reminder", meta=True, parent=call)
    if branch:
        t.user("another way, left later", parent=meta)
    t.tool_result(next(iter(t.calls)))
    t.assistant("done")
    assert (meta in sent(t)) is not branch


def test_of_a_response_put_back_no_line_without_a_uuid_comes_twice(t: TranscriptBuilder) -> None:
    t.user("look")
    t.assistant(tools=[bash("a", "1"), bash("b", "2")])
    first, second = t.row_uuids[1:]
    t.entry(second)["parentUuid"] = t.row_uuids[0]  # the first line is beside the chain now
    t.entry(second)["uuid"] = None
    indexes = [row.index for row in thread_of(t).chain]
    assert first in {row.uuid for row in thread_of(t).chain}
    assert len(indexes) == len(set(indexes))
