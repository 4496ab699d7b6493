from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.subagent_meta import SubagentMeta, parse_subagent_meta, subagent_id_of


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


@pytest.mark.parametrize(
    ("name", "subagent"),
    [
        ("agent-a0ad4f44468bdf20d.jsonl", "a0ad4f44468bdf20d"),
        ("agent-a0ad4f44468bdf20d.meta.json", "a0ad4f44468bdf20d"),
        ("agent-.jsonl", None),
        ("agent-x.txt", None),
        ("x-agent-y.jsonl", None),
    ],
)
def test_names(name: str, subagent: str | None) -> None:
    assert subagent_id_of(name) == subagent


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    assert parse_subagent_meta(data).problem is not None or data.strip().startswith(b"{")
