from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.session_meta import SubagentMeta, call_input, parse_subagent_meta, subagent_meta_bytes


def test_all_known_fields() -> None:
    meta = parse_subagent_meta(
        b"""{"agentType": "Explore", "description": "look", "toolUseId": "toolu_1", "parentAgentId": "a1",
        "spawnDepth": 2, "isBuiltIn": true, "isFork": false, "finished": true, "model": "opus", "requestShape": "x"}"""
    )
    assert meta == SubagentMeta(
        subagent_type="Explore",
        description="look",
        tool_use_id="toolu_1",
        parent_subagent_id="a1",
        spawn_depth=2,
        model="opus",
        is_built_in=True,
        is_fork=False,
        finished=True,
        extra={"requestShape": "x"},
    )


def test_a_sparse_file_of_an_older_client() -> None:
    assert parse_subagent_meta(b'{"agentType":"general-purpose"}') == SubagentMeta(subagent_type="general-purpose")


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    assert parse_subagent_meta(data).problem is not None or data.strip().startswith(b"{")


def test_what_the_call_that_started_a_subagent_says() -> None:
    given = {"subagent_type": "Explore", "description": "look"}
    blocks = ["odd", {"id": "t0", "input": given}, {"id": "t1", "input": "odd"}, {"id": "t1", "input": given}]
    line = json.dumps({"message": {"content": blocks}}).encode()
    assert call_input(line, "t1") == given
    assert call_input(line, "t2") == call_input(b"[1]", "t1") == {}


def test_a_description_is_written_as_it_is_read() -> None:
    written = subagent_meta_bytes({"subagent_type": "Explore", "description": "look"}, "t1", "a1")
    assert parse_subagent_meta(written) == SubagentMeta(
        subagent_type="Explore", description="look", tool_use_id="t1", parent_subagent_id="a1"
    )
    assert parse_subagent_meta(subagent_meta_bytes({"subagent_type": 7}, None, None)) == SubagentMeta(
        subagent_type="general-purpose"
    )
