"""Rows and state lines of a transcript: what the graph knows of each entry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET
from tests.reading import transcript_of

from recollect.testing import ALL_AGES, DAMAGES, TranscriptBuilder, build_age, sample_session, uuid_from
from recollect.testing.toolcalls import bash, failed


def builder(version: str = "2.1.325") -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("rows"), "/w/app", version)


def test_a_row_knows_where_its_bytes_are() -> None:
    data = sample_session().to_bytes()
    rows = transcript_of(data).rows
    assert len(rows) == 18
    for row in rows:
        assert json.loads(data[row.offset : row.offset + row.length])["uuid"] == row.uuid
    assert [row.index for row in rows] == list(range(18))
    assert [row.line for row in rows] == list(range(2, 20))  # the first line is a state line


def test_what_a_row_says_of_itself() -> None:
    t = builder()
    t.user("hello")
    t.assistant("hi", thinking="hm")
    t.parallel([bash("ls", "a"), failed("Read", {"file_path": "/w/a"}, "no such file")])
    t.user("caveat", meta=True)
    t.attachment("date", date="2026")
    t.system("turn_duration", durationMs=4200)
    rows = transcript_of(t).rows
    prompt, thought, answer, first, second, result, failure, meta, attachment, system = rows
    assert prompt.is_prompt
    assert (prompt.block_types, prompt.parent, prompt.side) == (("text",), None, False)
    assert (thought.block_types, answer.block_types) == (("thinking",), ("text",))
    assert thought.message_id == answer.message_id != first.message_id
    assert thought.request_id == answer.request_id is not None
    ids = list(t.calls)
    assert (first.tool_uses, second.tool_uses) == (((ids[0], "Bash"),), ((ids[1], "Read"),))
    assert (result.tool_results, failure.tool_results) == ((ids[0],), (ids[1],))
    assert (result.failed, failure.failed) == ((), (ids[1],))
    assert result.source_assistant == first.uuid
    assert not result.is_prompt
    assert meta.is_meta
    assert not meta.is_prompt
    assert (attachment.type, attachment.detail) == ("attachment", "date")
    assert (system.subtype, system.duration_ms) == ("turn_duration", 4200)


def test_state_lines_know_their_place_among_the_rows() -> None:
    t = builder()
    t.state("mode", mode="normal")
    one = t.user("one")
    t.last_prompt("one", explicit=True)
    t.assistant("two")
    t.state("last-prompt", lastPrompt="x", leafUuid=None, rewound=True)
    t.state("last-prompt", lastPrompt="x")
    mode, explicit, null, without = transcript_of(t).states
    assert (mode.type, mode.index, mode.leaf) == ("mode", 0, UNSET)
    assert (explicit.index, explicit.leaf, explicit.explicit) == (1, one, True)
    assert (null.index, null.leaf, null.rewound, null.explicit) == (2, None, True, False)
    assert without.leaf is UNSET


def test_the_last_value_of_a_state_line_counts() -> None:
    t = builder()
    t.title("First")
    t.title("Second")
    t.title("Made up", ai=True)
    t.state("tag", tag="blue")
    t.state("tag", tag="red")
    t.summary_title("Old")
    folded = transcript_of(t).folded
    assert (folded["custom-title"], folded["ai-title"], folded["tag"], folded["summary"]) == (
        "Second",
        "Made up",
        "red",
        "Old",
    )


def test_unknown_types_are_kept_and_counted() -> None:
    data = DAMAGES["unknown-type"].make() + b'{"type":"reverie"}\n{"hello":"world"}\n{"type":null}\n'
    transcript = transcript_of(data)
    assert transcript.unknown_types == {"reverie": 2, "(no type)": 2}
    assert len(transcript.rows) == 18
    assert [state.type for state in transcript.states] == ["mode", "reverie", "reverie", None, None]


def test_unknown_versions_are_counted_and_change_nothing() -> None:
    transcript = transcript_of(DAMAGES["future-version"].make())
    assert transcript.versions == {"2.1.326": 17, "9.4.0": 1}
    assert not transcript.unknown_types


def test_folders_branches_and_sessions_are_counted() -> None:
    t = builder()
    t.user("one")
    t.cwd, t.git_branch = "/w/other", "topic"
    t.assistant("two")
    transcript = transcript_of(t)
    assert transcript.cwds == {"/w/app": 1, "/w/other": 1}
    assert transcript.branches == {"main": 1, "topic": 1}
    assert transcript.session_ids == {t.session_id: 2}


def test_first_and_last_time_pass_over_rows_without_one() -> None:
    t = builder()
    uuids = [t.user("one"), t.assistant("two"), t.user("three"), t.assistant("four")]
    t.entry(uuids[0])["timestamp"] = None
    t.entry(uuids[3])["timestamp"] = 12
    transcript = transcript_of(t)
    assert (transcript.first_time, transcript.last_time) == (transcript.rows[1].time, transcript.rows[2].time)
    assert transcript_of(b"").first_time is None


@pytest.mark.parametrize(
    ("kind", "message", "usable"),
    [
        ("user", {"content": "text"}, True),
        ("user", {"content": ""}, True),
        ("user", {"content": []}, True),
        ("user", {"content": [{"type": "hologram"}]}, True),
        ("user", {"content": [None, {"type": "text", "text": "x"}]}, True),
        ("user", {"content": [None, 1, []]}, False),
        ("user", {"content": [{"text": "no type"}]}, False),
        ("user", {"content": None}, False),
        ("user", {"content": 12}, False),
        ("user", {"content": {}}, False),
        ("user", {}, False),
        ("user", None, False),
        ("user", "text", False),
        ("user", [], False),
        ("assistant", {"content": "text"}, True),
        ("assistant", {"content": "  "}, False),
        ("assistant", {"content": [{"type": "text", "text": "x"}], "model": ["a"], "id": 5}, True),
    ],
)
def test_which_messages_the_client_can_use(kind: str, message: Any, usable: bool) -> None:
    line = json.dumps({"type": kind, "uuid": "u", "parentUuid": None, "message": message}).encode()
    assert transcript_of(line + b"\n").rows[0].usable is usable


def test_a_block_of_an_odd_type_does_not_hide_the_others() -> None:
    content = [{"type": 5}, {"type": "tool_use", "id": "t1", "name": "Bash"}, {"type": "tool_use", "id": 7}]
    line = json.dumps({"type": "assistant", "uuid": "u", "message": {"id": "m", "content": content}}).encode()
    row = transcript_of(line + b"\n").rows[0]
    assert row.block_types == (None, "tool_use", "tool_use")
    assert row.tool_uses == (("t1", "Bash"),)
    assert row.message_id == "m"


@pytest.mark.parametrize("version", ALL_AGES)
def test_nothing_of_any_age_is_unknown(version: str, tmp_path: Any) -> None:
    """But for the two things of the newest age that are unknown on purpose."""
    age = build_age(tmp_path / "claude", version)
    for session in age.sessions:
        transcript = transcript_of(session.path.read_bytes())
        assert transcript.damage == []
        assert len(transcript.rows) + len(transcript.states) == session.lines
        if session is not age.rare:
            assert not transcript.unknown_types
