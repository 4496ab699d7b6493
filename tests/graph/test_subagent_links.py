"""Which call started a subagent: told by its meta file, the call's result, progress rows, the prompt, or the order."""

from __future__ import annotations

import pytest
from tests.reading import transcript_of

from recollect.graph.rows import Row
from recollect.graph.session import Conversation, Subagent
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.transcript import SubagentBuilder

INSIDE, BESIDE, WITH_PROGRESS = "1.0.100", "2.1.0", "2.1.9"


def session(version: str) -> TranscriptBuilder:
    t = TranscriptBuilder(uuid_from("subagent links", version), version=version, step=10.0)
    t.user("one")
    return t


def own_file(builder: SubagentBuilder, **told: str) -> Subagent:
    """A subagent that has a file of its own, with what a meta file says of it."""
    assert builder.subagent_id is not None
    rows = transcript_of(builder.to_bytes()).rows
    return Subagent(builder.subagent_id, "subagents", rows, **told)  # type: ignore[arg-type]


def words(*builders: TranscriptBuilder) -> dict[str | None, str]:
    """The prompt of every row that is one or passes one on, as the texts of the session say."""
    found: dict[str | None, str] = {}
    for builder in builders:
        for entry in builder.entries:
            content = entry.get("message", {}).get("content")
            if entry["type"] == "user" and isinstance(content, str):
                found[entry["uuid"]] = content
            for block in content if isinstance(content, list) else ():
                if block.get("type") == "tool_use":
                    found[entry["uuid"]] = block["input"]["prompt"]
    return found


def linked(
    t: TranscriptBuilder, *own: Subagent, prompts: dict[str | None, str] | None = None
) -> dict[str, tuple[str | None, str | None]]:
    """For each subagent its call, and how that was found."""

    def prompt_of(row: Row) -> str | None:
        return (prompts or {}).get(row.uuid)

    found = Conversation(transcript_of(t), list(own), prompt_of).subagents
    return {subagent.subagent_id: (subagent.tool_use_id, subagent.linked_by) for subagent in found}


def test_a_meta_file_names_the_call() -> None:
    t = session("2.1.326")
    builder = t.subagent("Look for more")
    builder.finish("found")
    subagent = own_file(builder, tool_use_id=builder.tool_use_id)
    assert linked(t, subagent) == {subagent.subagent_id: (builder.tool_use_id, "meta")}
    times = [row.time for row in subagent.rows]
    assert (subagent.first_time, subagent.last_time) == (times[0], times[-1])


def test_the_result_of_the_call_names_the_subagent() -> None:
    t = session(BESIDE)
    builder = t.subagent("Look for more")
    builder.finish("found")
    assert linked(t, own_file(builder)) == {builder.subagent_id: (builder.tool_use_id, "result")}


def test_a_subagent_without_a_file_is_known_from_the_result() -> None:
    t = session(BESIDE)
    builder = t.subagent("Look for more")
    builder.finish("found")
    (found,) = Conversation(transcript_of(t)).subagents
    assert (found.subagent_id, found.layout, found.rows) == (builder.subagent_id, "mentioned", [])
    assert (found.first_time, found.last_time) == (None, None)


def test_progress_rows_name_it_while_it_runs() -> None:
    t = session(WITH_PROGRESS)
    builder = t.subagent("Look for more")
    t.progress("agent_progress", tool_use_id=builder.tool_use_id, agentId=builder.subagent_id, prompt="x")
    assert linked(t, own_file(builder)) == {builder.subagent_id: (builder.tool_use_id, "progress")}


class TestInside:
    def test_the_same_prompt_tells_the_call(self) -> None:
        t = session(INSIDE)
        first, second = t.subagent("Look left"), t.subagent("Look right")
        second.finish("nothing")
        first.finish("nothing")
        found = linked(t, prompts=words(t))
        assert sorted(found.values()) == sorted([(first.tool_use_id, "prompt"), (second.tool_use_id, "prompt")])
        by_rows = {item.rows[0].uuid: item.tool_use_id for item in Conversation(
            transcript_of(t), None, lambda row: words(t).get(row.uuid)
        ).subagents}  # fmt: skip
        assert by_rows == {first.row_uuids[0]: first.tool_use_id, second.row_uuids[0]: second.tool_use_id}

    def test_without_words_it_is_the_last_call_before_it(self) -> None:
        t = session(INSIDE)
        first = t.subagent("Look left")
        first.finish("nothing")
        second = t.subagent("Look right")
        second.finish("nothing")
        found = [(item.tool_use_id, item.linked_by) for item in Conversation(transcript_of(t)).subagents]
        assert found == [(first.tool_use_id, "order"), (second.tool_use_id, "order")]

    def test_rows_of_nobody_are_a_subagent_without_a_call(self) -> None:
        t = session(INSIDE)
        loose = t.user("of nobody", parent=None)
        t.entry(loose)["isSidechain"] = True
        (found,) = Conversation(transcript_of(t)).subagents
        assert found.subagent_id == f"sidechain-{loose[:8]}"
        assert (found.layout, found.tool_use_id, found.linked_by, found.depth) == ("inside", None, None, 1)


class TestNesting:
    def nested(self) -> tuple[TranscriptBuilder, SubagentBuilder, SubagentBuilder]:
        t = session("2.1.326")
        outer = t.subagent("Ask somebody")
        inner = outer.subagent("Look for more")
        inner.finish("found")
        outer.finish("found")
        return t, outer, inner

    @pytest.mark.parametrize("told", [True, False], ids=["by the meta file", "by who made the call"])
    def test_a_subagent_of_a_subagent(self, told: bool) -> None:
        t, outer, inner = self.nested()
        assert outer.subagent_id is not None
        parent = {"parent_subagent": outer.subagent_id} if told else {}  # not before 2.1.325
        subagents = [
            own_file(inner, tool_use_id=inner.tool_use_id, **parent),
            own_file(outer, tool_use_id=outer.tool_use_id),
        ]
        found = {item.subagent_id: item for item in Conversation(transcript_of(t), subagents).subagents}
        assert found[outer.subagent_id].children == [inner.subagent_id]
        assert found[outer.subagent_id].depth == 1
        assert found[inner.subagent_id or ""].parent_subagent == outer.subagent_id
        assert found[inner.subagent_id or ""].depth == 2

    def test_subagents_that_name_each_other_end_somewhere(self) -> None:
        t, outer, inner = self.nested()
        assert outer.subagent_id is not None and inner.subagent_id is not None
        subagents = [
            own_file(inner, tool_use_id=inner.tool_use_id, parent_subagent=outer.subagent_id),
            own_file(outer, tool_use_id=outer.tool_use_id, parent_subagent=inner.subagent_id),
        ]
        assert [item.depth for item in Conversation(transcript_of(t), subagents).subagents] == [2, 2]

    def test_one_that_names_itself_hangs_on_the_conversation(self) -> None:
        t, outer, _ = self.nested()
        assert outer.subagent_id is not None
        own = own_file(outer, tool_use_id=outer.tool_use_id, parent_subagent=outer.subagent_id)
        found = next(item for item in Conversation(transcript_of(t), [own]).subagents if item is own)
        assert (found.parent_subagent, found.depth) == (None, 1)
