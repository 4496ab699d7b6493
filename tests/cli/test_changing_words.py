"""What changing commands say and take: plans, numbers, tags, titles, starts of uuids, homes, links."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import edit, write

S = "aaaa0000-0000-4000-8000-000000000001"


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude", version="2.1.325")


@pytest.fixture
def root(builder: HomeBuilder) -> Path:
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("one")
    t.assistant("two")
    t.user("three")
    return builder.write()


def transcript(root: Path) -> Path:
    return next(root.glob(f"projects/*/{S}.jsonl"))


def tag_of(capsys: pytest.CaptureFixture[str], root: Path) -> str | None:
    tag: str | None = run(capsys, root, "list", "--json").data["rows"][0]["tag"]
    return tag


def test_the_diff_of_a_restored_file_has_lines(
    builder: HomeBuilder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "a.txt"
    t = builder.session(str(tmp_path))
    t.user("go")
    first = t.call(write(str(target), "old\n"))
    t.call(edit(str(target), "old", "new", original="old\n"))
    root = builder.write()
    target.write_text("mine\n")
    told = run(capsys, root, "files", "last", "a.txt", "--at", first, "--write", "--yes", "--json").data
    assert told["diff"].splitlines()[2:] == ["@@ -1 +1 @@", "-mine", "+old"]
    assert told["diff"].endswith("\n")


class TestArchive:
    def test_back_gives_the_old_tag_again(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(capsys, root, "tag", S, "important")
        assert run(capsys, root, "archive", S).code == 0
        assert run(capsys, root, "archive", S, "--title", "Done").code == 0, "once more, for the title"
        assert tag_of(capsys, root) == "archived"
        assert run(capsys, root, "archive", S, "--back", "--json").data["tag"] == "important"
        assert tag_of(capsys, root) == "important"

    def test_or_none_where_there_was_none_any_more(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(capsys, root, "tag", S, "important")
        run(capsys, root, "tag", S, "--remove")
        run(capsys, root, "archive", S)
        assert run(capsys, root, "archive", S, "--back", "--json").data["tag"] is None
        assert tag_of(capsys, root) is None

    def test_back_does_not_touch_another_tag(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(capsys, root, "tag", S, "important")
        before = tree_state(root)
        assert run(capsys, root, "archive", S, "--back").code == 6
        assert tree_state(root) == before
        run(capsys, root, "archive", S)
        assert run(capsys, root, "archive", S).code == 6

    def test_the_list_shows_tags(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "[" not in run(capsys, root, "list").out
        run(capsys, root, "archive", S)
        assert "[archived] one" in run(capsys, root, "list").out


class TestNew:
    def test_it_says_that_a_message_is_missing(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        made = run(capsys, root, "new", "--project", str(tmp_path))
        assert len(made.out.strip()) == 36
        assert "recollect append" in made.err and "first message" in made.err

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [(["--title", " "], 6), (["--project", ""], 2), (["--project", " "], 2), (["--id", ""], 6)],
    )
    def test_empty_words_are_refused(
        self, arguments: list[str], code: int, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = tree_state(root)
        assert run(capsys, root, "new", "--project", str(tmp_path), *arguments).code == code
        assert tree_state(root) == before


class TestAppend:
    def test_its_plan_names_the_file_and_what_is_written(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = transcript(root)
        size = path.stat().st_size
        plan = run(capsys, root, "append", S, "--role", "user", "four", "--dry-run")
        told = run(capsys, root, "append", S, "--role", "user", "four", "--dry-run", "--json").data
        assert path.stat().st_size == size
        done = run(capsys, root, "append", S, "--role", "user", "four", "--json").data
        step = f"append {path.stat().st_size - size:,} bytes to {path}"
        assert plan.out.splitlines()[1] == f"  {step}"
        assert told["steps"] == [step]
        assert told["parent"] == done["parent"]
        assert told.keys() == done.keys()

    def test_a_dry_run_is_refused_where_the_append_would_be(
        self, root: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.utime(transcript(root))
        assert run(capsys, root, "append", S, "--role", "user", "x", "--dry-run").code == 5
        assert run(capsys, root, "append", S, "--role", "user", "x", "--dry-run", "--force").code == 0

    def test_a_model_has_a_name(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """An empty one, as of a variable that is not set, is not taken for the session's last one."""
        for model in ("", "  "):
            assert run(capsys, root, "append", S, "--role", "assistant", "--model", model, "Yes.").code == 2

    def test_a_prompt_has_no_model(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, root, "append", S, "--role", "user", "--model", "m", "x").code == 2

    def test_empty_standard_input(
        self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
        before = tree_state(root)
        assert run(capsys, root, "append", S, "--role", "user", "-").code == 6
        assert tree_state(root) == before


class TestTodos:
    def test_the_table_has_the_numbers_that_set_takes(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for words in ("a", "b", "c"):
            run(capsys, root, "todo", S, "add", words)
        run(capsys, root, "todo", S, "remove", "2")
        lines = run(capsys, root, "todos", S).out.splitlines()
        assert "#" in lines[0].split()
        assert [line.split()[1] for line in lines[1:]] == ["1", "3"]
        assert run(capsys, root, "todo", S, "set", "3", "in_progress").code == 0
        rows = run(capsys, root, "todos", S, "--json").data["rows"]
        assert [(row["number"], row["content"], row["status"]) for row in rows][1] == (3, "c", "in_progress")

    def test_so_has_that_of_a_list(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/old", version="2.0.77")
        t.user("x")
        root = builder.write()
        told = run(capsys, root, "todo", t.session_id, "add", "a", "--dry-run")
        assert "Save 1 to-do of" in told.out
        run(capsys, root, "todo", t.session_id, "add", "a")
        run(capsys, root, "todo", t.session_id, "add", "b")
        rows = run(capsys, root, "todos", t.session_id, "--json").data["rows"]
        assert [(row["number"], row["content"]) for row in rows] == [(1, "a"), (2, "b")]

    def test_nobody_waits_for_a_task_that_is_gone(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for words in ("a", "b", "c"):
            run(capsys, root, "todo", S, "add", words)
        for number, blocks, blocked_by in ((1, ["2"], []), (2, ["3"], ["1"]), (3, [], ["2"])):
            path = root / "tasks" / S / f"{number}.json"
            path.write_text(json.dumps({**json.loads(path.read_text()), "blocks": blocks, "blockedBy": blocked_by}))
        before = {path.name: path.read_bytes() for path in (root / "tasks" / S).iterdir()}
        told = run(capsys, root, "todo", S, "remove", "2", "--json").data
        assert told["warnings"] == ["task 3: it no longer waits for task 2"]
        tasks = {path.name: json.loads(path.read_text()) for path in (root / "tasks" / S).glob("*.json")}
        assert tasks["1.json"]["blocks"] == [] and tasks["3.json"]["blockedBy"] == []
        assert run(capsys, root, "undo").code == 0
        assert {path.name: path.read_bytes() for path in (root / "tasks" / S).iterdir()} == before

    def test_an_subagent_that_is_not_there_has_no_list(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        before = tree_state(root)
        assert run(capsys, root, "todo", S, "add", "x", "--subagent", "foo").code == 3
        assert run(capsys, root, "todo", S, "add", "x", "--subagent", "foo", "--kind", "tasks").code == 2
        assert tree_state(root) == before

    def test_an_subagent_that_is_there_has_one(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/app", modified="2026-03-02T10:00Z")
        t.user("x")
        subagent = t.subagent("look")
        subagent.finish("done")
        root = builder.write()
        ident = run(capsys, root, "subagents", t.session_id, "--json").data["rows"][0]["subagent_id"]
        assert run(capsys, root, "todo", t.session_id, "add", "x", "--subagent", ident).code == 0


def test_an_empty_tag_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, root, "tag", S, "important")
    before = tree_state(root)
    refused = run(capsys, root, "tag", S, " ")
    assert refused.code == 6
    assert "--remove" in refused.err
    assert tree_state(root) == before


@pytest.mark.parametrize("command", [("rewind", S), ("fork", S, "--at")], ids=lambda item: item[0])
def test_a_slip_is_no_start_of_a_uuid(command: tuple[str, ...], root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, root, "thread", S).out.split()[0]
    refused = run(capsys, root, *command, first[:3])
    assert refused.code == 3
    assert "first four characters" in refused.err
    assert run(capsys, root, *command, first[:8]).code == 0


def test_force_says_what_it_does(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("new", "fork", "files", "delete", "move"):
        assert "Append even if" not in run(capsys, root, name, "--help").out
    assert "Append even if" in run(capsys, root, "append", "--help").out


def test_counts_of_one(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "1 file or folder," in run(capsys, root, "delete", S, "--yes").out


class TestSeveralHomes:
    @pytest.mark.parametrize(
        "arguments",
        [["tag", S, "x"], ["rename", S, "T"], ["append", S, "--role", "user", "x"], ["delete", S, "--yes"],
         ["todo", S, "add", "x"], ["archive", S[:8]], ["repair", S]],
        ids=lambda item: item[0],
    )  # fmt: skip
    def test_a_change_must_know_which_one_is_meant(
        self, arguments: list[str], root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.copytree(root, tmp_path / "copy")
        before = tree_state(tmp_path)
        refused = run(capsys, root, "--home", str(tmp_path / "copy"), *arguments)
        assert refused.code == 6
        assert "several-homes" in refused.err
        assert tree_state(tmp_path) == before
        assert run(capsys, root, "--home", str(tmp_path / "copy"), "show", S).code == 0, "who reads gets the newest"


class TestLinks:
    def test_a_transcript_behind_a_link_is_named(
        self, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = transcript(root)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        missing = run(capsys, root, "show", S)
        assert missing.code == 3
        assert f"{path} is left out: a link out of the home to a file that is not named .jsonl" in missing.err

    def test_a_fork_tells_of_backups_that_it_cannot_take_along(
        self, builder: HomeBuilder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = builder.session("/w/app")
        prompt = t.user("go")
        t.file_history_snapshot(prompt, {"/w/app/a": 1})
        t.assistant("done")
        builder.backup(t.session_id, "/w/app/a", 1, "old")
        root = builder.write()
        history = root / "file-history" / t.session_id
        assert any(history.iterdir())
        told = run(capsys, root, "fork", t.session_id, "--json").data
        assert told["file_backups"] == len(list(history.iterdir())) and "file_backups" not in told["left_out"]
        history.rename(tmp_path / "history")
        history.symlink_to(tmp_path / "history")
        told = run(capsys, root, "fork", t.session_id, "--json").data
        assert told["left_out"]["file_backups"] > 0
        assert "not there" in run(capsys, root, "fork", t.session_id).err


def test_split_takes_the_name_that_it_shows(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    for cwd in ("/n/a-b", "/n-a/b"):
        builder.session(cwd, folder="-n-a-b", modified="2026-01-01T00:00Z").user("x")
    root = builder.write()
    name = run(capsys, root, "split", "--json").data["rows"][0]["folder"]
    before = tree_state(root)
    assert run(capsys, root, "split", name, "--project", "/n-a/b", "--name", "-b", "-ny").code == 0
    assert tree_state(root) == before
    assert run(capsys, root, "split", name, "-y", "--project", "/n-a/b", "--name", "-b").code == 0
    assert (root / "projects" / "-b").is_dir()


def test_split_without_a_folder_only_lists(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, root, "split").code == 0
    for given in (["--project", "/w"], ["--name", "x"], ["--to", "/x"], ["--merge"]):
        ran = run(capsys, root, "split", *given, "--yes")
        assert ran.code == 2
        assert "FOLDER" in ran.err
