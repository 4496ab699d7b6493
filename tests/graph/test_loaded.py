"""What the client holds in memory after loading: copies, bridges, checkpoints, compaction."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reading import transcript_of

from recollect.graph.client_state import LARGE_FILE, ClientState, load_as_client
from recollect.testing import NIL_UUID, TranscriptBuilder, uuid_from


def loaded(t: TranscriptBuilder, *, size: int | None = None) -> ClientState:
    transcript = transcript_of(t)
    if size is not None:
        transcript.size = size
    return load_as_client(transcript)


def links(state: ClientState) -> dict[str, str | None]:
    return {uuid: state.parents[uuid] for uuid in state.rows}


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("loaded"))


class TestCopies:
    def test_a_later_copy_has_the_content_and_the_first_one_the_place(self, t: TranscriptBuilder) -> None:
        one, two, three = t.user("one"), t.assistant("two"), t.user("three")
        t.line(**(t.entry(one) | {"parentUuid": three}))
        state = loaded(t)
        assert list(state.rows) == [one, two, three]
        assert state.rows[one].index == 3
        assert state.parents[one] == three
        assert state.superseded == {0}

    def test_rows_on_lines_that_the_client_cannot_read_are_not_there(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        line = t.lines[-1].replace(one.encode(), b"glued")
        t.raw(t.lines[-1] + line)
        assert list(loaded(t).rows) == [one]

    def test_rows_without_a_uuid_share_one_place(self, t: TranscriptBuilder) -> None:
        for text in ("one", "two"):
            t.entry(t.user(text)).pop("uuid")
        state = loaded(t)
        assert list(state.rows) == [""]
        assert state.rows[""].index == 1


class TestBridges:
    def test_who_hangs_on_progress_hangs_on_its_parent(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        for _ in range(3):
            t.progress("bash_progress", tool_use_id="x")
        two = t.assistant("two")
        state = loaded(t)
        assert list(state.rows) == [one, two]
        assert state.parents[two] == one

    def test_progress_at_the_root(self, t: TranscriptBuilder) -> None:
        t.progress("bash_progress", tool_use_id="x", parent=None)
        assert links(loaded(t)) == {}
        two = t.assistant("two")
        assert links(loaded(t)) == {two: None}

    @pytest.mark.parametrize("message", [None, "text", {"content": None}, {"content": 5}, {"content": [None]}])
    def test_who_hangs_on_a_row_without_content_hangs_on_its_parent(self, t: TranscriptBuilder, message: Any) -> None:
        one, bad, worse, two = t.user("one"), t.assistant("bad"), t.user("worse"), t.assistant("two")
        t.entry(bad)["message"] = t.entry(worse)["message"] = message
        state = loaded(t)
        assert list(state.rows) == [one, two]
        assert state.parents[two] == one

    def test_a_circle_of_rows_without_content_ends_nowhere(self, t: TranscriptBuilder) -> None:
        one, two, three = t.user("one"), t.user("two"), t.user("three")
        t.entry(one)["message"] = t.entry(two)["message"] = None
        t.entry(one)["parentUuid"] = two
        assert links(loaded(t)) == {three: None}


class TestCheckpoints:
    def test_the_last_one_counts(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.last_prompt("one")
        two = t.assistant("two")
        t.last_prompt("one")
        state = loaded(t)
        assert (state.checkpoint, state.checkpoint_explicit, state.any_checkpoint) == (two, False, True)
        t.last_prompt("one", leaf=one, explicit=True)
        state = loaded(t)
        assert (state.checkpoint, state.checkpoint_explicit) == (one, True)

    def test_a_row_after_it_makes_it_implicit(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.last_prompt(leaf=one, explicit=True)
        t.assistant("two")
        state = loaded(t)
        assert (state.checkpoint, state.checkpoint_explicit, state.ever_explicit) == (one, False, True)

    def test_saying_it_again_keeps_it_explicit(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.last_prompt(leaf=one, explicit=True)
        t.last_prompt(leaf=one)
        assert loaded(t).checkpoint_explicit

    def test_one_without_a_leaf_says_nothing(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.state("last-prompt", lastPrompt="one")
        state = loaded(t)
        assert (state.checkpoint, state.any_checkpoint) == (None, False)

    def test_null_on_purpose_empties_the_conversation(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt(leaf=None, explicit=True)
        state = loaded(t)
        assert state.cleared
        assert state.withdrawals == [1]
        t.user("two", parent=None)
        assert not loaded(t).cleared

    def test_null_in_passing_does_not(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt(leaf=None)
        assert not loaded(t).cleared

    def test_the_nil_uuid_withdraws(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.withdraw_checkpoint()
        state = loaded(t)
        assert (state.checkpoint, state.withdrawals, state.cleared) == (NIL_UUID, [1], False)

    def test_a_boundary_forgets_it(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.last_prompt(explicit=True)
        t.compact()
        state = loaded(t)
        assert (state.checkpoint, state.ever_explicit, state.any_checkpoint) == (None, False, True)

    def test_rows_of_subagents_leave_it_as_it_is(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.last_prompt(explicit=True)
        t.entry(t.user("subagent", parent=None))["isSidechain"] = True
        state = loaded(t)
        assert state.checkpoint_explicit
        assert state.last_row == one


class TestCompaction:
    def conversation(self, t: TranscriptBuilder) -> list[str]:
        return [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]

    def test_without_preserved_messages_nothing_is_re_hung(self, t: TranscriptBuilder) -> None:
        rows = self.conversation(t)
        t.compact()
        state = loaded(t)
        assert list(state.rows)[:4] == rows
        assert state.parents is state.original_parents

    def test_preserved_messages_hang_below_the_summary(self, t: TranscriptBuilder) -> None:
        one, two, three, four = self.conversation(t)
        summary = t.compact(preserved=[three, four])
        five = t.user("five")
        state = loaded(t)
        assert one not in state.rows
        assert two not in state.rows
        assert state.parents[three] == summary
        assert state.parents[four] == three
        assert state.parents[five] == four  # what hung on the summary hangs below what was preserved
        assert state.preserved_tail == four

    def test_they_need_not_be_neighbours(self, t: TranscriptBuilder) -> None:
        one, two, three, four = self.conversation(t)
        summary = t.compact(preserved=[one, four])
        t.entry(t.row_uuids[-2])["compactMetadata"].pop("preservedSegment")
        state = loaded(t)
        assert (state.parents[one], state.parents[four]) == (summary, one)
        assert two not in state.rows
        assert three not in state.rows

    def test_one_that_is_missing_undoes_it_all(self, t: TranscriptBuilder) -> None:
        rows = self.conversation(t)
        t.compact(preserved=[rows[3], "nowhere"])
        state = loaded(t)
        assert set(rows) < set(state.rows)
        assert state.preserved_tail is None

    def test_a_segment_is_walked_from_its_tail_to_its_head(self) -> None:
        t = TranscriptBuilder(uuid_from("segment"), version="2.1.100")
        one, two, three, four = self.conversation(t)
        summary = t.compact(preserved=[two, four])
        metadata = t.entry(t.row_uuids[-2])["compactMetadata"]
        assert "preservedMessages" not in metadata
        assert metadata["preservedSegment"] == {"headUuid": two, "anchorUuid": summary, "tailUuid": four}
        state = loaded(t)
        assert one not in state.rows
        assert [state.parents[uuid] for uuid in (two, three, four)] == [summary, two, three]

    def test_a_segment_that_does_not_connect_undoes_it_all(self) -> None:
        t = TranscriptBuilder(uuid_from("segment"), version="2.1.100")
        one, _, three, four = self.conversation(t)
        t.compact(preserved=[one, four])
        t.entry(three)["parentUuid"] = None
        state = loaded(t)
        assert {one, three, four} < set(state.rows)

    def test_a_later_plain_boundary_drops_what_an_earlier_one_preserved(self, t: TranscriptBuilder) -> None:
        rows = self.conversation(t)
        t.compact(preserved=rows[2:])
        five = t.user("five")
        last = t.compact()
        state = loaded(t)
        assert not set(rows) & set(state.rows)
        assert five not in state.rows
        assert last in state.rows

    @pytest.mark.parametrize(
        "metadata", [None, 5, "x", [], {"preservedMessages": 5}, {"preservedMessages": {"uuids": 5}}]
    )
    def test_odd_metadata_changes_nothing(self, t: TranscriptBuilder, metadata: Any) -> None:
        rows = self.conversation(t)
        t.compact(preserved=rows[2:])
        t.entry(t.row_uuids[-2])["compactMetadata"] = metadata
        assert set(rows) < set(loaded(t).rows)

    def test_in_a_large_file_the_rows_before_a_plain_boundary_are_forgotten(self, t: TranscriptBuilder) -> None:
        rows = self.conversation(t)
        summary = t.compact()
        boundary = t.row_uuids[-2]
        assert set(rows) < set(loaded(t, size=LARGE_FILE).rows)
        assert list(loaded(t, size=LARGE_FILE + 1).rows) == [boundary, summary]

    def test_but_not_before_one_that_preserved_messages(self, t: TranscriptBuilder) -> None:
        rows = self.conversation(t)
        t.compact(preserved=rows[2:])
        assert set(rows[2:]) < set(loaded(t, size=LARGE_FILE + 1).rows)
