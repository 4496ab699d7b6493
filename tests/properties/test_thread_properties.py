"""Random graphs, most of them impossible: the walk ends, is a path, and every row has its place."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.reading import transcript_of

from recollect.graph import client_state as loaded
from recollect.graph import request
from recollect.graph.client_state import load_as_client
from recollect.graph.fork_point import append_point, last_row_to_append_to
from recollect.graph.leaf import choose_leaf
from recollect.graph.thread import STATUSES, as_written, find_thread, walk_up
from recollect.testing import NIL_UUID

NAMES = [f"r{number}" for number in range(10)]
LINKS = st.sampled_from([None, *NAMES, "nowhere", ""])
CALLS = ["t1", "t2", "t3"]


def stamp(seconds: int) -> str:
    return f"2026-03-02T09:{seconds // 60:02d}:{seconds % 60:02d}.000Z"


TIMES = st.sampled_from([*(stamp(number) for number in range(0, 600, 2)), *[None, "yesterday", 5] * 10])


def call(ident: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": "Bash", "input": {}}


def result(ident: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": ident, "content": "x"}


TEXT = {"type": "text", "text": "hello"}
THOUGHT = {"type": "thinking", "thinking": "hm"}
CONTENTS: dict[str, list[Any]] = {
    "assistant": [[TEXT], [THOUGHT], *([call(t)] for t in CALLS), [TEXT, call("t1")], [call("t1"), call("t2")]],
    "user": [[TEXT], *([result(t)] for t in CALLS), [result("t1"), TEXT], [result("t1"), result("t2")]],
}
USELESS: list[Any] = ["words", "", [], None, 5, [None]]


def messages() -> list[dict[str, Any]]:
    """Every kind of message row, by what it says and is."""
    found: list[dict[str, Any]] = []
    for kind, contents in CONTENTS.items():
        for content in contents:
            found += [{"type": kind, "message": {"content": content, "id": ident}} for ident in ("m1", "m2", None)]
        found += [{"type": kind, "message": {"content": content, "id": "m1"}} for content in USELESS]
        found += [
            {"type": kind, "message": {"content": [TEXT]}, flag: True} for flag in ("isMeta", "isApiErrorMessage")
        ]
    return found


PRESERVED = st.builds(
    lambda a, u: {"preservedMessages": {"anchorUuid": a, "uuids": u}}, LINKS, st.lists(LINKS, max_size=3)
)
SEGMENTS = st.builds(
    lambda a, h, t: {"preservedSegment": {"anchorUuid": a, "headUuid": h, "tailUuid": t}}, LINKS, LINKS, LINKS
)
BOUNDARIES = st.builds(
    lambda link, metadata: {
        "type": "system",
        "subtype": "compact_boundary",
        "logicalParentUuid": link,
        "compactMetadata": metadata,
    },
    LINKS,
    PRESERVED | SEGMENTS | st.sampled_from([{}, None, 5, {"preservedMessages": {"uuids": 5}}]),
)
OTHERS: list[dict[str, Any]] = [
    {"type": "attachment", "attachment": {"type": "date"}},
    {"type": "attachment", "attachment": {"type": "fork_briefing"}},
    {"type": "progress", "data": {"type": "bash_progress"}},
    {"type": "system", "subtype": "turn_duration"},
    {"type": "system", "subtype": "file_snapshot"},
]
SIDES: list[dict[str, Any]] = [*[{"isSidechain": False}] * 4, {}, {"isSidechain": True}]


@st.composite
def row(draw: st.DrawFn) -> dict[str, Any]:
    what = draw(st.sampled_from(messages() + OTHERS * 4) | BOUNDARIES)
    place = {
        "uuid": draw(st.sampled_from([*NAMES, None, ""])),
        "parentUuid": draw(LINKS),
        "timestamp": draw(TIMES),
        "sourceToolAssistantUUID": draw(LINKS),
    }
    return {**what, **place, **draw(st.sampled_from(SIDES))}


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
    assert thread == find_thread(transcript)
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
    """Each row but the first hangs on the one before it: by its own link, or by a repaired one within five seconds."""
    state = load_as_client(transcript_of(encoded(entries)))
    leaf = choose_leaf(state).uuid
    if leaf is None:
        return
    seen: set[str] = set()
    repaired: dict[str, str] = {}
    walk = walk_up(state, leaf, seen, repaired)
    assert (walk[-1].uuid or "") == leaf
    assert len(seen) == len(walk)
    for above, below in pairwise(walk):
        uuid, parent = below.uuid or "", above.uuid or ""
        if uuid in repaired:
            assert repaired[uuid] == parent
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
    transcript = transcript_of(encoded(entries))
    thread = find_thread(transcript)
    if thread.leaf is None:
        assert thread.chain == []
        assert thread.sent == []
    else:
        leaf = load_as_client(transcript).rows[thread.leaf]
        assert leaf.is_message
        assert not leaf.sidechain
        assert leaf.time is not None


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


def talk(names: list[str], links: list[int], responses: list[str]) -> list[dict[str, Any]]:
    """Words of both sides, each below one of those before it or behind it, most of them below the one right before."""
    return [
        {
            "type": "assistant" if response else "user",
            "uuid": name,
            "parentUuid": names[(number - 1 - link) % len(names)] if number or link else None,
            "timestamp": stamp(number * 2 + 7 * abs(link)),
            "isSidechain": False,
            "message": {"content": [TEXT], "id": response},
        }
        for number, (name, link, response) in enumerate(zip(names, links, responses, strict=True))
    ]


TALKS = st.integers(1, 30).flatmap(
    lambda length: st.builds(
        talk,
        st.lists(
            st.sampled_from([f"n{number}" for number in range(60)]), min_size=length, max_size=length, unique=True
        ),
        st.lists(st.sampled_from([0] * 12 + [1, 2, -3]), min_size=length, max_size=length),
        st.lists(st.sampled_from([*[""] * 20, *(f"r{n}" for n in range(40))]), min_size=length, max_size=length),
    )
)


COMPACTED = st.builds(
    lambda before, boundary, after: [*before, {**boundary, "uuid": "b", "timestamp": stamp(300)}, *after],
    TALKS,
    BOUNDARIES,
    FILES,
)
"""Compacted once at least, with nothing in the way of forgetting what was before."""
CONVERSATIONS = st.one_of(FILES, TALKS, COMPACTED, st.builds(lambda one, other: one + other, TALKS, FILES))


def with_results(entries: list[dict[str, Any]], calls: list[int]) -> list[dict[str, Any]]:
    """Some of the answers call two tools at once; both results hang on them, and what followed hangs on either."""
    told = []
    for number, entry in enumerate(entries):
        told.append(entry)
        if calls[number % len(calls)] and entry["type"] == "assistant":
            name = entry["uuid"]
            idents = [f"{name}-{place}" for place in range(2)]
            entry["message"]["content"] = [call(ident) for ident in idents]
            told += [
                {
                    "type": "user", "uuid": f"{ident}-result", "parentUuid": name, "timestamp": entry["timestamp"],
                    "isSidechain": False, "sourceToolAssistantUUID": name, "message": {"content": [result(ident)]},
                }
                for ident in idents
            ]  # fmt: skip
            for later in entries[number + 1 :]:
                if later["parentUuid"] == name:
                    later["parentUuid"] = f"{idents[calls[number % len(calls)] - 1]}-result"
    return told


@given(st.builds(with_results, TALKS, st.lists(st.integers(0, 2), min_size=1, max_size=5)), st.data())
def test_what_is_written_behind_a_conversation_belongs_to_it(
    entries: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Wherever it was rewound to, results of parallel calls included."""
    places = {entry["uuid"]: place for place, entry in enumerate(entries)}
    assume(
        all(places.get(entry["parentUuid"], -1) < places[entry["uuid"]] for entry in entries)
    )  # or rows are in a circle
    uuid = data.draw(st.sampled_from([None, *(entry["uuid"] for entry in entries)]))
    if uuid is not None:
        entries = [*entries, {"type": "last-prompt", "leafUuid": uuid, "explicit": True}]
    thread = find_thread(transcript_of(encoded(entries)))
    parent, is_read = append_point(transcript_of(encoded(entries)), 4e9)
    assert is_read
    assert parent == last_row_to_append_to(thread)
    assume(parent is not None)
    prompt = {"type": "user", "message": {"content": "SEE ME"}, "isSidechain": False}
    written = {**prompt, "uuid": "new", "parentUuid": parent, "timestamp": stamp(3000)}
    after = find_thread(transcript_of(encoded([*entries, written])))
    assert after.leaf == after.sent[-1].uuid == "new"
    assert {row.uuid for row in thread.sent} <= {row.uuid for row in after.sent}, "nothing of before is lost by it"


