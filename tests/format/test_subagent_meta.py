from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.session_meta import SubagentMeta, parse_subagent_meta


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
