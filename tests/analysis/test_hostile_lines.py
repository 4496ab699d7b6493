"""Only lines that hold a count's name are decoded, and only a part of them: the answer must be that of decoding everything."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.scene import MODEL, START, Scene

from recollect.index.api_calls.rows import PARTIAL

Counted = dict[tuple[str, str, str], tuple[int, ...]]
NAMES = ("input_tokens", "output_tokens", "cache_read_input_tokens")

COUNT = st.integers(0, 9)
USAGE = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, COUNT)).filter(bool)
BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": 'it said {"usage":{"output_tokens":7}} and "output_tokens"'},
        {"type": "tool_use", "id": "t", "name": "T", "input": {"usage": {"output_tokens": 5}, "message": {"id": "m9"}}},
        {"type": "tool_result", "content": [{"usage": {"input_tokens": 3, "output_tokens": 3}}]},
        {"type": "text", "text": 'Ünïcode 😀 \\ " \u2028'},
    ]
)
ANSWER = st.fixed_dictionaries(
    {"id": st.sampled_from(["m1", "m2"]), "model": st.sampled_from([MODEL, "other", "<synthetic>"])},
    optional={
        "usage": USAGE,
        "content": st.lists(BLOCKS, max_size=2),
        "stop_reason": st.sampled_from([None, "end_turn", "tool_use"]),
    },
)
ENTRY = st.fixed_dictionaries(
    {"message": ANSWER, "timestamp": st.just(START)},
    optional={
        "type": st.sampled_from(["assistant", "assistant", "assistant", "user", "system"]),
        "requestId": st.sampled_from(["r1", "r2"]),
        "isApiErrorMessage": st.booleans(),
        "toolUseResult": st.just({"usage": {"output_tokens": 8}, "message": {"usage": {"input_tokens": 8}}}),
        "sessionId": st.sampled_from(["s", "t"]),
    },
)


def written(value: Any, chance: random.Random) -> str:
    """JSON as somebody may write it: any order, any spaces, escapes where none are needed, keys twice (the last one holds)."""
    space = "" if chance.random() < 0.6 else " "
    if isinstance(value, dict):
        pairs = list(value.items())
        chance.shuffle(pairs)
        parts = []
        for key, item in pairs:
            if chance.random() < 0.1:
                parts.append(f"{_key(key, chance)}{space}:{space}{written(chance.choice(['x', None, 3, {}]), chance)}")
            parts.append(f"{_key(key, chance)}{space}:{space}{written(item, chance)}")
        return "{" + space + f"{space},{space}".join(parts) + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(written(item, chance) for item in value) + "]"
    return json.dumps(value, ensure_ascii=chance.random() < 0.5)


def _key(name: str, chance: random.Random) -> str:
    if (
        name not in NAMES and chance.random() < 0.1
    ):  # the names of counts themselves are written in letters by every client
        return f'"\\u{ord(name[0]):04x}{name[1:]}"'
    return f'"{name}"'


def decoded_whole(lines: list[str]) -> Counted:
    """What counts, by the rules alone: every line decoded with all that is in it."""
    found: Counted = {}
    whole = set()
    for line in lines:
        entry = json.loads(line)
        answer = entry.get("message")
        usage = answer.get("usage") if isinstance(answer, dict) else None
        if (
            entry.get("type", "assistant") != "assistant"
            or entry.get("isApiErrorMessage")
            or not isinstance(usage, dict)
        ):
            continue
        if answer["model"] == "<synthetic>":
            continue
        key = (answer["id"], entry.get("requestId", ""), answer["model"])
        counts = tuple(usage.get(name, 0) for name in NAMES)
        found[key] = tuple(map(max, found.get(key, (0, 0, 0)), counts))
        if None not in (usage.get("input_tokens"), usage.get("output_tokens")):
            whole.add(key)
    return {key: counts for key, counts in found.items() if key in whole or any(counts)}


def counted(scene: Scene) -> Counted:
    with scene.open() as ledger:
        return {
            (item.message_id, item.request_id, item.model): (
                item.counts.input,
                item.counts.output,
                item.counts.cache_read,
            )
            for item in ledger.calls()
            if not item.flags & PARTIAL or any(item.counts)  # what has no counts at all is named, but adds nothing
        }


@settings(max_examples=150, deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=8), st.randoms(use_true_random=False), st.data())
def test_the_same_as_decoding_every_line_whole(
    entries: list[dict[str, Any]], chance: random.Random, data: st.DataObject
) -> None:
    lines = [written(entry, chance) for entry in entries]
    grown_at = data.draw(st.integers(0, len(lines)))
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        scene.write("s", *lines[:grown_at])
        assert counted(scene) == decoded_whole(lines[:grown_at])
        scene.append("s", *lines[grown_at:])
        assert counted(scene) == decoded_whole(lines)
        for grouped in ("day", "session", "model"):
            with scene.open() as ledger:
                totals = ledger.usage(grouped).totals
            sums = tuple(map(sum, zip(*decoded_whole(lines).values(), strict=True))) or (0, 0, 0)
            assert (totals.counts.input, totals.counts.output, totals.counts.cache_read) == sums


@pytest.mark.parametrize(
    "change", [{"type": "user"}, {"isApiErrorMessage": True}, {"requestId": "r2"}, {"timestamp": None}]
)
@pytest.mark.parametrize("answer", [{}, {"model": "other"}, {"model": "<synthetic>"}, {"id": "m2"}])
def test_a_line_that_all_but_repeats_the_one_before(
    tmp_path: Path, change: dict[str, Any], answer: dict[str, Any]
) -> None:
    first: dict[str, Any] = {
        "type": "assistant", "requestId": "r1", "timestamp": START,
        "message": {"id": "m1", "model": MODEL, "usage": {"input_tokens": 1, "output_tokens": 2}},
    }  # fmt: skip
    lines = [json.dumps(first), json.dumps({**first, "message": first["message"] | answer, **change})]
    scene = Scene(tmp_path)
    for order in (lines, lines[::-1]):
        scene.write("s", *order)
        assert counted(scene) == decoded_whole(order)


def test_the_time_of_a_call_may_stand_on_its_second_line(scene: Scene) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    scene.write("s", scene.answer("m1", usage, time=None), scene.answer("m1", usage))
    with scene.open() as ledger:
        assert [item.time for item in ledger.calls()] == [1762164000000000]
