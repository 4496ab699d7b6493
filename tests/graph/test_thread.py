"""The active conversation: the walk, its repair of links, compaction, every age and every kind of damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.reading import sent, thread_of, transcript_of

from recollect.graph.thread import find_thread
from recollect.testing import ALL_AGES, DAMAGES, DamageRecipe, TranscriptBuilder, build_age, sample_session, uuid_from
from recollect.testing.toolcalls import bash

CLOSE, FAR = 5.0, 5.001


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("thread"), step=CLOSE)


def test_a_plain_conversation() -> None:
    t = sample_session()
    thread = thread_of(t)
    assert [row.uuid for row in thread.chain] == [row.uuid for row in thread.sent] == t.row_uuids
    assert thread.found
    assert thread.repaired_links == {}
    assert thread.put_back == frozenset()
    assert thread.reachable_share == 1.0


@pytest.mark.parametrize("version", ALL_AGES)
def test_every_age(version: str, tmp_path: Path) -> None:
    for session in build_age(tmp_path / "claude", version).sessions:
        assert sent(session.path.read_bytes()) == list(session.thread)


MEASURED = [recipe for recipe in DAMAGES.values() if recipe.outcome is not None and recipe.rename is None]


@pytest.mark.parametrize("recipe", MEASURED, ids=lambda recipe: recipe.name)
def test_damage_leaves_what_the_client_still_finds(recipe: DamageRecipe) -> None:
    for seed in (0, 1, 2, 9):
        assert sent(recipe.make(seed)) == recipe.expected_thread(seed)


@pytest.mark.parametrize("recipe", DAMAGES.values(), ids=DAMAGES)
def test_damage_of_any_kind_has_a_thread_of_some_kind(recipe: DamageRecipe) -> None:
    """Also where the client was not asked: nothing raises, and nothing is there twice."""
    thread = thread_of(recipe.make(4))
    indexes = [row.index for row in thread.chain]
    assert len(indexes) == len(set(indexes))
    assert {row.index for row in thread.sent} <= set(indexes)


class TestMending:
    def lost_line(self, t: TranscriptBuilder) -> tuple[list[str], bytes]:
        """Four rows, of which the third is not in the file."""
        rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
        lines = [line for line in t.lines if json.loads(line)["uuid"] != rows[2]]
        return rows, b"\n".join(lines) + b"\n"

    def test_a_lost_line_is_bridged_if_the_row_before_is_close(self, t: TranscriptBuilder) -> None:
        t.step = 2.5
        rows, data = self.lost_line(t)
        thread = thread_of(data)
        assert [row.uuid for row in thread.sent] == [rows[0], rows[1], rows[3]]
        assert thread.repaired_links == {rows[3]: rows[1]}

    def test_five_seconds_are_close_and_a_little_more_are_not(self) -> None:
        for gap, repaired in ((CLOSE, True), (FAR, False)):
            t = TranscriptBuilder(uuid_from("gap"), step=gap)
            one = t.user("one")
            two = t.assistant("two", parent="nowhere")
            assert sent(t) == ([one, two] if repaired else [two])

    def test_less_than_a_millisecond_does_not_count(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two", parent="nowhere")
        t.entry(one)["timestamp"] = "2026-03-02T09:00:00.000000Z"
        t.entry(two)["timestamp"] = "2026-03-02T09:00:05.000800Z"
        assert sent(t) == [one, two]

    def test_the_row_itself_is_not_taken(self, t: TranscriptBuilder) -> None:
        one = t.user("one", parent="nowhere")
        assert sent(t) == [one]

    def test_a_row_of_a_subagent_is_not_taken(self, t: TranscriptBuilder) -> None:
        t.step = 1.0
        one = t.user("one")
        t.entry(t.user("subagent", parent=None))["isSidechain"] = True
        two = t.assistant("two", parent="nowhere")
        assert sent(t) == [one, two]

    def test_not_said_is_another_side_than_no(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        two = t.assistant("two", parent="nowhere")
        t.entry(one).pop("isSidechain")
        assert sent(t) == [two]
        t.entry(two).pop("isSidechain")
        assert sent(t) == [one, two]

    def test_a_row_without_a_time_is_not_repaired(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two", parent="nowhere")
        three = t.user("three")
        t.entry(two)["timestamp"] = None
        assert sent(t) == [two, three]

    def test_a_later_row_is_not_taken(self, t: TranscriptBuilder) -> None:
        two = t.assistant("two", parent="nowhere")
        t.user("one", parent=None)
        t.last_prompt(leaf=two, explicit=True)
        assert sent(t) == [two]

    def test_a_second_root_is_never_repaired(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two", parent=None)
        assert sent(t) == [two]

    def test_an_empty_parent_is_a_root(self, t: TranscriptBuilder) -> None:
        t.user("one")
        two = t.assistant("two", parent="")
        assert sent(t) == [two]

    def test_a_parent_that_is_a_number_is_a_missing_one(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.entry(two)["parentUuid"] = 17
        assert sent(t) == [one, two]

    def test_many_lost_links_in_a_row(self, t: TranscriptBuilder) -> None:
        rows = [t.user(str(number), parent=None if number == 0 else "nowhere") for number in range(3_000)]
        thread = thread_of(t)
        assert [row.uuid for row in thread.chain] == rows
        assert len(thread.repaired_links) == 2_999


class TestCircles:
    def test_the_whole_chain(self, t: TranscriptBuilder) -> None:
        rows = [t.user("one"), t.assistant("two"), t.user("three")]
        t.entry(rows[0])["parentUuid"] = rows[2]
        assert sent(t) == rows

    def test_a_row_that_is_its_own_parent(self) -> None:
        t = TranscriptBuilder(uuid_from("circle"), step=FAR)
        t.user("one")
        two = t.assistant("two")
        three = t.user("three")
        t.entry(two)["parentUuid"] = two
        assert sent(t) == [two, three]

    def test_a_circle_within_five_seconds_is_repaired_around(self, t: TranscriptBuilder) -> None:
        rows = [t.user("one"), t.assistant("two"), t.user("three")]
        t.entry(rows[1])["parentUuid"] = rows[2]
        thread = thread_of(t)
        assert [row.uuid for row in thread.sent] == rows
        assert thread.repaired_links == {rows[1]: rows[0]}


class TestCompaction:
    def test_the_thread_starts_behind_the_last_boundary(self, t: TranscriptBuilder) -> None:
        before = [t.user("one"), t.assistant("two")]
        summary = t.compact()
        after = [t.user("three"), t.assistant("four")]
        thread = thread_of(t)
        assert [row.uuid for row in thread.chain] == [summary, *after]
        assert [row.uuid for row in thread.summarised][:2] == before

    def test_the_last_of_several(self, t: TranscriptBuilder) -> None:
        history = []
        for number in range(3):
            history += [t.user(f"question {number}"), t.assistant("answer")]
            summary = t.compact()
        end = t.user("end")
        thread = thread_of(t)
        assert [row.uuid for row in thread.sent] == [summary, end]
        assert set(history) < {row.uuid for row in thread.summarised}
        indexes = [row.index for row in thread.summarised]
        assert indexes == sorted(set(indexes))

    def test_a_boundary_that_has_a_parent_cuts_all_the_same(self, t: TranscriptBuilder) -> None:
        two = t.assistant("two", parent=t.user("one"))
        summary = t.compact()
        t.entry(t.row_uuids[-2])["parentUuid"] = two
        assert sent(t) == [summary]

    def test_preserved_messages_stand_behind_the_summary(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("two")
        t.user("three")
        call = t.assistant(tools=[bash("ls", "a")])
        result = t.results()
        summary = t.compact(preserved=[call, result])
        after = [t.assistant("four"), t.user("five")]
        assert sent(t) == [summary, call, result, *after] == t.thread

    def test_a_rewind_behind_the_compaction_goes_into_the_past(self, t: TranscriptBuilder) -> None:
        t.step = FAR
        one, two = t.user("one"), t.assistant("two")
        t.user("three")
        t.compact()
        t.rewind(two)
        four = t.user("four")
        assert sent(t) == [one, two, four]


class TestRowsBesideTheMessages:
    def test_attachments_are_in_the_chain_and_are_not_sent(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        note = t.attachment("date", date="x")
        two = t.assistant("two")
        thread = thread_of(t)
        assert [row.uuid for row in thread.chain] == [one, note, two]
        assert [row.uuid for row in thread.sent] == [one, two]

    def test_what_hangs_below_the_last_message_belongs_to_it(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        duration = t.system("turn_duration", durationMs=1)
        note = t.attachment("date", date="x")
        assert [row.uuid for row in thread_of(t).chain] == [one, two, duration, note]

    def test_progress_rows_are_passed_over(self) -> None:
        t = TranscriptBuilder(uuid_from("progress"), version="2.1.20", step=FAR)
        one = t.user("one")
        t.progress("bash_progress", tool_use_id="x", output="")
        t.progress("bash_progress", tool_use_id="x", output="")
        two = t.assistant("two")
        assert [row.uuid for row in thread_of(t).chain] == [one, two]


def test_a_chain_of_fifty_thousand_rows_needs_no_recursion() -> None:
    number = 50_000
    line = b'{"parentUuid":%s,"type":"user","uuid":"%d","timestamp":"2026-03-02T09:00:00Z","message":{"content":"x"}}\n'
    data = b"".join(line % (b"null" if place == 0 else b'"%d"' % (place - 1), place) for place in range(number))
    thread = thread_of(data)
    assert len(thread.chain) == number
    assert thread.reachable_share == 1.0


def test_a_chain_of_attachments_and_progress_needs_no_recursion() -> None:
    number = 20_000
    kinds = [b'"attachment","attachment":{"type":"x"}', b'"progress","data":{}', b'"user","message":null']
    line = b'{"parentUuid":%s,"uuid":"%d","timestamp":"2026-03-02T09:00:00Z","type":%s}\n'
    data = (
        b'{"parentUuid":null,"uuid":"0","timestamp":"2026-03-02T09:00:00Z","type":"user","message":{"content":"x"}}\n'
    )
    data += b"".join(line % (b'"%d"' % (place - 1), place, kinds[place % 3]) for place in range(1, number))
    thread = thread_of(data)
    assert [row.uuid for row in thread.sent] == ["0"]
    assert len(thread.placements) == number


def test_the_same_file_gives_the_same_thread() -> None:
    data = DAMAGES["cycle-middle"].make()
    assert thread_of(data) == thread_of(data)


def test_reading_does_not_change_the_transcript() -> None:
    t = sample_session()
    t.compact(preserved=t.row_uuids[-2:])
    transcript = transcript_of(t)
    before = [repr(row) for row in transcript.rows]
    find_thread(transcript)
    assert [repr(row) for row in transcript.rows] == before
