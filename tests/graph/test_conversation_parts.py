"""A conversation seen as a tree, as branches, turns, messages, calls with their results, and compactions."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.reading import transcript_of

from recollect.graph.messages import blocks_of, usage_of, view_of
from recollect.graph.rows import Row
from recollect.graph.session import Conversation
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash, failed, read


@pytest.fixture
def t() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("parts of a conversation"), step=10.0)


def of(t: TranscriptBuilder) -> Conversation:
    return Conversation(transcript_of(t))


def names(rows: Iterable[Row]) -> list[str | None]:
    return [row.uuid for row in rows]


class TestTree:
    def test_roots_orphans_children_and_the_way_up(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        left, right = t.user("left", parent=two), t.user("right", parent=two)
        orphan = t.user("orphan", parent="nowhere")
        below = t.assistant("below the orphan")
        tree = of(t).tree
        assert (tree.roots, tree.orphans, tree.circles) == ([one], [orphan], [])
        assert tree.children == {one: [two], two: [left, right], orphan: [below]}
        assert names(tree.ancestors(right)) == [one, two, right]
        assert names(tree.ancestors(below)) == [orphan, below]
        assert tree.ancestors("no such row") == []

    def test_circles_are_found_once_and_end_every_walk(self, t: TranscriptBuilder) -> None:
        one, two, three = t.user("one"), t.assistant("two"), t.user("three")
        own = t.user("its own parent")
        t.entry(one)["parentUuid"] = three
        t.entry(own)["parentUuid"] = own
        outside = t.user("below a circle", parent=two)
        tree = of(t).tree
        assert sorted(sorted(circle) for circle in tree.circles) == sorted([sorted([one, two, three]), [own]])
        assert names(tree.ancestors(outside)) == [three, one, two, outside]


class TestBranches:
    def test_none_where_nobody_left_the_conversation(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.parallel([bash("ls", "a"), read("/a", "x")])
        assert of(t).branches == []

    def test_a_rewind_and_a_rewind_on_the_branch(self, t: TranscriptBuilder) -> None:
        one, two = t.user("one"), t.assistant("two")
        first = [t.user("three"), t.assistant("four")]
        inner = [t.user("five"), t.attachment("date", date="x")]
        t.rewind(first[1])
        other = [t.user("another five"), t.assistant("six")]
        t.rewind(two)
        t.user("end")
        session = of(t)
        branch, nested = session.branches
        assert names(branch.rows) == [*first, *inner]
        assert names(nested.rows) == other
        assert (branch.number, branch.left_at, branch.parent_branch, branch.status) == (1, two, 0, "abandoned")
        assert (nested.number, nested.left_at, nested.parent_branch) == (2, first[1], 1)
        assert (branch.messages, branch.leaf.uuid) == (3, inner[0])
        assert branch.prompt is not None and branch.prompt.uuid == first[0]
        assert names(session.branch_rows(nested)) == [one, two, *first, *other]

    def test_rows_without_a_message_are_no_branch(self, t: TranscriptBuilder) -> None:
        one = t.user("one")
        t.attachment("date", date="x", parent="nowhere")
        t.assistant("two", parent=one)
        assert of(t).branches == []

    def test_what_hangs_on_nothing_is_unreachable(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.wait(1000)
        lost = t.assistant("lost", parent="nowhere")
        t.wait(1000)
        t.rewind(None)
        t.user("two")
        found = {branch.leaf.uuid: branch for branch in of(t).branches}
        assert found[lost].left_at is None
        assert found[lost].prompt is None


class TestTurns:
    def test_a_turn_is_a_prompt_with_all_that_answers_it(self, t: TranscriptBuilder) -> None:
        note = t.attachment("date", date="x")
        first = [t.user("one"), t.assistant("two", tools=[bash("ls", "a")]), t.results(), t.assistant("done")]
        t.turn_duration(4200)
        last = t.user("nobody answers")
        before, answered, open_turn = of(t).turns()
        assert (before.prompt, names(before.rows), before.duration) == (None, [note], None)
        assert answered.prompt is not None and answered.prompt.uuid == first[0]
        assert (answered.tool_calls, answered.duration) == (1, 4.2)
        assert (names(open_turn.rows), open_turn.duration) == ([last], None)

    def test_without_a_measurement_the_times_tell_how_long_it_took(self, t: TranscriptBuilder) -> None:
        prompt, answer = t.user("one"), t.assistant("two")
        t.entry(prompt)["timestamp"], t.entry(answer)["timestamp"] = "2026-03-02T09:00:00Z", "2026-03-02T09:01:30Z"
        assert [turn.duration for turn in of(t).turns()] == [90.0]
        t.entry(answer)["timestamp"] = "2026-03-02T08:00:00Z"
        assert [turn.duration for turn in of(t).turns(of(t).rows)] == [0.0], "a clock that was put back"


class TestCalls:
    def test_each_call_with_its_result_wherever_it_stands(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.parallel([bash("ls", "a"), failed("Read", {"file_path": "/a"}, "no such file")])
        t.assistant(tools=[bash("sleep 9")])
        t.tool_result("toolu_unknown", "late")
        pairs = of(t).tools
        good, bad, unanswered = pairs.calls
        assert [(call.name, call.is_error) for call in pairs.calls] == [
            ("Bash", False),
            ("Read", True),
            ("Bash", False),
        ]
        assert good.result is not None and good.result.tool_results == (good.id,)
        assert good.duration is not None and good.duration > 0
        assert bad.result is not None and bad.result.failed == (bad.id,)
        assert (unanswered.result, unanswered.duration) == (None, None)
        assert [ident for ident, _ in pairs.orphan_results] == ["toolu_unknown"]

    def test_a_second_answer_is_kept_beside_the_first(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant(tools=[bash("ls", "a")])
        ident = next(iter(t.calls))
        first, second = t.tool_result(ident, "a"), t.tool_result(ident, "again")
        (call,) = of(t).tools.calls
        assert call.result is not None and call.result.uuid == first
        assert names(call.extra_results) == [second]

    def test_without_calls_there_is_nothing_to_pair(self, t: TranscriptBuilder) -> None:
        t.user("one")
        assert (of(t).tools.calls, of(t).tools.orphan_results) == ([], [])


class TestMessages:
    def test_lines_of_one_response_are_one_message(self, t: TranscriptBuilder) -> None:
        t.user("one")
        t.assistant("two", thinking="hm")
        t.parallel([bash("ls", "a"), read("/a", "x")])
        t.user("a caveat", meta=True)
        t.api_error()
        t.compact()
        t.system("informational", "x")
        session = of(t)
        messages = session.messages(session.full_history())
        assert [message.role for message in messages] == [
            "user", "assistant", "assistant", "tool", "tool", "meta", "error", "system", "summary", "system",
        ]  # fmt: skip
        thought = messages[1]
        assert [row.block_types for row in thought.rows] == [("thinking",), ("text",)]
        assert (thought.uuid, thought.time) == (thought.rows[0].uuid, thought.rows[0].time)
        assert thought.model == t.model
        assert [message.role for message in session.messages()] == ["summary", "system"]

    def test_their_words_come_from_the_entries(self, t: TranscriptBuilder) -> None:
        t.assistant("two", thinking="hm", usage={"output_tokens": 77}, final_usage=True)
        (message,) = of(t).messages()
        view = view_of(message, t.entries, "live")
        assert (view.role, view.status, view.text) == ("assistant", "live", "two")
        assert view.usage is not None and view.usage.output_tokens == 77
        assert not view.lower_bound
        assert view.time is not None and view.time.timestamp() == view.seconds

    def test_what_has_no_message_says_its_content_or_what_is_attached(self) -> None:
        def words(entry: dict[str, object]) -> list[str]:
            return [getattr(block, "text", "") for block in blocks_of(entry)]

        assert words({"content": "of a system row"}) == ["of a system row"]
        assert words({"attachment": {"type": "x", "stdout": "printed"}}) == ["printed"]
        assert words({"attachment": {"type": "x", "count": 3}}) == words({"attachment": None}) == []
        assert usage_of([{"message": "odd"}, {"message": {"usage": None}}]) == (None, False)


class TestCompactions:
    def test_each_with_its_summary_and_what_it_replaced(self, t: TranscriptBuilder) -> None:
        t.user("one")
        kept = [t.assistant("two")]
        first = t.compact("manual", preserved=kept, pre_tokens=50_000)
        t.user("three")
        t.assistant("four")
        t.user("five")
        t.compact(pre_tokens=60_000)
        one, two = of(t).compactions
        assert one.summary is not None and one.summary.uuid == first
        assert (one.trigger, one.pre_tokens, one.preserved, one.rows_before) == ("manual", 50_000, kept, 2)
        assert (two.trigger, two.pre_tokens, two.preserved, two.rows_before) == ("auto", 60_000, [], 3)

    def test_odd_values_are_no_numbers_and_no_words(self, t: TranscriptBuilder) -> None:
        t.user("one")
        summary = t.compact()
        boundary = t.entry(t.entry(summary)["parentUuid"])
        boundary["compactMetadata"] = {"trigger": 3, "preTokens": True, "preservedMessages": {"uuids": "x"}}
        (found,) = of(t).compactions
        assert (found.trigger, found.pre_tokens, found.post_tokens, found.preserved) == (None, None, None, [])

    def test_a_conversation_without_any(self, t: TranscriptBuilder) -> None:
        t.user("one")
        assert of(t).compactions == []
