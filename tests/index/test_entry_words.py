"""Words that are read back are those that were taken in: the two readers of an entry agree on every age and damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.index.search_scene import Scene

from recollect.format.decode import parse_as
from recollect.format.line import Damage, RawLine
from recollect.format.worded_entry import decode_index_entry, index_entry_of
from recollect.index.catalogue.reading_back import loads_text
from recollect.index.words import searchable_text as texts
from recollect.index.words.reader import WordReader
from recollect.testing import ALL_AGES, build_age, build_demo_home


def taken_in(data: bytes) -> list[str]:
    damage: list[Damage] = []
    found = parse_as([RawLine(data, 0, 1)], damage, decode_index_entry, index_entry_of)
    return [texts.words_of(item.entry).text for item in found]


@pytest.mark.parametrize("age", sorted(ALL_AGES))
def test_every_age(tmp_path: Path, age: str) -> None:
    build_age(tmp_path, age)
    compare(tmp_path)


def test_the_demo_home(tmp_path: Path) -> None:
    build_demo_home(tmp_path)
    assert compare(tmp_path) > 50


def compare(root: Path) -> int:
    count = 0
    for path in sorted(root.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines(keepends=True):
            found = taken_in(line)
            if len(found) == 1:
                assert loads_text(line) == found[0], line[:300]
                count += bool(found[0])
    return count


short = st.text(max_size=4)
blocks = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["text", "thinking", "tool_use", "tool_result", "image", "redacted_thinking", "other", "document"]
        )
    },
    optional={
        "text": st.text(max_size=5),
        "thinking": st.text(max_size=5),
        "id": st.just("t1"),
        "name": st.just("Bash"),
        "tool_use_id": st.just("t1"),
        "is_error": st.booleans(),
        "input": st.dictionaries(short, short | st.lists(short, max_size=2), max_size=2),
        "content": st.text(max_size=5)
        | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=4)}), max_size=2),
    },
)
entries: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["user", "assistant", "system", "attachment", "ai-title", "custom-title", "summary", "tag", "x"]
        )
    },
    optional={
        "message": st.fixed_dictionaries({"content": st.text(max_size=6) | st.lists(blocks, max_size=3)}),
        "isMeta": st.booleans(),
        "isCompactSummary": st.booleans(),
        "content": st.text(max_size=6) | st.lists(blocks, max_size=2),
        "attachment": st.fixed_dictionaries(
            {"type": st.sampled_from(["queued_command", "y"]), "prompt": st.text(max_size=4)}
        ),
        "aiTitle": st.text(max_size=4),
        "customTitle": st.text(max_size=4),
        "summary": st.text(max_size=4),
        "tag": st.text(max_size=4),
    },
)


@given(entries)
def test_any_entry(entry: dict[str, Any]) -> None:
    data = json.dumps(entry).encode()
    (found,) = taken_in(data)
    assert [line for line in loads_text(data).split("\n") if line] == [line for line in found.split("\n") if line]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> WordReader:
    return Scene(tmp_path_factory.mktemp("reader")).words


@given(st.text(alphabet="aAbB9_- 日한カ.éß\U0001f600", max_size=40))
def test_tokens_know_their_places(reader: WordReader, text: str) -> None:
    tokens = reader.tokenize(text)
    assert [token for token, _, _ in tokens] == reader.analyze(text)
    for token, start, end in tokens:
        assert text[start:end].lower() == token