@given(CONVERSATIONS)
def test_a_message_hangs_where_the_client_resumes_with_it_and_what_was_before(entries: list[dict[str, Any]]) -> None:
    """Or nothing is said to be a place for it: rows in circles, uuids that are there twice, checkpoints anywhere."""
    transcript = transcript_of(encoded(entries))
    parent, is_read = append_point(transcript, 4e9)
    assume(is_read)
    prompt = {"type": "user", "message": {"content": "SEE ME"}, "isSidechain": False}
    written = {**prompt, "uuid": "new", "parentUuid": parent, "timestamp": "2096-10-02T07:06:40.000Z"}
    after = find_thread(transcript_of(encoded([*entries, written])))
    assert after.leaf == after.sent[-1].uuid == "new"
    was = {row.index for row in find_thread(transcript).chain if row.is_message}
    assert was <= {row.index for row in after.chain}


@given(CONVERSATIONS, st.booleans())
def test_plain_talk_is_sent_as_the_long_way_sends_it(entries: list[dict[str, Any]], large: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if large:  # all rows before a plain boundary are forgotten
            patch.setattr(loaded, "LARGE_FILE", 0)
        found = find_thread(transcript_of(encoded(entries)))
        patch.setattr(request, "_is_plain_talk", lambda _: False)
        assert find_thread(transcript_of(encoded(entries))) == found


@given(FILES)
def test_the_same_rows_put_in_again_are_the_same_transcript(entries: list[dict[str, Any]]) -> None:
    transcript = transcript_of(encoded(entries))
    again = transcript.with_rows(transcript.rows, transcript.states, transcript.size)
    assert (again.others, again.rows, again.by_uuid) == (transcript.others, transcript.rows, transcript.by_uuid)


@given(st.one_of(FILES, TALKS))
def test_rows_as_they_were_written(entries: list[dict[str, Any]]) -> None:
    """All that the client can read, each on its parent, over progress and rows without use."""
    transcript = transcript_of(encoded(entries))
    found = as_written(transcript)
    last = {row.uuid: row for row in transcript.rows if row.uuid is not None and row.client_reads}
    passed = {uuid: row.parent for uuid, row in last.items() if row.type == "progress" or not row.usable}
    assert found.rows == {uuid: row for uuid, row in last.items() if uuid not in passed}
    assert list(found.rows) == [uuid for uuid in last if uuid not in passed]
    for uuid, row in found.rows.items():
        above, seen = row.parent, set()
        while above and above in passed and above not in seen:
            seen.add(above)
            above = passed[above]
        if above not in seen:  # who hangs on a circle of them hangs on one of them, or on nothing
            assert found.parents[uuid] == above
