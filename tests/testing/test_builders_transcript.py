"""The transcript builder writes what the client of the given age writes, and always the same bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.testing import ALL_AGES, NIL_UUID, ToolCall, TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash, edit, read, structured_patch

SESSION = uuid_from("transcript tests")


def build(version: str = "2.1.325", **options: Any) -> TranscriptBuilder:
    return TranscriptBuilder(SESSION, "/w/app", version, **options)


def small(version: str) -> TranscriptBuilder:
    t = build(version)
    t.user("hello")
    t.parallel([bash("ls", "a\n"), read("/w/app/a", "x")], "two at once", thinking="hm")
    t.assistant("done")
    return t


@pytest.mark.parametrize("version", ALL_AGES)
def test_same_calls_give_same_bytes(version: str) -> None:
    assert small(version).to_bytes() == small(version).to_bytes()


@pytest.mark.parametrize("version", ALL_AGES)
def test_every_parent_is_an_earlier_row_and_times_never_fall(version: str) -> None:
    seen: set[str] = set()
    last = ""
    for line in small(version).lines:
        row = json.loads(line)
        assert row["parentUuid"] is None or row["parentUuid"] in seen
        assert row["timestamp"] >= last
        seen.add(row["uuid"])
        last = row["timestamp"]


def test_a_response_is_one_line_up_to_1_0_0_and_one_line_per_block_later() -> None:
    whole = [row for row in small("1.0.0").entries if row["type"] == "assistant"]
    assert [len(row["message"]["content"]) for row in whole] == [4, 1]
    assert all("costUSD" in row and "requestId" not in row for row in whole)
    split = [row for row in small("1.0.30").entries if row["type"] == "assistant"]
    assert [len(row["message"]["content"]) for row in split] == [1, 1, 1, 1, 1]
    first = split[:4]
    assert len({(row["message"]["id"], row["requestId"]) for row in first}) == 1
    assert all("costUSD" not in row for row in split)


def test_parallel_results_hang_on_the_line_of_their_own_call() -> None:
    t = small("2.1.325")
    results = [row for row in t.entries if "toolUseResult" in row]
    lines = list(t.tool_lines.values())
    assert [row["parentUuid"] for row in results] == lines
    assert [row["sourceToolAssistantUUID"] for row in results] == lines
    assert len(set(lines)) == 2
    assert t.thread == t.row_uuids


def test_output_tokens_are_placeholders_between_1_0_128_and_2_1_96() -> None:
    def outputs(version: str, **options: Any) -> list[tuple[int, str | None]]:
        t = build(version)
        t.assistant("text", thinking="hm", usage={"output_tokens": 500}, **options)
        return [(row["message"]["usage"]["output_tokens"], row["message"]["stop_reason"]) for row in t.entries]

    assert outputs("1.0.0") == [(500, "end_turn")]
    assert outputs("2.0.77") == [(3, None), (3, None)]
    assert outputs("2.0.77", final_usage=True) == [(500, "end_turn"), (500, "end_turn")]
    assert outputs("2.1.80", final_usage=True) == [(3, None), (500, "end_turn")]
    assert outputs("2.1.100") == [(500, "end_turn"), (500, "end_turn")]


def test_rewind_leaves_the_branch_in_the_file_and_withdraws_the_checkpoint() -> None:
    t = build()
    t.user("first")
    kept = t.assistant("answer")
    lost = [t.user("wrong"), t.assistant("way")]
    t.rewind(kept)
    new = t.user("right")
    assert t.entry(new)["parentUuid"] == kept
    assert all(uuid in t.row_uuids and uuid not in t.thread for uuid in lost)
    checkpoint = next(row for row in t.entries if row["type"] == "last-prompt")
    assert (checkpoint["leafUuid"], checkpoint["explicit"]) == (NIL_UUID, True)


def test_rewind_of_older_clients_writes_no_line() -> None:
    t = build("2.1.50")
    kept = t.user("first")
    before = len(t.lines)
    t.rewind(kept)
    assert len(t.lines) == before


def test_rewind_to_nothing_starts_a_new_root() -> None:
    t = build()
    t.user("first")
    t.rewind(None)
    root = t.user("again")
    assert t.entry(root)["parentUuid"] is None
    assert t.thread == [root]


def test_compaction_starts_the_thread_anew_and_keeps_preserved_rows() -> None:
    t = build()
    t.user("old")
    last = t.assistant("old answer")
    question, answer = t.user("kept?"), t.assistant("kept")
    summary = t.compact("manual", "so far", preserved=[question, answer])
    after = t.user("next")
    boundary = next(row for row in t.entries if row.get("subtype") == "compact_boundary")
    assert (boundary["parentUuid"], boundary["logicalParentUuid"]) == (None, answer)
    assert t.entry(summary)["parentUuid"] == boundary["uuid"]
    assert boundary["compactMetadata"]["preservedMessages"]["uuids"] == [question, answer]
    assert t.thread == [summary, question, answer, after]
    assert last not in t.thread


def test_older_compactions_preserve_nothing() -> None:
    t = build("2.0.77")
    kept = t.user("kept?")
    summary = t.compact(preserved=[kept])
    boundary = next(row for row in t.entries if row.get("subtype") == "compact_boundary")
    assert set(boundary["compactMetadata"]) == {"trigger", "preTokens"}
    assert t.thread == [summary]


def test_api_errors_are_links_but_never_sent() -> None:
    t = build()
    prompt = t.user("hello")
    error = t.api_error("Overloaded")
    answer = t.assistant("hi")
    assert t.entry(answer)["parentUuid"] == error
    assert t.thread == [prompt, answer]


@pytest.mark.parametrize(("version", "inside"), [("2.0.26", True), ("2.0.77", False), ("2.1.9", False)])
def test_subagents_write_into_the_main_file_or_their_own(version: str, inside: bool) -> None:
    t = build(version)
    prompt = t.user("look")
    subagent = t.subagent("find it")
    subagent.call(read("/w/app/a", "x"))
    answer = subagent.finish("found")
    sidechain = [row for row in t.entries if row["isSidechain"]]
    assert bool(sidechain) is inside
    assert subagent.entries[0]["parentUuid"] is None or inside
    result = t.entry(answer)
    assert result["parentUuid"] == t.tool_lines[subagent.tool_use_id]
    assert ("agentId" in result["toolUseResult"]) is not inside
    assert t.thread == [prompt, t.tool_lines[subagent.tool_use_id], answer]


def test_subagent_ids_grow_longer_and_rows_bear_them() -> None:
    short, long = build("2.1.9").subagent("a"), build("2.1.50").subagent("a")
    assert (len(short.subagent_id or ""), len(long.subagent_id or "")) == (7, 17)
    assert {row["agentId"] for row in long.entries} == {long.subagent_id}


def test_nested_subagents_know_their_starter_and_share_the_typed_prompt() -> None:
    t = build()
    t.user("go")
    outer = t.subagent("outer")
    inner = outer.subagent("inner")
    inner.finish("x")
    outer.finish("y")
    assert inner.meta()["parentAgentId"] == outer.subagent_id
    assert (outer.meta()["spawnDepth"], inner.meta()["spawnDepth"]) == (1, 2)
    assert "parentAgentId" not in outer.meta()
    prompts = {row["promptId"] for row in [*t.entries, *outer.entries, *inner.entries] if row["type"] == "user"}
    assert prompts == {t.prompt_id}


def test_forks_keep_uuids_unless_the_sdk_made_them() -> None:
    source = small("2.1.325")
    for style, same, told in (("fork-session", True, False), ("branch", True, True), ("sdk", False, True)):
        fork = TranscriptBuilder(uuid_from("fork", style))
        fork.fork_copy(source, style=style)  # type: ignore[arg-type]
        assert (fork.row_uuids == source.row_uuids) is same
        assert all(("forkedFrom" in row) is told for row in fork.entries)
        assert {row["sessionId"] for row in fork.entries} == {fork.session_id}
        assert fork.thread == fork.row_uuids


def test_fork_up_to_a_row_stops_there() -> None:
    source = small("2.1.325")
    fork = TranscriptBuilder(uuid_from("fork"))
    fork.fork_copy(source, up_to=source.row_uuids[1])
    assert fork.row_uuids == source.row_uuids[:2]


def test_the_clock_follows_step_at_and_wait() -> None:
    t = build(start="2026-01-01T00:00:00Z", step=30.0)
    rows = [t.user("a"), t.user("b"), t.at(100).user("c"), t.wait(5).user("d")]
    times = [t.entry(uuid)["timestamp"][14:19] for uuid in rows]
    assert times == ["00:00", "00:30", "01:40", "02:15"]


def test_lone_surrogates_are_written_as_escapes() -> None:
    t = build()
    t.user("half \ud83d, whole \N{GRINNING FACE}, \u2028")
    line = t.lines[0]
    assert b"\\ud83d," in line
    assert "\N{GRINNING FACE}, \u2028".encode() in line
    assert json.loads(line)["message"]["content"].startswith("half \ud83d")


def test_entries_can_be_changed_and_raw_lines_added() -> None:
    t = build()
    uuid = t.user("hello")
    t.entry(uuid)["timestamp"] = 5
    t.raw(b"{broken")
    assert json.loads(t.lines[0])["timestamp"] == 5
    assert t.to_bytes().endswith(b"\n{broken\n")


def test_unanswered_calls_stay_unanswered_until_told() -> None:
    t = build()
    t.assistant(tools=[ToolCall("Sleep", id="toolu_x")])
    assert not [row for row in t.entries if row["type"] == "user"]
    t.results()
    assert t.entries[-1]["message"]["content"][0]["tool_use_id"] == "toolu_x"


def test_patches_of_edits_apply() -> None:
    old, new = "a\nb\nc\n", "a\nB\nc\n"
    (hunk,) = structured_patch(old, new)
    assert hunk["lines"] == [" a", "-b", "+B", " c"]
    assert (hunk["oldStart"], hunk["oldLines"], hunk["newLines"]) == (1, 3, 3)
    call = edit("/f", "b", "B", original=old)
    assert call.structured["structuredPatch"] == [hunk]
