"""Forks: which rows they hold, under which names, and that no other byte of a line changes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.edit.forking import Forge, Forked, words

from recollect.edit import fork_lines
from recollect.errors import NotFound, Refused, StoreBusy
from recollect.graph.thread import find_thread
from recollect.store.read import EntryBytes, read_transcript
from recollect.testing import ALL_AGES, DAMAGES, HomeBuilder, TranscriptBuilder, build_age, uuid_from
from recollect.testing.toolcalls import bash, read

NEW = uuid_from("the fork")


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude")


@pytest.fixture
def t(builder: HomeBuilder) -> TranscriptBuilder:
    return builder.session("/w/app")


def turns(t: TranscriptBuilder, *numbers: int) -> list[str]:
    return [uuid for number in numbers for uuid in (t.user(f"Q{number}"), t.assistant(f"A{number}"))]


def is_one_chain(forked: Forked) -> bool:
    """Every row of the main conversation hangs on the one before it in the file; compactions begin anew."""
    above = None
    for row in forked.transcript.rows:
        if row.sidechain:
            continue
        if row.parent != (None if row.is_boundary else above):
            return False
        above = row.uuid
    return True


class TestWhatAForkHolds:
    @pytest.mark.parametrize("keep", [False, True], ids=["new uuids", "uuids kept"])
    @pytest.mark.parametrize("version", ALL_AGES)
    def test_every_age(self, version: str, keep: bool, tmp_path: Path) -> None:
        age = build_age(tmp_path / "claude", version)
        forge = Forge(age.root)
        for session in filter(None, (age.everyday, age.long, age.continued, age.rare)):
            forked = forge.fork(session.session_id, keep_uuids=keep)
            assert forked.sent == forked.named(list(session.thread))
            assert is_one_chain(forked)
            statuses = {place.status for place in forked.thread.placements}
            assert statuses <= {"live", "precompact", "subagent"}
            assert set(forked.transcript.session_ids) == {forked.result.session_id}
            subagents = {subagent.subagent_id for subagent in session.subagents if subagent.path is not None}
            assert subagents <= set(forked.result.subagents)

    def test_up_to_a_message(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2, 3)
        forked = Forge(builder).fork(t.session_id, at=uuids[2])
        assert [words(row) for row in forked.rows] == ["Q1", "A1", "Q2"]
        assert forked.result.at == uuids[2]
        assert forked.result.leaf == forked.result.uuid_of(uuids[2]) == forked.thread.leaf

    def test_the_start_of_a_uuid_is_enough(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        assert Forge(builder).fork(t.session_id, at=uuids[1][:13]).result.at == uuids[1]

    def test_parallel_calls_are_hung_one_below_the_other(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        t.user("Q1")
        t.parallel([bash("ls", "a\n"), read("/w/app/a", "x"), bash("pwd", "/w\n")], "LOOK")
        t.assistant("A1")
        forked = Forge(builder).fork(t.session_id)
        assert forked.sent == forked.named(t.thread)
        assert is_one_chain(forked)
        assert forked.thread.put_back == frozenset()

    def test_results_still_name_their_call(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        t.user("Q1")
        t.parallel([bash("ls", "a\n"), bash("pwd", "/w\n")])
        forked = Forge(builder).fork(t.session_id)
        calls = {
            block["id"]: row["uuid"] for row in forked.rows for block in _blocks(row) if block["type"] == "tool_use"
        }
        for row in forked.rows:
            for block in _blocks(row):
                if block["type"] == "tool_result":
                    assert row["sourceToolAssistantUUID"] == calls[block["tool_use_id"]]

    def test_an_abandoned_branch(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        t.rewind(uuids[1])
        turns(t, 3)
        forge = Forge(builder)
        assert [words(row) for row in forge.fork(t.session_id).rows] == ["Q1", "A1", "Q3", "A3"]
        assert [words(row) for row in forge.fork(t.session_id, branch=1).rows] == ["Q1", "A1", "Q2", "A2"]
        assert [words(row) for row in forge.fork(t.session_id, at=uuids[2]).rows] == ["Q1", "A1", "Q2"]

    def test_a_branch_takes_what_accompanies_its_end(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        t.turn_duration()
        t.rewind(uuids[1])
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id, branch=1)
        assert [row["type"] for row in forked.rows] == ["user", "assistant", "user", "assistant", "system"]

    def test_progress_rows_are_bridged(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app", version="2.1.9")
        t.user("Q1")
        t.progress("bash_progress", tool_use_id="x", output="")
        t.assistant("A1")
        forked = Forge(builder).fork(t.session_id)
        assert [row["type"] for row in forked.rows] == ["user", "assistant"]
        assert is_one_chain(forked)
        assert forked.result.left_out["progress"] == 1

    def test_the_source_stays_as_it_is(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        path = builder.session_path(t)
        forge = Forge(builder)
        before = (path.read_bytes(), path.stat().st_mtime_ns)
        forge.fork(t.session_id)
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before

    def test_a_fork_of_a_fork(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        forge = Forge(builder)
        first = forge.fork(t.session_id)
        second = forge.fork(first.result.session_id)
        assert [words(row) for row in second.rows] == ["Q1", "A1"]
        assert [row["forkedFrom"]["sessionId"] for row in second.rows] == [first.result.session_id] * 2
        assert [row["forkedFrom"]["messageUuid"] for row in second.rows] == [row["uuid"] for row in first.rows]
        assert second.lines[0].count(b'"forkedFrom"') == 1


class TestCompactions:
    def test_history_stays_in_the_file(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        t.compact("auto", "FIRST")
        turns(t, 2)
        t.compact("auto", "SECOND")
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id)
        assert [words(row) for row in forked.rows if row["type"] != "system"] == [
            "Q1", "A1", "FIRST", "Q2", "A2", "SECOND", "Q3", "A3",
        ]  # fmt: skip
        assert {place.status for place in forked.thread.placements} == {"live", "precompact"}
        assert len(forked.thread.summarised) == 7

    @pytest.mark.parametrize("version", ["2.1.80", "2.1.325"], ids=["segment", "list"])
    def test_preserved_messages_stand_below_the_summary(self, version: str, builder: HomeBuilder) -> None:
        t = builder.session("/w/app", version=version)
        uuids = turns(t, 1, 2)
        t.compact("auto", "SUMMARY", preserved=uuids[2:])
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id)
        assert [words(row) for row in forked.rows if row["type"] != "system"] == [
            "Q1", "A1", "SUMMARY", "Q2", "A2", "Q3", "A3",
        ]  # fmt: skip
        assert is_one_chain(forked)
        boundary = next(row for row in forked.rows if row["type"] == "system")
        summary = next(row for row in forked.rows if words(row) == "SUMMARY")
        kept = forked.named(uuids[2:])
        segment = boundary["compactMetadata"]["preservedSegment"]
        assert segment == {"headUuid": kept[0], "anchorUuid": summary["uuid"], "tailUuid": kept[-1]}
        if version == "2.1.325":
            listed = boundary["compactMetadata"]["preservedMessages"]
            assert listed == {"anchorUuid": summary["uuid"], "uuids": kept, "allUuids": kept}
        assert boundary["logicalParentUuid"] == forked.result.uuid_of(uuids[1])
        assert forked.sent == forked.named(t.thread)

    def test_a_fork_that_ends_within_the_preserved_messages(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        t.compact("auto", "SUMMARY", preserved=uuids[1:])
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id, at=uuids[2])
        assert [words(row) for row in forked.rows if row["type"] != "system"] == ["Q1", "A2", "SUMMARY", "A1", "Q2"]
        metadata = next(row for row in forked.rows if row["type"] == "system")["compactMetadata"]
        assert metadata["preservedMessages"]["uuids"] == forked.named(uuids[1:3])
        assert metadata["preservedSegment"]["tailUuid"] == forked.result.uuid_of(uuids[2])
        assert forked.thread.leaf == forked.result.uuid_of(uuids[2])

    def test_a_fork_at_the_summary_preserves_nothing(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        summary = t.compact("auto", "SUMMARY", preserved=uuids[2:])
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id, at=summary, keep_uuids=True)
        metadata = next(row for row in forked.rows if row["type"] == "system")["compactMetadata"]
        assert metadata["preservedSegment"] is metadata["preservedMessages"] is None
        assert forked.sent == [summary]
        assert {row.uuid for row in forked.thread.summarised} >= set(uuids)

    def test_a_fork_before_the_compaction_knows_nothing_of_it(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        t.compact("auto", "SUMMARY", preserved=uuids[3:])
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id, at=uuids[2])
        assert [words(row) for row in forked.rows] == ["Q1", "A1", "Q2"]

    @pytest.mark.parametrize("preserving", [False, True])
    def test_at_the_boundary_means_before_it(
        self, builder: HomeBuilder, t: TranscriptBuilder, preserving: bool
    ) -> None:
        """Also where it preserved messages: they are meant where they were said, not behind the summary."""
        uuids = turns(t, 1, 2)
        t.compact("auto", "SUMMARY", preserved=uuids[2:] if preserving else ())
        boundary = t.row_uuids[-2]
        turns(t, 3)
        forked = Forge(builder).fork(t.session_id, at=boundary)
        assert [words(row) for row in forked.rows] == ["Q1", "A1", "Q2", "A2"]


class TestNames:
    def test_new_uuids_say_where_they_came_from(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1)
        forked = Forge(builder).fork(t.session_id)
        assert [row["forkedFrom"] for row in forked.rows] == [
            {"sessionId": t.session_id, "messageUuid": uuid} for uuid in uuids
        ]
        assert not {row["uuid"] for row in forked.rows} & set(uuids)
        assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", row["uuid"])
                   for row in forked.rows)  # fmt: skip

    def test_kept_uuids_come_without(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1)
        forked = Forge(builder).fork(t.session_id, keep_uuids=True)
        assert [row["uuid"] for row in forked.rows] == uuids
        assert not any("forkedFrom" in row for row in forked.rows)

    def test_nothing_else_in_a_line_changes(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        """Not its spelling, not the order of its fields, not what looks like the same name somewhere inside."""
        first = t.user("one\u2028two\x0c \ud800 1e5 \u00e9")
        answer = t.assistant("A1")
        nested = {"sessionId": t.session_id, "uuid": first, "parentUuid": None, "deep": [{"uuid": answer}]}
        t.entry(answer)["toolUseResult"] = {**nested, "text": f'"sessionId":"{t.session_id}","uuid":"{answer}"'}
        odd = [_spaced(t.lines[0]), t.lines[1]]
        builder.damage(t, b"\n".join(odd) + b"\n")
        forked = Forge(builder).fork(t.session_id, new_id=NEW)
        for old, new in zip(odd, forked.lines, strict=False):
            assert _without_names(new, forked) == _without_names(old, forked)
        assert json.loads(forked.lines[1])["toolUseResult"]["sessionId"] == t.session_id
        assert json.loads(forked.lines[1])["toolUseResult"]["uuid"] == first

    def test_rows_without_names_get_them(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1)
        for field in ("sessionId", "parentUuid"):
            del t.entry(uuids[0])[field]
        forked = Forge(builder).fork(t.session_id)
        assert forked.rows[0]["sessionId"] == forked.result.session_id
        assert forked.rows[0]["parentUuid"] is None

    def test_the_leaf_is_the_newest_row(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        """2.0.77 ends a conversation on the row with the newest time, wherever that stands."""
        uuids = turns(t, 1, 2)
        t.entry(uuids[0])["timestamp"] = "2030-01-01T00:00:00.000Z"
        forked = Forge(builder).fork(t.session_id)
        assert [row["timestamp"] for row in forked.rows][:3] == [t.entry(uuid)["timestamp"] for uuid in uuids[:3]]
        assert forked.rows[-1]["timestamp"] == "2030-01-01T00:00:00.001Z"

    @pytest.mark.parametrize("time", [None, 5, "yesterday", "9999-12-31T23:59:59.999Z"])
    def test_rows_without_a_usable_time_get_one(self, time: Any, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1, 2)
        t.entry(uuids[1])["timestamp"] = time
        forked = Forge(builder).fork(t.session_id)
        assert forked.rows[1]["timestamp"] == forked.rows[0]["timestamp"]
        assert [words(row) for row in forked.rows] == ["Q1", "A1", "Q2", "A2"]


class TestStateLines:
    def test_what_belongs_comes_along_once(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        t.state("mode", mode="normal")
        uuids = turns(t, 1)
        t.state("tag", tag="old")
        t.state("tag", tag="new")
        t.state("mode", mode="plan")
        t.state("content-replacement", replacements=[{"kind": "tool-result", "toolUseId": "x", "replacement": "y"}])
        t.cost_state(total_cost=1.0, models={})
        t.queue("enqueue", "later")
        t.last_prompt("Q1")
        t.state("brand-new-kind", value=1)
        forked = Forge(builder).fork(t.session_id)
        assert [line["tag"] for line in forked.states("tag")] == ["new"]
        assert [line["mode"] for line in forked.states("mode")] == ["plan"]
        assert len(forked.states("content-replacement")) == len(forked.states("brand-new-kind")) == 1
        for kind in ("cost-state", "queue-operation", "last-prompt"):
            assert forked.states(kind) == []
        assert {line["sessionId"] for line in forked.entries} == {forked.result.session_id}
        assert forked.sent == forked.named(uuids)
        assert forked.result.left_out["state_lines"] == 5  # the first mode and tag among them

    def test_state_is_that_of_the_moment_and_names_are_those_of_today(
        self, builder: HomeBuilder, t: TranscriptBuilder
    ) -> None:
        uuids = turns(t, 1)
        t.state("mode", mode="plan")
        t.state("relocated", relocatedCwd="/w/old")
        turns(t, 2)
        t.state("mode", mode="normal")
        t.state("tag", tag="today")
        t.state("relocated", relocatedCwd="/w/app")
        forked = Forge(builder).fork(t.session_id, at=uuids[1])
        assert [line["mode"] for line in forked.states("mode")] == ["plan"]
        assert [line["tag"] for line in forked.states("tag")] == ["today"]
        assert [line["relocatedCwd"] for line in forked.states("relocated")] == ["/w/app"]

    @pytest.mark.parametrize(
        ("given", "title"), [(None, "Tides (fork)"), ("  Other \n name ", "Other name"), ("Türme 🗼", "Türme 🗼")]
    )
    def test_titles(self, given: str | None, title: str, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        t.title("Tides")
        t.title("Made up", ai=True)
        t.state("agent-name", agentName="Tides")
        forked = Forge(builder).fork(t.session_id, title=given)
        assert [line["customTitle"] for line in forked.states("custom-title")] == [title]
        assert [line["agentName"] for line in forked.states("agent-name")] == [title]
        assert forked.states("ai-title") == []
        assert forked.result.title == title

    def test_a_name_of_its_own_is_not_taken(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        t.state("agent-name", agentName="worker-7")
        assert Forge(builder).fork(t.session_id).states("agent-name") == []

    def test_a_title_from_the_first_prompt(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        t.user("half \ud83d of a pair")
        assert Forge(builder).fork(t.session_id).result.title == "half \ufffd of a pair (fork)"

    def test_an_old_title_line_follows_its_leaf(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app", version="1.0.128")
        uuids = turns(t, 1)
        t.summary_title("Mine", uuids[-1])
        t.summary_title("Of another session", uuid_from("elsewhere"))
        forked = Forge(builder).fork(t.session_id)
        assert [(line["summary"], line["leafUuid"]) for line in forked.states("summary")] == [
            ("Mine", forked.result.uuid_of(uuids[-1]))
        ]


class TestDamage:
    @pytest.mark.parametrize("name", DAMAGES)
    def test_what_the_client_would_send(self, name: str, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        recipe = DAMAGES[name]
        builder.damage(t, recipe.make(1))
        forge = Forge(builder)
        file = forge.file(t.session_id)
        source = find_thread(read_transcript(file.path, forge.home))
        if source.leaf is None:
            with pytest.raises(Refused, match="no conversation"):
                forge.fork(t.session_id)
            return
        forked = forge.fork(t.session_id)
        assert len(forked.sent) == len(source.sent)
        assert all(
            new == forked.result.uuid_of(row.uuid)
            for new, row in zip(forked.sent, source.sent, strict=True)
            if row.uuid
        )
        left = {item.kind for item in forked.transcript.damage}
        assert left <= {"encoding", "surrogate", "too-deep"}, "only what the client reads is copied"

    def test_damaged_lines_are_counted(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        t.raw(b'{"type":"user","uuid":"torn')
        t.raw(b"no json")
        turns(t, 2)
        forked = Forge(builder).fork(t.session_id)
        assert forked.result.left_out["damaged_lines"] == 2
        assert [words(row) for row in forked.rows] == ["Q1", "A1", "Q2", "A2"]


class TestRefusals:
    def test_unknown_message(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        with pytest.raises(NotFound, match="no message"):
            Forge(builder).fork(t.session_id, at="ffffffff")

    def test_unknown_branch(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        with pytest.raises(NotFound, match="no branch 3"):
            Forge(builder).fork(t.session_id, branch=3)

    def test_both(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1)
        with pytest.raises(Refused, match="not both"):
            Forge(builder).fork(t.session_id, at=uuids[0], branch=1)

    @pytest.mark.parametrize("new_id", ["x", "../up", NEW.upper(), ""])
    def test_bad_ids(self, new_id: str, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        with pytest.raises(Refused, match="not a session id"):
            Forge(builder).fork(t.session_id, new_id=new_id)

    def test_an_id_that_exists_in_another_project(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        turns(builder.session("/w/other", session_id=NEW), 1)
        with pytest.raises(Refused, match="is there already"):
            Forge(builder).fork(t.session_id, new_id=NEW)

    @pytest.mark.parametrize("title", ["", " \n", "a\x00b", "\ud800"])
    def test_bad_titles(self, title: str, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        with pytest.raises(Refused):
            Forge(builder).fork(t.session_id, title=title)

    def test_nothing_said(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        t.title("empty")
        with pytest.raises(Refused, match="no conversation"):
            Forge(builder).fork(t.session_id)

    def test_rewound_to_the_start(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        uuids = turns(t, 1)
        t.last_prompt(leaf=None, explicit=True)
        forge = Forge(builder)
        with pytest.raises(Refused, match="rewound") as caught:
            forge.fork(t.session_id)
        assert "--at" in (caught.value.hint or "")
        assert forge.fork(t.session_id, at=uuids[0]).sent != []

    def test_a_subagents_row(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app", version="2.0.26")
        t.user("Q1")
        subagent = t.subagent("look")
        subagent.finish("done")
        with pytest.raises(Refused, match="subagent"):
            Forge(builder).fork(t.session_id, at=subagent.row_uuids[0])

    def test_nothing_is_left_behind_by_a_refusal(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        turns(t, 1)
        forge = Forge(builder)
        before = sorted(builder.root.rglob("*"))
        with pytest.raises(NotFound):
            forge.fork(t.session_id, at="ffffffff")
        assert sorted(builder.root.rglob("*")) == before
        assert forge.journal.records() == []


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    content = row.get("message", {}).get("content")
    return content if isinstance(content, list) else []


def _spaced(line: bytes) -> bytes:
    return json.dumps(json.loads(line), ensure_ascii=True, indent=None, separators=(" , ", " : ")).encode()


def _without_names(line: bytes, forked: Forked) -> bytes:
    """A line without the members that a fork changes, at whatever depth and in whatever spelling."""
    line = re.sub(rb',"forkedFrom":\{[^}]*\}', b"", line)
    return re.sub(rb'("(?:uuid|parentUuid|sessionId)" ?: ?)("[^"]*"|null)', rb"\1", line)


def _long_session(t: TranscriptBuilder) -> None:
    """A session with everything that is renamed in a way of its own: calls, a compaction, titles, torn and spaced lines."""
    for number in range(12):
        t.user(f"Q{number}: U+2028 \u2028, é, 🗼, \\ud800" + " and more" * 40)
        t.parallel([bash("ls", "a\n"), read("/w/app/a", "x" * 500)], "LOOK")
        t.assistant(f"A{number}")
        if number == 4:
            t.compact()
            t.state("mode", mode="plan")
        if number == 7:
            t.raw(b'{"type":"user","uuid":"torn')
            spaced = uuid_from("spaced").encode()
            t.raw(b'{ "type": "user", "uuid": "' + spaced + b'", "parentUuid": null, "message": {} }')


@pytest.mark.parametrize("keep", [False, True], ids=["new uuids", "uuids kept"])
@pytest.mark.parametrize("piece", [1, 3000, 10**9])
def test_how_many_lines_are_renamed_at_once_does_not_show(
    piece: int, keep: bool, builder: HomeBuilder, t: TranscriptBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    _long_session(t)
    forge = Forge(builder)
    with monkeypatch.context() as patch:
        patch.setattr(fork_lines, "renamed_lines", lambda *_: None)  # each line by itself, byte by byte
        forked = forge.fork(t.session_id, new_id=NEW, keep_uuids=keep)
        one_by_one = forked.path.read_bytes()
        forge.journal.undo(forked.record, forked.home)
    monkeypatch.setattr(fork_lines, "PIECE", piece)
    monkeypatch.setattr(fork_lines, "ALONE", min(piece, fork_lines.ALONE))
    assert forge.fork(t.session_id, new_id=NEW, keep_uuids=keep).path.read_bytes() == one_by_one


def test_a_source_that_is_cut_while_its_lines_are_made_is_refused(
    builder: HomeBuilder, t: TranscriptBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns(t, 1, 2, 3)
    forge = Forge(builder)
    file = forge.file(t.session_id)
    real = EntryBytes.read_into

    def cut_first(source: EntryBytes, room: bytearray, offset: int, length: int) -> int:
        os.truncate(file.path, offset + length - 10)
        return real(source, room, offset, length)

    monkeypatch.setattr(EntryBytes, "read_into", cut_first)
    with pytest.raises(StoreBusy, match="changed while it was read"):
        forge.fork(t.session_id)
    assert sorted(path.name for path in file.path.parent.iterdir()) == [file.path.name]


@pytest.mark.parametrize("at", [5, ["x"], True])
def test_a_message_is_named_by_text(builder: HomeBuilder, t: TranscriptBuilder, at: Any) -> None:
    turns(t, 1)
    with pytest.raises(Refused) as refused:
        Forge(builder).fork(t.session_id, at=at)
    assert refused.value.slug == "bad-uuid"
