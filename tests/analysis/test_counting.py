"""One API call counts once, whatever way it was written down: every class of duplication alone, then all together."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.analysis.scene import START, Scene, ledger_over, tokens

from recollect.library.usage import Selection

FULL = tokens(10, 200, 30, 40, 500)
ONCE = (1, 10, 200, 30, 40, 500)
PLACEHOLDER = tokens(10, 1, 30, 40, 500)


def progress(
    scene: Scene, ident: str, usage: object, stop: str | None = "end_turn", **more: object
) -> dict[str, object]:
    inner = scene.answer(ident, usage, stop=stop)
    told = {key: inner[key] for key in ("type", "message", "requestId", "timestamp", "uuid")} | more
    return {
        "type": "progress", "sessionId": "s", "timestamp": START, "uuid": "p1", "cwd": "/work/a",
        "data": {"type": "agent_progress", "agentId": "a1", "message": told},
    }  # fmt: skip


def test_split_over_several_lines(scene: Scene) -> None:
    scene.write("s", *(scene.answer("msg_1", FULL) for _ in range(3)))
    assert scene.counts() == ONCE


def test_final_count_on_the_last_line_only(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", PLACEHOLDER, stop=None), scene.answer("msg_1", FULL))
    assert scene.counts() == ONCE


def test_final_count_on_the_first_line_only(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", FULL), scene.answer("msg_1", PLACEHOLDER, stop=None))
    assert scene.counts() == ONCE


def test_largest_of_each_field(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", tokens(10, 1, 30, 0, 500)), scene.answer("msg_1", tokens(1, 200, 0, 40, 0)))
    assert scene.counts() == ONCE


def test_lines_of_two_calls_that_take_turns(scene: Scene) -> None:
    scene.write("s", *(scene.answer(name, FULL, request=name) for name in ("msg_1", "msg_2", "msg_1", "msg_2")))
    assert scene.counts() == (2, 20, 400, 60, 80, 1000)


def test_same_message_of_another_request_is_another_call(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", FULL), scene.answer("msg_1", FULL, request="req_2"))
    assert scene.counts()[0] == 2


def test_without_request_the_message_alone(scene: Scene) -> None:
    scene.write("s", *(scene.answer("msg_1", FULL, request=None) for _ in range(2)))
    assert scene.counts() == ONCE


def test_without_any_id_every_line_is_a_call(scene: Scene) -> None:
    rows = [scene.answer(None, FULL, request=None) for _ in range(2)]
    for row in rows:
        del row["uuid"]
    del rows[1]["type"]
    scene.write("s", *rows)
    assert scene.counts() == (2, 20, 400, 60, 80, 1000)


def test_without_a_message_id_the_row_counts_once(scene: Scene) -> None:
    row = scene.answer(None, FULL, request=None)
    scene.write("s", row, row)
    scene.write("copy", row)
    assert scene.counts() == ONCE


def test_fork_copies_rows_with_their_uuids(scene: Scene) -> None:
    rows = [scene.answer("msg_1", FULL), scene.answer("msg_1", FULL)]
    scene.write("s", *rows)
    scene.write("fork", *[{**row, "sessionId": "fork"} for row in rows])
    assert scene.counts() == ONCE


def test_a_fork_is_known_by_the_newer_lines_before_its_copies(scene: Scene) -> None:
    row = scene.answer("msg_1", FULL)
    begun = {"type": "queue-operation", "operation": "enqueue", "timestamp": "2025-11-04T10:00:00.000Z"}
    scene.write("a-fork", begun, {**row, "sessionId": "a-fork"})
    scene.write("s", {"type": "mode"}, row)
    assert scene.counts() == ONCE
    with scene.open() as ledger:
        assert [item.session_id for item in ledger.calls()] == ["s"]


def test_branch_names_where_it_came_from(scene: Scene) -> None:
    row = scene.answer("msg_1", FULL)
    scene.write("a-branch", {**row, "sessionId": "a-branch", "forkedFrom": {"sessionId": "s", "messageUuid": "u1"}})
    scene.write("s", row)
    assert scene.counts() == ONCE
    with scene.open() as ledger:
        assert [item.session_id for item in ledger.calls()] == ["s"]  # booked where it was not copied


def test_resumed_copy_keeps_the_old_session_inside(scene: Scene) -> None:
    row = scene.answer("msg_1", FULL)
    scene.write("a-copy", row, scene.answer("msg_2", FULL, request="req_2", session="a-copy"))
    scene.write("s", row)
    assert scene.counts()[0] == 2
    with scene.open() as ledger:
        assert {item.message_id: item.session_id for item in ledger.calls()} == {
            "msg_1": "s",
            "msg_2": "a-copy",
        }


def test_subagent_copies_its_parents_line(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", FULL))
    scene.write("s/subagents/agent-a1", scene.answer("msg_1", FULL, isSidechain=True, agentId="a1"))
    assert scene.counts() == ONCE
    with scene.open() as ledger:
        assert ledger.calls()[0].subagent_id is None


@pytest.mark.parametrize("place", ["s/subagents/agent-a1", "agent-a1", "s/subagents/workflows/run1/agent-a1"])
def test_subagents_of_every_layout_belong_to_their_session(scene: Scene, place: str) -> None:
    scene.write("s", scene.answer("msg_1", FULL))
    scene.write(place, scene.answer("msg_2", FULL, request="req_2", isSidechain=True, agentId="a1"))
    with scene.open() as ledger:
        report = ledger.usage("session")
        assert [(group.key, group.totals.calls) for group in report.groups] == [("s", 2)]
        assert {group.key: group.totals.calls for group in ledger.usage("subagent").groups} == {
            "(main)": 1,
            "a1": 1,
        }


def test_a_subagent_beside_its_session_that_gets_another_name(scene: Scene) -> None:
    scene.write("agent-a1", scene.answer("msg_2", FULL, isSidechain=True, agentId="a1"))
    scene.counts()
    scene.path("agent-a1").rename(scene.path("agent-a2"))
    with scene.open() as ledger:
        assert [group.key for group in ledger.usage("session").groups] == ["s"]


def test_subagent_inside_the_main_file(scene: Scene) -> None:
    scene.write(
        "s", scene.answer("msg_1", FULL), scene.answer("msg_2", FULL, request="r", isSidechain=True, agentId="a1")
    )
    assert scene.counts()[0] == 2


def test_subagents_inside_the_main_file_that_have_no_name(scene: Scene) -> None:
    """Up to 2.0.26 their lines are only marked. In a file of a subagent's own they are that one's."""
    scene.write(
        "s",
        scene.answer("msg_1", FULL, isSidechain=False),
        scene.answer("msg_2", FULL, request="r2", isSidechain=True),
        scene.answer("msg_3", tokens(1, 5) | {"input_tokens": "x"}, request="r3", isSidechain=True),
    )
    scene.write("s/subagents/agent-a1", scene.answer("msg_4", FULL, request="r4", isSidechain=True))
    with scene.open() as ledger:
        found = {item.message_id: item.subagent_id for item in ledger.calls()}
        assert found == {"msg_1": None, "msg_2": "sidechain", "msg_3": "sidechain", "msg_4": "a1"}
        assert {group.key: group.totals.calls for group in ledger.usage("subagent").groups} == {
            "(main)": 1, "sidechain": 2, "a1": 1,
        }  # fmt: skip
        assert len(ledger.calls(Selection(subagent="main"))) == 1
        assert len(ledger.calls(Selection(status="subagent"))) == 3


def test_the_line_of_the_output_is_known(scene: Scene) -> None:
    """It is the one with the largest, whichever way the line was taken, and whenever it came."""
    low, high = tokens(10, 1, 30, 40, 500), tokens(10, 300, 30, 40, 500)
    scene.write(
        "s",
        scene.answer("msg_1", low, stop=None), scene.answer("msg_1", FULL), scene.answer("msg_1", FULL),
        scene.answer("msg_2", low, request="2"), scene.answer("msg_2", tokens(11, 9), request="2"),
        scene.answer("msg_3", FULL, request="3"), scene.answer("msg_3", low, request="3"),
    )  # fmt: skip
    with scene.open() as ledger:
        assert [(item.line, item.output_line) for item in ledger.calls()] == [(1, 2), (4, 5), (6, 6)]
    scene.append("s", scene.answer("msg_3", high, request="3"), scene.answer("msg_1", low))
    with scene.open() as ledger:
        assert [(item.line, item.output_line) for item in ledger.calls()] == [(1, 2), (4, 5), (6, 8)]


def test_subagent_only_in_progress_lines(scene: Scene) -> None:
    scene.write("s", progress(scene, "msg_1", FULL), progress(scene, "msg_1", FULL))
    assert scene.counts() == ONCE
    with scene.open() as ledger:
        assert ledger.calls()[0].subagent_id == "a1"


def test_placeholder_in_a_progress_line_does_not_win(scene: Scene) -> None:
    scene.write("s", progress(scene, "msg_1", PLACEHOLDER, stop=None))
    scene.write("s/subagents/agent-a1", scene.answer("msg_1", FULL, agentId="a1"))
    assert scene.counts() == ONCE
    with scene.open() as ledger:
        assert not ledger.calls()[0].lower_bound


def test_advisor_counts_beside_the_answer(scene: Scene) -> None:
    advisor = tokens(7000, 90) | {"type": "advisor_message", "model": "claude-opus-4-1-20250805"}
    usage = FULL | {"iterations": [FULL | {"type": "message"}, advisor]}
    scene.write("s", scene.answer("msg_1", FULL), scene.answer("msg_1", usage), scene.answer("msg_1", usage))
    assert scene.counts() == (2, 7010, 290, 30, 40, 500)
    with scene.open() as ledger:
        groups = {group.key: group.totals.counts.input for group in ledger.usage("model").groups}
    assert groups == {"claude-opus-4-1-20250805": 7000, "claude-sonnet-4-5-20250929": 10}


def test_synthetic_answers_and_api_errors_count_nothing(scene: Scene) -> None:
    scene.write(
        "s", scene.answer("msg_1", FULL), scene.answer("msg_2", FULL, request=None, model="<synthetic>"),
        scene.answer("msg_3", FULL, request="req_3", isApiErrorMessage=True),
    )  # fmt: skip
    assert scene.counts() == ONCE


def test_two_answers_glued_onto_one_line(scene: Scene) -> None:
    first, second = scene.answer("msg_1", FULL), scene.answer("msg_2", FULL, request="req_2")
    scene.write("s", json.dumps(first) + json.dumps(second))
    assert scene.counts() == (2, 20, 400, 60, 80, 1000)


def test_counts_quoted_in_a_text_are_no_counts(scene: Scene) -> None:
    quoted = {"type": "user", "message": {"role": "user", "content": json.dumps(scene.answer("msg_9", FULL))}}
    result = {"type": "user", "message": {"content": []}, "toolUseResult": {"usage": FULL, "totalTokens": 5}}
    scene.write("s", quoted, result, scene.answer("msg_1", FULL))
    assert scene.counts() == ONCE


def test_older_clients_tell_only_the_sum_of_cache_writes(scene: Scene) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4}
    scene.write("s", scene.answer("msg_1", usage))
    assert scene.counts() == (1, 1, 2, 3, 0, 4)


def everything(scene: Scene) -> None:
    """Every class above at once: 4 calls."""
    split = [scene.answer("msg_1", PLACEHOLDER, stop=None), scene.answer("msg_1", FULL)]
    second = scene.answer("msg_2", FULL, request="req_2", isSidechain=True, agentId="a1")
    third = scene.answer("msg_3", FULL, request=None)
    fourth = scene.answer("msg_4", FULL, request="req_4")
    scene.write("s", *split, progress(scene, "msg_2", PLACEHOLDER, requestId="req_2"), third, scene.answer(
        "msg_5", FULL, request=None, model="<synthetic>"))  # fmt: skip
    scene.write("s/subagents/agent-a1", *split, second)
    scene.write("fork", *[{**row, "sessionId": "fork"} for row in (*split, third)], fourth)
    scene.write("copy", *split, third, json.dumps(fourth) + json.dumps(third))


def test_all_of_it_together(scene: Scene) -> None:
    everything(scene)
    assert scene.counts() == (4, 40, 800, 120, 160, 2000)


def test_the_order_in_which_files_came_does_not_matter(scene: Scene, tmp_path: Path) -> None:
    everything(scene)
    texts = {path: path.read_bytes() for path in sorted(scene.root.rglob("*.jsonl"))}
    for path in texts:
        path.unlink()
    for path in reversed(texts):
        data = texts[path]
        path.write_bytes(data[: len(data) // 2])  # torn in the middle of a line
        scene.counts()
        path.write_bytes(data)
        scene.counts()
    with scene.open() as grown, scene.open(folder=tmp_path / "other") as fresh:
        for by in ("day", "session", "subagent", "model", "project"):
            assert grown.usage(by) == fresh.usage(by)


def test_a_file_that_goes_gives_its_calls_to_the_copy(scene: Scene, tmp_path: Path) -> None:
    everything(scene)
    scene.counts()
    for name in ("s", "fork", "copy"):
        scene.path(name).unlink()
        with scene.open() as grown, scene.open(folder=tmp_path / f"without-{name}") as fresh:
            assert grown.usage("session") == fresh.usage("session")
            assert grown.usage("day") == fresh.usage("day")


def test_a_growing_file_adds_only_what_is_new(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", PLACEHOLDER, stop=None))
    with scene.open() as ledger:
        assert ledger.usage().totals.lower_bounds == 1
    scene.append("s", scene.answer("msg_1", FULL), scene.answer("msg_2", FULL, request="req_2"))
    with scene.open() as ledger:
        report = ledger.sync()
        assert (report.files, report.lines) == (1, 2)
        assert ledger.usage().totals.lower_bounds == 0
    assert scene.counts() == (2, 20, 400, 60, 80, 1000)
    with scene.open() as ledger:
        assert ledger.sync().files == 0


def test_a_rewritten_file_is_counted_anew(scene: Scene) -> None:
    path = scene.write("s", scene.answer("msg_1", FULL), scene.answer("msg_2", FULL, request="req_2"))
    scene.counts()
    scene.write("s", scene.answer("msg_3", FULL, request="req_3"))
    os.utime(path, (1, 1))
    assert scene.counts() == ONCE


def test_a_last_line_without_its_line_feed(scene: Scene) -> None:
    scene.write("s", scene.answer("msg_1", FULL), end="")
    assert scene.counts() == ONCE
    with scene.path("s").open("a") as stream:
        stream.write("\n" + json.dumps(scene.answer("msg_2", FULL, request="req_2")) + "\n")
    assert scene.counts()[0] == 2


def test_line_numbers_are_those_of_the_file(scene: Scene) -> None:
    second = scene.answer("msg_2", FULL, request="2")
    scene.write("s", "", "not json", {"type": "user"}, scene.answer("msg_1", FULL), "{}", second)
    with scene.open() as ledger:
        assert [item.line for item in ledger.calls()] == [4, 6]
    scene.append("s", "{}", scene.answer("msg_3", FULL, request="3"))
    with scene.open() as ledger:
        assert [item.line for item in ledger.calls()] == [4, 6, 8]


def test_a_line_longer_than_the_buffer(scene: Scene) -> None:
    row = scene.answer("msg_1", FULL)
    row["message"]["content"] = [{"type": "text", "text": "x" * 5_000_000}]
    scene.write("s", row, scene.answer("msg_2", FULL, request="req_2"))
    assert scene.counts()[0] == 2


def test_two_homes_with_the_same_call(scene: Scene, tmp_path: Path) -> None:

    other = Scene(tmp_path / "other")
    row = scene.answer("msg_1", FULL)
    scene.write("s", row)
    other.write("s", row, scene.answer("msg_2", FULL, request="req_2"))
    with ledger_over([scene.root, other.root], scene.folder) as both:
        assert both.usage("day").totals.calls == 2
    assert scene.counts() == ONCE  # alone, in a catalogue that knows both
