"""Every row of a file has one status and a reason; and how much of the conversation the client still reaches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.reading import SMALL_DAMAGES, thread_of, transcript_of

from recollect.graph.thread import STATUSES
from recollect.testing import ALL_AGES, DAMAGES, DamageRecipe, TranscriptBuilder, build_age, sample_session, uuid_from
from recollect.testing.toolcalls import bash


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("statuses"))


def statuses(t: TranscriptBuilder) -> list[str]:
    return [item.status for item in thread_of(t).placements]


def reasons(t: TranscriptBuilder) -> list[str]:
    return [item.reason for item in thread_of(t).placements]


def test_live_rows_say_whether_they_are_sent(t: TranscriptBuilder) -> None:
    t.user("one")
    t.attachment("date", date="x")
    t.api_error()
    t.assistant(blocks=[{"type": "thinking", "thinking": "hm"}])
    t.assistant(tools=[bash("ls")])
    t.tool_result("toolu_unknown", "late")
    t.user("end")
    assert set(statuses(t)) == {"live"}
    assert reasons(t) == [
        "sent to the model",
        "part of the conversation",
        "an API error, not sent",
        "thoughts without an answer, not sent",
        "a call that was never answered, not sent",
        "a result without its call, not sent",
        "sent to the model",
    ]


def test_a_branch_that_was_left_by_a_rewind(t: TranscriptBuilder) -> None:
    one, two = t.user("one"), t.assistant("two")
    t.user("three")
    t.assistant("four")
    t.rewind(two)
    t.user("five")
    assert statuses(t) == ["live", "live", "abandoned", "abandoned", "live"]
    assert reasons(t)[2] == reasons(t)[3] == f"on a branch that left the conversation at {two}"
    assert one
    assert thread_of(t).reachable_share == 1.0


def test_everything_before_a_rewind_to_the_start(t: TranscriptBuilder) -> None:
    t.user("one")
    t.assistant("two")
    t.rewind(None)
    t.user("three")
    assert statuses(t) == ["abandoned", "abandoned", "live"]
    assert reasons(t)[0] == "left by a rewind to the start"
    assert thread_of(t).reachable_share == 1.0


def test_before_a_compaction(t: TranscriptBuilder) -> None:
    t.user("one")
    t.assistant("two")
    t.compact()
    t.user("three")
    assert statuses(t) == ["precompact", "precompact", "precompact", "live", "live"]
    assert thread_of(t).reachable_share == 1.0


def test_preserved_rows_are_live_and_the_rest_is_summarised(t: TranscriptBuilder) -> None:
    rows = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
    t.compact(preserved=rows[2:])
    assert statuses(t) == ["precompact", "precompact", "live", "live", "precompact", "live"]


def test_before_the_first_of_two_compactions(t: TranscriptBuilder) -> None:
    for text in ("one", "two"):
        t.user(text)
        t.parallel([bash("a", "1"), bash("b", "2")])
        t.compact()
    t.user("end")
    found = Counter(statuses(t))
    assert found == {"precompact": 5 + 1 + 1 + 5 + 1, "live": 2}


def test_a_branch_that_left_before_the_compaction(t: TranscriptBuilder) -> None:
    one = t.user("one")
    t.assistant("left")
    t.rewind(one)
    t.assistant("two")
    t.compact()
    assert statuses(t) == ["precompact", "abandoned", "precompact", "precompact", "live"]


def test_subagents_inside_the_main_file() -> None:
    t = TranscriptBuilder(uuid_from("inside"), version="2.0.26")
    t.user("one")
    subagent = t.subagent("look into it")
    subagent.assistant("I looked")
    subagent.finish("done")
    t.assistant("thanks")
    found = statuses(t)
    assert Counter(found) == {"live": 4, "subagent": 3}
    assert {
        row.sidechain for row, status in zip(transcript_of(t).rows, found, strict=True) if status == "subagent"
    } == {True}


def test_bridged_rows(t: TranscriptBuilder) -> None:
    one = t.user("one")
    t.progress("bash_progress", tool_use_id="x")
    t.entry(t.assistant("no content"))["message"] = None
    t.assistant("end")
    t.line(**t.entry(one))
    assert statuses(t) == ["bridged", "bridged", "bridged", "live", "live"]
    assert reasons(t)[:3] == [
        "a later line with the same uuid counts",
        "progress rows are passed over",
        "has no usable content",
    ]


class TestUnreachable:
    def test_behind_a_missing_parent(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("two")
        t.user("three", parent="nowhere")
        t.assistant("four")
        assert statuses(t) == ["unreachable", "unreachable", "live", "live"]
        assert thread_of(t).reachable_share == 0.5

    def test_a_branch_on_a_missing_parent(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.user("stray", parent="nowhere")
        t.assistant("below it")
        t.assistant("two", parent=one)
        assert statuses(t) == ["live", "unreachable", "unreachable", "live"]
        assert reasons(t)[1] == reasons(t)[2] == "its parent nowhere is not in the file"

    def test_another_root(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("answer")
        t.user("two", parent=None)
        assert statuses(t) == ["unreachable", "unreachable", "live"]
        assert reasons(t)[0] == "hangs on another root than the conversation"

    def test_a_circle(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        t.entry(one)["parentUuid"] = two
        t.user("three", parent=None)
        assert statuses(t) == ["unreachable", "unreachable", "live"]
        assert reasons(t)[0] == "its parents form a circle"

    def test_on_a_line_that_the_client_cannot_read(self, t: TranscriptBuilder) -> None:
        t.user("one")
        second = t.lines[-1].replace(t.row_uuids[0].encode(), b"glued")
        t.raw(t.lines[-1].replace(t.row_uuids[0].encode(), b"first") + second)
        t.assistant("two")
        placements = dict(zip([row.uuid for row in transcript_of(t).rows], thread_of(t).placements, strict=True))
        assert placements["glued"] == ("unreachable", "on a line that Claude Code cannot read")

    def test_where_no_conversation_is_found(self, t: TranscriptBuilder) -> None:
        t.entry(t.user("one"))["timestamp"] = None
        (placement,) = thread_of(t).placements
        assert placement.status == "unreachable"
        assert placement.reason.startswith("Claude Code finds no conversation: ")
        assert thread_of(t).reachable_share == 0.0

    def test_below_a_subagents_row(self, t: TranscriptBuilder) -> None:
        side = t.user("subagent", parent=None)
        t.entry(side)["isSidechain"] = True
        t.assistant("below it")
        t.user("one", parent=None)
        assert statuses(t) == ["subagent", "unreachable", "live"]
        assert reasons(t)[1] == "hangs on a subagent's row"

    def test_without_a_uuid(self, t: TranscriptBuilder) -> None:
        t.entry(t.user("one")).pop("uuid")
        t.user("two", parent=None)
        assert statuses(t) == ["unreachable", "live"]
        assert reasons(t)[0] == "has no uuid"


class TestReachableShare:
    def test_an_empty_file_has_nothing_to_lose(self) -> None:
        assert thread_of(b"").reachable_share == 1.0

    def test_only_messages_of_the_main_conversation_count(self, t: TranscriptBuilder) -> None:
        t.attachment("date", date="x")
        t.entry(t.user("subagent", parent=None))["isSidechain"] = True
        t.user("one", parent=None)
        t.user("two", parent="nowhere")
        assert thread_of(t).reachable_share == 0.5

    def test_a_torn_line_costs_all_before_it(self) -> None:
        """The file has 17 readable rows left; the client gets at those behind the torn one."""
        recipe = DAMAGES["torn-middle"]
        thread = thread_of(recipe.make(0))
        assert thread.reachable_share == pytest.approx(len(recipe.expected_thread(0) or ()) / 17)


@pytest.mark.parametrize("recipe", SMALL_DAMAGES.values(), ids=SMALL_DAMAGES)
def test_every_row_of_a_damaged_file_has_one_status_and_a_reason(recipe: DamageRecipe) -> None:
    data = recipe.make(1)
    thread = thread_of(data)
    assert len(thread.placements) == len(transcript_of(data).rows)
    assert all(item.status in STATUSES and item.reason for item in thread.placements)
    assert 0.0 <= thread.reachable_share <= 1.0


@pytest.mark.parametrize("version", ALL_AGES)
def test_a_healthy_home_of_any_age_is_reachable(version: str, tmp_path: Path) -> None:
    for session in build_age(tmp_path / "claude", version).sessions:
        data = session.path.read_bytes()
        thread = thread_of(data)
        by_uuid = {row.uuid: thread.placements[row.index].status for row in transcript_of(data).rows}
        assert thread.reachable_share == 1.0
        assert {by_uuid[uuid] for uuid in session.thread} == {"live"}
        assert {by_uuid[uuid] for uuid in session.abandoned} <= {"abandoned"}
        assert "unreachable" not in by_uuid.values()


def test_a_healthy_file_is_live_from_end_to_end() -> None:
    assert set(statuses(sample_session())) == {"live"}
