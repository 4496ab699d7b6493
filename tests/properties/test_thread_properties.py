"""Random graphs, most of them impossible: the walk ends, is a path, and every row has its place."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.graph.leaf import choose_leaf
from recollect.graph.loaded import load
from recollect.graph.thread import STATUSES, find_thread, walk_up
from recollect.testing import NIL_UUID
from tests.reading import transcript_of

NAMES = [f"r{number}" for number in range(10)]
LINKS = st.none() | st.sampled_from([*NAMES, "nowhere", ""])
CALLS = ["t1", "t2", "t3"]


def stamp(seconds: int) -> str:
    return f"2026-03-02T09:{seconds // 60:02d}:{seconds % 60:02d}.000Z"


TIMES = st.integers(0, 600).map(stamp) | st.sampled_from([None, "yesterday", 5])


@st.composite
def content(draw: st.DrawFn, kind: str) -> Any:
    call = st.builds(lambda ident: {"type": "tool_use", "id": ident, "name": "Bash", "input": {}}, st.sampled_from(CALLS))
    result = st.builds(lambda ident: {"type": "tool_result", "tool_use_id": ident, "content": "x"}, st.sampled_from(CALLS))
    text = st.just({"type": "text", "text": "hello"})
    thought = st.just({"type": "thinking", "thinking": "hm"})
    blocks = st.lists(st.one_of(text, call, thought) if kind == "assistant" else st.one_of(text, result), max_size=2)
    return draw(st.one_of(blocks, blocks, st.just("words"), st.sampled_from([None, "", 5, [None]])))


@st.composite
def row(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["user", "user", "assistant", "assistant", "attachment", "system", "progress"]))
    entry: dict[str, Any] = {
        "type": kind,
        "uuid": draw(st.sampled_from(NAMES) | st.sampled_from([None, ""])),
        "parentUuid": draw(LINKS),
        "timestamp": draw(TIMES),
    }
    side = draw(st.sampled_from([False, False, False, None, True]))
    if side is not None:
        entry["isSidechain"] = side
    if kind in ("user", "assistant"):
        entry["message"] = {"content": draw(content(kind)), "id": draw(st.sampled_from([None, "m1", "m2"]))}
        entry["isMeta"] = draw(st.booleans())
        entry["isApiErrorMessage"] = draw(st.sampled_from([False, False, False, True]))
        entry["sourceToolAssistantUUID"] = draw(LINKS)
    elif kind == "system":
        entry["subtype"] = draw(st.sampled_from(["compact_boundary", "file_snapshot", "turn_duration"]))
        if entry["subtype"] == "compact_boundary":
            entry["logicalParentUuid"] = draw(LINKS)
            entry["compactMetadata"] = draw(metadata())
    elif kind == "attachment":
        entry["attachment"] = {"type": draw(st.sampled_from(["date", "fork_briefing"]))}
    return entry


@st.composite
def metadata(draw: st.DrawFn) -> Any:
    anchor = draw(LINKS)
    match draw(st.integers(0, 3)):
        case 0:
            return {}
        case 1:
            return {"preservedMessages": {"anchorUuid": anchor, "uuids": draw(st.lists(LINKS, max_size=3))}}
        case 2:
            return {"preservedSegment": {"anchorUuid": anchor, "headUuid": draw(LINKS), "tailUuid": draw(LINKS)}}
        case _:
            return draw(st.sampled_from([None, 5, [], {"preservedMessages": {"uuids": 5}}]))


CHECKPOINTS = st.fixed_dictionaries(
    {"type": st.just("last-prompt")},
    optional={
        "leafUuid": LINKS | st.just(NIL_UUID),
        "explicit": st.booleans(),
        "rewound": st.booleans(),
    },
)
FILES = st.lists(row() | row() | row() | CHECKPOINTS, max_size=16)


def encoded(entries: list[dict[str, Any]], order: list[bytes] | None = None) -> bytes:
    return b"".join(line + b"\n" for line in order or [json.dumps(entry).encode() for entry in entries])


@given(FILES)
def test_statuses_partition_the_rows(entries: list[dict[str, Any]]) -> None:
    transcript = transcript_of(encoded(entries))
    thread = find_thread(transcript)
    assert len(thread.placements) == len(transcript.rows)
    assert all(item.status in STATUSES and item.reason for item in thread.placements)
    assert 0.0 <= thread.reachable_share <= 1.0


@given(FILES)
def test_no_row_is_in_the_conversation_twice(entries: list[dict[str, Any]]) -> None:
    thread = find_thread(transcript_of(encoded(entries)))
    indexes = [row.index for row in thread.chain]
    assert len(indexes) == len(set(indexes))
    uuids = [row.uuid for row in thread.chain]
    assert len(uuids) == len(set(uuids))


@given(FILES)
def test_what_is_sent_is_live(entries: list[dict[str, Any]]) -> None:
    thread = find_thread(transcript_of(encoded(entries)))
    live = {index for index, item in enumerate(thread.placements) if item.status == "live"}
    assert live == {row.index for row in thread.chain}
    sent = [row.index for row in thread.sent]
    assert len(sent) == len(set(sent))
    assert set(sent) <= live
    assert all(row.is_message for row in thread.sent)
    assert all(not row.is_boundary for row in thread.chain)
    summarised = {row.index for row in thread.summarised}
    assert {index for index, item in enumerate(thread.placements) if item.status == "precompact"} <= summarised


@given(FILES)
def test_the_walk_is_a_path(entries: list[dict[str, Any]]) -> None:
    """Each row but the first hangs on the one before it: by its own link, or by a mended one within five seconds."""
    state = load(transcript_of(encoded(entries)))
    leaf = choose_leaf(state).uuid
    if leaf is None:
        return
    seen: set[str] = set()
    mended: dict[str, str] = {}
    walk = walk_up(state, leaf, seen, mended)
    assert (walk[-1].uuid or "") == leaf
    assert len(seen) == len(walk)
    for above, below in zip(walk, walk[1:], strict=False):
        uuid, parent = below.uuid or "", above.uuid or ""
        if uuid in mended:
            assert mended[uuid] == parent
            assert above.time is not None
            assert below.time is not None
            assert 0 <= below.time - above.time <= 5
            assert above.side == below.side
        else:
            assert state.parents[uuid] == parent
    top = state.parents[walk[0].uuid or ""]
    assert not top or top not in state.rows or top in seen


@given(FILES)
def test_the_leaf_is_a_message_of_the_main_conversation(entries: list[dict[str, Any]]) -> None:
    thread = find_thread(transcript_of(encoded(entries)))
    if thread.leaf is None:
        assert thread.chain == []
        assert thread.sent == []
    else:
        (leaf,) = [row for row in load(transcript_of(encoded(entries))).rows.items() if row[0] == thread.leaf]
        assert leaf[1].is_message
        assert not leaf[1].sidechain
        assert leaf[1].time is not None


@given(FILES)
def test_the_same_file_gives_the_same_answer(entries: list[dict[str, Any]]) -> None:
    data = encoded(entries)
    assert find_thread(transcript_of(data)) == find_thread(transcript_of(data))


@given(FILES, st.integers(0, 16))
def test_lines_that_the_client_skips_change_nothing(entries: list[dict[str, Any]], place: int) -> None:
    lines = [json.dumps(entry).encode() for entry in entries]
    spoiled = [*lines[:place], b"[1]", b"", b"no json", b'{"type":"tag","tag":"x"}', *lines[place:]]
    plain = find_thread(transcript_of(encoded(entries)))
    other = find_thread(transcript_of(encoded(entries, spoiled)))
    assert [row.uuid for row in plain.sent] == [row.uuid for row in other.sent]
    assert plain.placements == other.placements


def chain(length: int) -> list[dict[str, Any]]:
    return [
        {
            "type": "user" if number % 2 == 0 else "assistant",
            "uuid": f"c{number}",
            "parentUuid": None if number == 0 else f"c{number - 1}",
            "timestamp": stamp(number * 10),
            "isSidechain": False,
            "message": {"content": [{"type": "text", "text": "x"}], "id": f"m{number}"},
        }
        for number in range(length)
    ]


@given(st.integers(1, 30))
def test_a_healthy_chain_is_sent_as_it_is(length: int) -> None:
    entries = chain(length)
    thread = find_thread(transcript_of(encoded(entries)))
    assert [row.uuid for row in thread.sent] == [entry["uuid"] for entry in entries]
    assert thread.reachable_share == 1.0


@given(st.integers(2, 20).flatmap(lambda length: st.permutations(range(length))))
def test_the_order_of_the_lines_does_not_matter_in_a_single_chain(order: list[int]) -> None:
    """If the last line of the file is the chain's first row: then all others are its descendants."""
    entries = chain(len(order))
    shuffled = [entries[place] for place in order if place != 0] + [entries[0]]
    thread = find_thread(transcript_of(encoded(shuffled)))
    assert [row.uuid for row in thread.chain] == [entry["uuid"] for entry in entries]
