"""Entries as the index reads them: lines of any length, and those that the plain decoder refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.format import worded_entry
from recollect.format.entries import decode_entry
from recollect.format.worded_entry import IndexEntry, decode_index_entry, index_entry_of, long_words

WORDS = "words " * 30


def line(**fields: Any) -> bytes:
    return json.dumps({"type": "user", "uuid": "u", **fields}).encode()


def said(*blocks: Any, **fields: Any) -> bytes:
    return line(message={"model": "m", "id": "i", "content": list(blocks), "stop_reason": "end_turn"}, **fields)


def blocks_of(entry: IndexEntry) -> list[Any]:
    assert entry.message is not None and isinstance(entry.message.content, list)
    return entry.message.content


def test_a_line_of_usual_length() -> None:
    entry = decode_index_entry(said({"type": "text", "text": "a"}, agentName="n"))
    assert entry.agentName == "n" and blocks_of(entry)[0].text == "a"


@pytest.mark.parametrize(
    ("kind", "field", "wanted"),
    [
        ("text", "text", WORDS),
        ("thinking", "thinking", WORDS),
        ("tool_result", "content", WORDS),
        ("tool_use", "input", {"": WORDS}),
        ("image", "text", WORDS),
    ],
)
def test_the_text_of_a_very_long_line_goes_to_its_first_block(
    monkeypatch: pytest.MonkeyPatch, kind: str, field: str, wanted: Any
) -> None:
    monkeypatch.setattr(worded_entry, "LONG_LINE", 300)
    data = said({"type": kind, "text": WORDS, "id": "t1"}, {"type": "text", "text": "b" * 400})
    entry = decode_index_entry(data)
    assert entry.uuid == "u" and entry.message is not None
    assert (entry.message.model, entry.message.id, entry.message.stop_reason) == ("m", "i", "end_turn")
    first, second = blocks_of(entry)
    found = getattr(first, field)
    text = found[""] if isinstance(found, dict) else found
    assert first.id == "t1" and text.startswith(WORDS.strip()[:100]) and isinstance(found, type(wanted))
    assert second.text is None or "b" not in second.text


def test_a_very_long_text_and_a_line_without_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worded_entry, "LONG_LINE", 100)
    entry = decode_index_entry(line(message={"content": WORDS}))
    assert entry.message is not None and isinstance(entry.message.content, str)
    assert entry.message.content.startswith("words words")
    assert decode_index_entry(line(message={"content": []}, data=WORDS)).message is not None
    assert decode_index_entry(line(content=WORDS)).message is None


def test_fields_of_unexpected_types_are_left_out() -> None:
    odd = line(
        message={"model": 7, "content": ["bare", {"type": "tool_result", "content": ["part", {"type": "text", "text": "b"}]}]},
    )  # fmt: skip
    entry = index_entry_of(decode_entry(odd))
    assert entry.uuid == "u" and entry.message is not None and entry.message.model is None
    first, second = blocks_of(entry)
    assert first.text == "bare"
    assert [part.text for part in second.content] == ["part", "b"]
    assert index_entry_of(decode_entry(line(message="said"))).message is None


def test_a_refused_entry_that_is_too_long_keeps_only_its_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worded_entry, "LONG_LINE", 100)
    blocks = [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"x": WORDS}}]
    entry = index_entry_of(decode_entry(said(*blocks, toolUseResult={"stdout": WORDS})))
    assert entry.message is not None and (entry.message.model, entry.message.id) == ("m", "i")
    (block,) = blocks_of(entry)
    assert (block.type, block.id, block.name, block.input) == ("tool_use", "t1", "Read", type(block)().input)
    assert entry.toolUseResult is None


def test_long_strings_of_a_line_that_is_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Zoë \U0001f600 said: " + "na " * 20
    data = json.dumps({"short": "left out", "a": text, "b": text}).encode()
    assert long_words(data) == f"{text}\n{text}"
    for cut in range(data.rindex(b'"Zo') + 50, len(data)):
        monkeypatch.setattr(worded_entry, "LONG_LINE", cut)
        first, _, rest = long_words(data).partition("\n")
        assert first == text and text.startswith(rest.rstrip("\ud83d"))
