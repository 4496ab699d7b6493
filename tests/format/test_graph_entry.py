"""The graph's own view of an entry is the same on the fast path and on the slow one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import SMALL_DAMAGES, read

from recollect.format.decode import Located, parse_lines, parse_row_entries
from recollect.format.entries import decode_entry, decode_graph_entry, graph_entry_of
from recollect.format.line import Damage, RawLine
from recollect.graph.rows import Transcript, build_transcript
from recollect.testing import ALL_AGES, DamageRecipe, build_age


def fast(line: bytes) -> Transcript:
    damage: list[Damage] = []
    return build_transcript(parse_row_entries([RawLine(line, 0, 1)], damage), damage)


def slow(line: bytes) -> Transcript:
    damage: list[Damage] = []
    found = [
        Located(graph_entry_of(item.entry), item.line, item.offset, item.length, item.client_reads)
        for item in parse_lines([RawLine(line, 0, 1)], damage)
    ]
    return build_transcript(found, damage)


@pytest.mark.parametrize("version", ALL_AGES)
def test_lines_of_every_age(version: str, tmp_path: Path) -> None:
    for session in build_age(tmp_path / "claude", version).sessions:
        for line in session.path.read_bytes().splitlines(keepends=True):
            assert fast(line) == slow(line)


@pytest.mark.parametrize("recipe", SMALL_DAMAGES.values(), ids=SMALL_DAMAGES)
def test_damaged_lines(recipe: DamageRecipe) -> None:
    reading = read(recipe.make(2))
    damage: list[Damage] = []
    found = list(parse_row_entries(reading.lines, damage))
    assert damage == reading.damage
    assert [item[1:] for item in found] == [item[1:] for item in reading.found]
    for line in reading.lines:
        assert fast(line.data).rows == slow(line.data).rows


def test_what_the_fast_decoder_reads() -> None:
    content = [{"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": [{"type": "text"}]}]
    line = {"type": "user", "message": {"id": "m", "content": content}, "toolUseResult": {"agentId": "a1", "x": [1]}}
    data = json.dumps(line).encode()
    assert decode_graph_entry(data) == graph_entry_of(decode_entry(data))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "id", "content", "name", "tool_use_id", "agentId", "is_error"]), inner
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["user", "assistant", "system", "attachment", "progress", "last-prompt", "tag"]),
    st.dictionaries(
        st.sampled_from(
            ["message", "toolUseResult", "attachment", "data", "compactMetadata", "uuid", "isMeta", "leafUuid"]
        ),
        VALUES,
    ),
)
def test_any_values(kind: str, fields: dict[str, Any]) -> None:
    line = json.dumps({"type": kind, "subtype": "compact_boundary", **fields}).encode()
    assert fast(line) == slow(line)
