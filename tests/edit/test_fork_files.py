"""What a fork takes along beside the main file: subagents, long outputs, file checkpoints; and undo takes it all back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.edit.forking import Forge, Forked, words
from tests.running import tree_state

from recollect.edit.fork import plan_fork
from recollect.errors import StoreBusy
from recollect.library.library import Library
from recollect.testing import HomeBuilder, TranscriptBuilder
from recollect.testing.statelines import backup_name
from recollect.testing.toolcalls import bash, edit, read


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude")


def subagent_files(forked: Forked) -> dict[str, Path]:
    return {
        item.subagent_id: item.path for item in Library([forked.home]).session(forked.result.session_id).file.subagents
    }


def delegating(t: TranscriptBuilder) -> tuple[str, list[str]]:
    """A subagent with one of its own, then another: the answer after the first, and the subagents' ids in order."""
    t.user("Q1")
    first = t.subagent("look into it")
    first.call(read("/w/app/a", "x"))
    deeper = first.subagent("deeper")
    deeper.finish("deep")
    first.finish("looked")
    answer = t.assistant("A1")
    t.user("Q2")
    t.subagent("another thing").finish("done")
    t.assistant("A2")
    return answer, [subagent.subagent_id or "" for subagent in t.all_subagents()]


class TestSubAgents:
    @pytest.mark.parametrize("keep", [False, True], ids=["new uuids", "uuids kept"])
    @pytest.mark.parametrize("version", ["2.0.77", "2.1.9", "2.1.325"], ids=["beside", "folder", "folder with meta"])
    def test_files_of_their_own(self, version: str, keep: bool, builder: HomeBuilder) -> None:
        t = builder.session("/w/app", version=version)
        _, ids = delegating(t)
        forked = Forge(builder).fork(t.session_id, keep_uuids=keep)
        found = subagent_files(forked)
        assert sorted(found) == sorted(ids)
        assert all(path.parent == forked.folder / "subagents" for path in found.values())
        for subagent in t.all_subagents():
            entries = [json.loads(line) for line in found[subagent.subagent_id or ""].read_bytes().splitlines()]
            uuids = forked.named(subagent.row_uuids)
            assert [entry["uuid"] for entry in entries] == uuids
            assert [entry["parentUuid"] for entry in entries] == [
                parent if parent is None else forked.result.uuid_of(parent)
                for parent in (subagent.entry(uuid)["parentUuid"] for uuid in subagent.row_uuids)
            ]
            assert {entry["sessionId"] for entry in entries} == {forked.result.session_id}
            assert {entry["agentId"] for entry in entries} == {subagent.subagent_id}
            assert all(("forkedFrom" in entry) != keep for entry in entries)
            meta = found[subagent.subagent_id or ""].with_suffix(".meta.json")
            assert meta.exists() == (version == "2.1.325")
            if meta.exists():
                assert json.loads(meta.read_bytes()) == subagent.meta()

    def test_the_subagents_hang_on_the_same_calls(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        delegating(t)
        forge = Forge(builder)
        forked = forge.fork(t.session_id)
        library = Library([forge.home])

        def hung(session: str) -> list[tuple[str, str | None, str | None, int]]:
            subagents = library.session(session).conversation.subagents
            return [(item.subagent_id, item.tool_use_id, item.parent_subagent, item.depth) for item in subagents]

        assert hung(forked.result.session_id) == hung(t.session_id)

    def test_inside_the_main_file(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app", version="2.0.26")
        answer, _ = delegating(t)
        forge = Forge(builder)
        whole = forge.fork(t.session_id)
        first, deeper, second = t.all_subagents()
        rows = [row for row in whole.transcript.rows if row.sidechain]
        assert [row.uuid for row in rows] == whole.named([row["uuid"] for row in t.entries if row.get("isSidechain")])
        part = forge.fork(t.session_id, at=answer)
        inside = {row["uuid"] for row in part.rows if row["isSidechain"]}
        assert inside == set(part.named([*first.row_uuids, *deeper.row_uuids]))
        assert part.result.left_out["subagent_rows"] == len(second.row_uuids)
        assert part.sent[-1] == part.result.uuid_of(answer)

    def test_only_those_of_the_conversation(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        answer, ids = delegating(t)
        forked = Forge(builder).fork(t.session_id, at=answer)
        assert sorted(subagent_files(forked)) == sorted(ids[:2])
        assert forked.result.left_out["subagents"] == 1

    def test_workflow_runs_keep_their_folder(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        t.user("Q1")
        subagent = t.subagent("step", workflow="wf_1")
        subagent.finish("ok")
        forked = Forge(builder).fork(t.session_id)
        name = f"agent-{subagent.subagent_id}.jsonl"
        assert list(subagent_files(forked).values()) == [forked.folder / "subagents" / "workflows" / "wf_1" / name]

    def test_without(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        delegating(t)
        forked = Forge(builder).fork(t.session_id, with_subagents=False)
        assert subagent_files(forked) == {}
        assert not forked.folder.exists()
        assert forked.sent == forked.named(t.thread)

    def test_damaged_lines_of_subagents_are_left_out(self, builder: HomeBuilder) -> None:
        t = builder.session("/w/app")
        t.user("Q1")
        subagent = t.subagent("look")
        subagent.raw(b'{"torn')
        subagent.finish("ok")
        forked = Forge(builder).fork(t.session_id)
        (path,) = subagent_files(forked).values()
        assert len(path.read_bytes().splitlines()) == len(subagent.row_uuids)
        assert forked.result.left_out["damaged_lines"] == 1


class TestLongOutputs:
    @pytest.fixture
    def t(self, builder: HomeBuilder) -> TranscriptBuilder:
        t = builder.session("/w/app")
        for name in ("first", "second"):
            path = builder.tool_output(t, name, f"all of {name}\n" * 9)
            t.user(name)
            call = bash(
                "seq", f"<persisted-output>\nOutput too large (99KB). Full output saved to: {path}\n\nPreview:\n1"
            )
            uuid = t.call(call)
            t.entry(uuid)["toolUseResult"]["persistedOutputPath"] = path
            t.assistant(f"It is in {path}")
        return t

    def test_they_come_along_and_lines_lead_to_them(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        forked = Forge(builder).fork(t.session_id)
        copy = forked.folder / "tool-results" / "first.txt"
        assert copy.read_text() == "all of first\n" * 9
        results = [row for row in forked.rows if "toolUseResult" in row]
        assert results[0]["toolUseResult"]["persistedOutputPath"] == str(copy)
        assert f"saved to: {copy}\n" in results[0]["message"]["content"][0]["content"]
        old = forked.path.parent / t.session_id / "tool-results" / "first.txt"
        assert f"It is in {old}" in map(words, forked.rows), "what the model said stays as it said it"
        assert forked.result.tool_results == 2

    def test_only_those_the_conversation_speaks_of(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        second = next(row["uuid"] for row in t.entries if row.get("message", {}).get("content") == "second")
        forked = Forge(builder).fork(t.session_id, at=second)
        assert [path.name for path in (forked.folder / "tool-results").iterdir()] == ["first.txt"]

    def test_without(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        forked = Forge(builder).fork(t.session_id, with_tool_results=False)
        assert not forked.folder.exists()
        results = [row for row in forked.rows if "toolUseResult" in row]
        assert t.session_id in results[0]["toolUseResult"]["persistedOutputPath"]


class TestFileHistory:
    @pytest.fixture
    def t(self, builder: HomeBuilder) -> TranscriptBuilder:
        t = builder.session("/w/app")
        for number in (1, 2):
            prompt = t.user(f"Q{number}")
            t.file_history_snapshot(prompt, {"/w/app/a": number})
            answer = t.call(edit("/w/app/b", "x", "y", original="x"))
            t.file_history_delta(answer, prompt, "/w/app/b", number)
            for path in ("/w/app/a", "/w/app/b"):
                builder.backup(t.session_id, path, number, f"{path} {number}")
        return t

    def backups(self, forked: Forked) -> dict[str, str]:
        folder = forked.home.root / "file-history" / forked.result.session_id
        return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}

    def test_it_comes_along_for_the_messages_that_do(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        forge = Forge(builder)
        whole = forge.fork(t.session_id)
        assert len(self.backups(whole)) == whole.result.file_backups == 4
        second = [row["uuid"] for row in t.entries if row.get("message", {}).get("content") == "Q2"]
        part = forge.fork(t.session_id, at=second[0])
        assert self.backups(part) == {
            backup_name(path, number): f"{path} {number}"
            for path, number in (("/w/app/a", 1), ("/w/app/b", 1), ("/w/app/a", 2))
        }
        prompts = [row["uuid"] for row in part.rows if row["type"] == "user" and "toolUseResult" not in row]
        assert [line["messageId"] for line in part.states("file-history-snapshot")] == prompts
        assert [line["snapshot"]["messageId"] for line in part.states("file-history-snapshot")] == prompts
        (delta,) = part.states("file-history-delta")
        assert delta["snapshotMessageId"] == prompts[0]
        assert delta["messageId"] in {row["uuid"] for row in part.rows}

    def test_without(self, builder: HomeBuilder, t: TranscriptBuilder) -> None:
        forked = Forge(builder).fork(t.session_id, with_file_history=False)
        assert self.backups(forked) == {}
        assert forked.states("file-history-snapshot") == forked.states("file-history-delta") == []


def test_a_title_in_a_file_of_its_own_is_written_too(builder: HomeBuilder) -> None:
    t = builder.session("/w/app")
    t.user("Q1")
    t.title("Tides")
    builder.custom_title_file("/w/app", t.session_id, "Tides")
    forked = Forge(builder).fork(t.session_id)
    assert json.loads((forked.folder / "custom-title.json").read_bytes()) == {"customTitle": "Tides (fork)"}


@pytest.mark.parametrize("version", ["2.0.26", "2.0.77", "2.1.325"])
def test_undo_takes_everything_back(version: str, builder: HomeBuilder) -> None:
    t = builder.session("/w/app", version=version)
    delegating(t)
    prompt = t.user("Q3")
    t.file_history_snapshot(prompt, {"/w/app/a": 1})
    builder.backup(t.session_id, "/w/app/a", 1, "a")
    forge = Forge(builder)

    def files() -> dict[str, tuple[str, int, int]]:
        """Files with their bytes and times; folders by name (their times tell of changes that were taken back)."""
        state = tree_state(builder.root)
        return {name: value if value[0] else ("", value[1], 0) for name, value in state.items()}

    before = files()
    forked = forge.fork(t.session_id)
    assert files() != before
    forge.journal.undo(forked.record, forge.home)
    assert files() == before


def test_nothing_happens_before_commit_or_without_it(builder: HomeBuilder) -> None:
    t = builder.session("/w/app")
    t.user("Q1")
    forge = Forge(builder)
    before = tree_state(builder.root)
    change, result = plan_fork(forge.journal, forge.file(t.session_id))
    with change:
        assert str(result.path) in "\n".join(change.describe())
        assert tree_state(builder.root) == before
    assert tree_state(builder.root) == before
    assert forge.journal.records() == []


def test_a_source_that_grows_meanwhile_is_not_forked(builder: HomeBuilder) -> None:
    t = builder.session("/w/app")
    t.user("Q1")
    forge = Forge(builder)
    path = builder.session_path(t)
    change, result = plan_fork(forge.journal, forge.file(t.session_id))
    with change:
        with path.open("ab") as file:
            file.write(b"{}\n")
        with pytest.raises(StoreBusy, match="changed"):
            change.commit()
    assert not result.path.exists()
