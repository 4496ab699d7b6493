"""The conversation by the rules of older versions. That they are theirs is asked in the compatibility tests."""

from __future__ import annotations

import pytest
from tests.reading import transcript_of

from recollect.graph.older import MEASURED, find_thread_of, sent_as_user
from recollect.graph.thread import Thread, find_thread
from recollect.testing import ALL_AGES, TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash, read


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("older"), "/home/dev/orchard", step=30.0)


def by(t: TranscriptBuilder, version: str) -> Thread:
    return find_thread_of(transcript_of(t.to_bytes()), version)


def said(thread: Thread) -> list[str | None]:
    return [row.uuid for row in thread.sent]


@pytest.mark.parametrize("version", MEASURED)
def test_plain_talk_is_the_same_for_all(version: str, t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
    thread = by(t, version)
    assert said(thread) == rows
    assert {place.status for place in thread.placements} == {"live"}


@pytest.mark.parametrize("version", MEASURED[:2])
def test_the_newest_rules_are_those_of_find_thread(version: str, t: TranscriptBuilder) -> None:
    t.user("one")
    t.parallel([bash("ls", "a\n"), read("/a", "x")], "both")
    assert by(t, version) == find_thread(transcript_of(t.to_bytes()))


def test_2_0_77_ends_on_the_latest_time_and_knows_no_checkpoint(t: TranscriptBuilder) -> None:
    one, two, three = t.user("one"), t.assistant("two"), t.user("three")
    t.rewind(two)
    t.wait(-90)
    other = t.user("three, earlier")
    assert said(by(t, "2.0.77")) == [one, two, three]
    assert said(by(t, "2.1.197")) == [one, two, other]
    assert [place.status for place in by(t, "2.0.77").placements] == ["live", "live", "live", "abandoned"]


def test_2_0_77_loses_the_results_beside_the_chain(t: TranscriptBuilder) -> None:
    t.user("Look at both.")
    t.parallel([bash("ls", "a\n"), read("/a", "x")], "two at once")
    t.assistant("Seen.")
    older, newest = by(t, "2.0.77"), by(t, MEASURED[0])
    assert len(older.sent) < len(newest.sent)
    assert {row.uuid for row in older.sent} < {row.uuid for row in newest.sent}
    assert older.put_back == frozenset()


def test_2_0_77_repairs_no_link(t: TranscriptBuilder) -> None:
    t.user("one")
    t.wait(-29)
    t.assistant("two", parent="nowhere")
    last = t.user("three")
    assert len(by(t, MEASURED[0]).repaired_links) == 1
    assert said(by(t, "2.0.77")) == [t.row_uuids[1], last]


def test_2_0_77_hangs_on_a_circle(t: TranscriptBuilder) -> None:
    one, two = t.user("one"), t.assistant("two")
    t.entry(one)["parentUuid"] = two
    thread = by(t, "2.0.77")
    assert not thread.found
    assert "hangs" in thread.leaf_reason
    assert by(t, "2.1.197").found


def test_2_0_77_reads_no_object_of_a_line_with_two(t: TranscriptBuilder) -> None:
    one, two, three = t.user("one"), t.assistant("two"), t.user("three")
    first, second, third = t.lines
    data = first + b"\n" + second + third + b"\n"
    assert said(find_thread_of(transcript_of(data), "2.0.77")) == [one]
    assert said(find_thread_of(transcript_of(data), MEASURED[0])) == [one, two]
    assert three


def test_2_1_197_takes_the_last_line_for_the_end(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two"), t.user("three")]
    lines = t.lines
    data = b"\n".join([lines[0], lines[2], lines[1]]) + b"\n"
    assert said(find_thread_of(transcript_of(data), "2.1.197")) == rows[:2]
    assert said(find_thread_of(transcript_of(data), MEASURED[0])) == rows


def test_2_1_197_drops_calls_at_which_the_talk_broke_off(t: TranscriptBuilder) -> None:
    prompt = t.user("one")
    call = t.assistant(tools=[bash("ls")])
    assert said(by(t, "2.1.197")) == [prompt]
    assert said(by(t, MEASURED[0])) == [prompt, call]


@pytest.mark.parametrize(("version", "fails"), [("2.1.326", False), ("2.1.197", True), ("2.0.77", False)])
def test_2_1_197_hangs_without_a_model(version: str, fails: bool, t: TranscriptBuilder) -> None:
    t.user("one")
    del t.entry(t.assistant("two"))["message"]["model"]
    assert by(t, version).found is not fails


@pytest.mark.parametrize("content", ["a text", None])
def test_older_versions_fail_on_answers_of_odd_shapes(content: str | None, t: TranscriptBuilder) -> None:
    t.user("one")
    t.entry(t.assistant("two"))["message"]["content"] = content
    t.user("three")
    assert by(t, MEASURED[0]).found
    assert not by(t, "2.1.197").found
    assert not by(t, "2.0.77").found


def test_answers_of_local_commands_are_sent_as_the_users_words(t: TranscriptBuilder) -> None:
    t.user("one")
    before = t.system("local_command", "little")
    t.system("informational", "nothing")
    t.assistant("two")
    t.compact()
    after = t.system("local_command", "more")
    t.user("three")
    assert before
    for version, expected in ((MEASURED[0], [after]), ("2.1.197", [after]), ("2.0.77", [])):
        assert [row.uuid for row in sent_as_user(by(t, version), version)] == expected


@pytest.mark.parametrize("age", ALL_AGES)
@pytest.mark.parametrize("version", MEASURED)
def test_every_row_has_its_place(version: str, age: str) -> None:
    t = TranscriptBuilder(uuid_from("older", age), "/home/dev/orchard", age, step=30.0)
    first = t.user("one")
    t.subagent("Find it.").finish("Found.")
    t.rewind(first)
    t.parallel([bash("ls", "a\n"), read("/a", "x")], "both")
    t.compact()
    t.user("two")
    transcript = transcript_of(t.to_bytes())
    thread = find_thread_of(transcript, version)
    assert len(thread.placements) == len(transcript.rows)
    assert {row.index for row in thread.sent} <= {
        number for number, place in enumerate(thread.placements) if place.status == "live"
    }
