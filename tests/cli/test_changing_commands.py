"""new, append, rename, tag, archive, rewind, todo, undo, changes, files --write."""

from __future__ import annotations

import io
import os
import stat
import sys
import time
import uuid
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, edit, write


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude", version="2.1.325")


@pytest.fixture
def root(builder: HomeBuilder) -> Path:
    t = builder.session("/w/app", session_id="aaaa0000-0000-4000-8000-000000000001", modified="2026-03-02T10:00Z")
    t.user("one")
    t.assistant("two")
    t.user("three")
    t.assistant("four")
    return builder.write()


S = "aaaa0000-0000-4000-8000-000000000001"


def thread(capsys: pytest.CaptureFixture[str], root: Path, session: str = S) -> list[str]:
    return run(capsys, root, "thread", session).out.split()


@pytest.mark.parametrize(
    "arguments",
    [
        ["rename", S, "New name"],
        ["tag", S, "urgent"],
        ["archive", S, "--title", "Old things"],
        ["rewind", S, "AT"],
        ["todo", S, "add", "Write it"],
        ["append", S, "--role", "user", "five"],
        ["new", "--project", "CWD", "--title", "T"],
    ],
    ids=lambda value: value[0],
)
def test_dry_run_changes_nothing_and_undo_changes_it_back(
    arguments: list[str], root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = thread(capsys, root)[1]
    given = [at if item == "AT" else str(tmp_path) if item == "CWD" else item for item in arguments]
    before = tree_state(root)
    plan = run(capsys, root, *given, "--dry-run", "--json")
    assert plan.code == 0
    assert plan.data["dry_run"] is True
    assert tree_state(root) == before
    done = run(capsys, root, *given, "--json")
    assert done.code == 0
    assert tree_state(root) != before
    number = str(done.data["change"])
    assert run(capsys, root, "changes", "--json").data["rows"][0]["state"] == "done"
    assert run(capsys, root, "undo", number).code == 0
    assert _files(tree_state(root)) == _files(before)
    assert run(capsys, root, "undo", number).code == 6


def _files(state: dict[str, tuple[str, int, int]]) -> dict[str, tuple[str, int, int]]:
    """Without folders, whose times no undo can give back."""
    return {name: value for name, value in state.items() if not stat.S_ISDIR(value[1])}


def test_append_goes_on_from_the_end(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = thread(capsys, root)
    user = run(capsys, root, "append", S, "--role", "user", "five").out.strip()
    answer = run(capsys, root, "append", S, "--role", "assistant", "--model", "claude-x", "six").out.strip()
    assert thread(capsys, root) == [*before, user, answer]
    rows = run(capsys, root, "show", S, "--json").data["rows"]
    assert [(row["text"], row["model"]) for row in rows[-2:]] == [("five", None), ("six", "claude-x")]


def test_append_from_a_file_and_from_standard_input(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "words.md"
    file.write_text("from a file\u2028with a separator")
    assert run(capsys, root, "append", S, "--role", "user", "--file", str(file)).code == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from stdin")))
    assert run(capsys, root, "append", S, "--role", "assistant", "-").code == 0
    texts = [row["text"] for row in run(capsys, root, "show", S, "--json").data["rows"]]
    assert texts[-2:] == ["from a file\u2028with a separator", "from stdin"]
    assert run(capsys, root, "append", S, "--role", "user").code == 2


def test_a_missing_newline_is_healed(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/app")
    t.user("one")
    builder.damage(t, t.to_bytes().rstrip(b"\n"))
    root = builder.write()
    assert run(capsys, root, "append", t.session_id, "--role", "user", "two", "--force").code == 0
    assert len(thread(capsys, root, t.session_id)) == 2


@pytest.mark.parametrize("text", ["a\x00b", "half \ud800"])
def test_unusable_text_is_refused_before_anything_changed(
    text: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree_state(root)
    assert run(capsys, root, "append", S, "--role", "user", text).code == 6
    assert tree_state(root) == before


def test_rename_and_tag_keep_the_time_of_the_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(root.glob(f"projects/*/{S}.jsonl"))
    before = path.stat().st_mtime_ns
    run(capsys, root, "rename", S, "  A new\n name ")
    run(capsys, root, "tag", S, "urgent")
    row = run(capsys, root, "list", "--json").data["rows"][0]
    assert (row["title"], row["tag"]) == ("A new name", "urgent")
    assert path.stat().st_mtime_ns == before
    run(capsys, root, "tag", S, "--remove")
    assert run(capsys, root, "list", "--json").data["rows"][0]["tag"] is None


def test_rewind_and_go_on(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = thread(capsys, root)
    assert "2.0.77" not in run(capsys, root, "rewind", S, rows[1][:8], "--dry-run").err
    done = run(capsys, root, "rewind", S, rows[1][:8])
    assert done.code == 0
    assert "2.0.77" in done.err and "ignores a rewind" in done.err
    assert thread(capsys, root) == rows[:2]
    added = run(capsys, root, "append", S, "--role", "user", "another way").out.strip()
    assert thread(capsys, root) == [*rows[:2], added]
    assert run(capsys, root, "tree", S, "--json").data["total"] == 1
    assert run(capsys, root, "rewind", S, "ffffffff").code == 3


class TestRewindsThatTheClientWouldIgnore:
    """A checkpoint at a row that the client does not hold changes nothing: it must not be written as if it did."""

    def refused(self, capsys: pytest.CaptureFixture[str], root: Path, at: str) -> str:
        before = tree_state(root)
        for more in ([], ["--dry-run"]):
            ran = run(capsys, root, "rewind", S, at, *more)
            assert (ran.code, ran.out) == (6, "")
        assert tree_state(root) == before
        return ran.err

    def ended(self, capsys: pytest.CaptureFixture[str], root: Path, at: str) -> str:
        assert run(capsys, root, "rewind", S, at).code == 0
        return str(run(capsys, root, "thread", S, "--json").data["leaf"])

    def test_to_before_a_compaction_that_kept_messages(
        self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
        early = t.user("one")
        t.assistant("two")
        kept = [t.user("three"), t.assistant("four")]
        t.compact(preserved=kept)
        t.user("five")
        root = builder.write()
        assert f"recollect fork {S} --at {early}" in self.refused(capsys, root, early)
        assert run(capsys, root, "fork", S, "--at", early).code == 0
        assert self.ended(capsys, root, kept[0]) == kept[0]

    def test_to_before_a_plain_compaction(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
        t.user("one")
        two = t.assistant("two")
        t.compact()
        t.user("three")
        assert self.ended(capsys, builder.write(), two) == two

    def test_to_progress(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
        t.user("one")
        t.assistant(tools=[bash("ls", "a")])
        passed = t.progress("hook_progress", tool_use_id="toolu_1")
        t.results()
        assert "passed over" in self.refused(capsys, builder.write(), passed)

    def test_to_a_row_that_accompanies_a_message(
        self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
        one = t.user("one")
        note = t.attachment("date", date="x")
        t.assistant("two")
        assert self.ended(capsys, builder.write(), note) == one

    def test_to_a_call_whose_results_follow_it(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
        t.user("one")
        call = t.assistant(tools=[bash("ls", "a"), bash("pwd", "b")])
        t.results()
        t.assistant("two")
        assert self.ended(capsys, builder.write(), call) == call


def test_new_refuses_bad_and_known_ids(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--project", str(tmp_path)]
    assert run(capsys, root, "new", *where, "--id", "not-a-uuid").code == 6
    assert run(capsys, root, "new", *where, "--id", S).code == 6
    assert run(capsys, root, "new", "--project", str(tmp_path / "nowhere")).code == 6
    fresh = str(uuid.uuid4())
    assert run(capsys, root, "new", *where, "--id", fresh).out.strip() == fresh
    assert run(capsys, root, "list", "--json", "--project", str(tmp_path)).data["total"] == 1


class TestRunningSessions:
    def test_only_by_force(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/app", modified="2026-01-01T00:00Z")
        t.user("one")
        builder.running(os.getpid(), t.session_id, "/w/app")
        root = builder.write()
        ran = run(capsys, root, "rename", t.session_id, "x")
        assert ran.code == 5
        assert "in use" in ran.err
        assert run(capsys, root, "rename", t.session_id, "x", "--force").code == 0

    def test_written_a_moment_ago_by_somebody_else(
        self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = builder.session("/w/app")
        t.user("one")
        root = builder.write()
        os.utime(builder.session_path(t), (time.time(), time.time()))
        assert run(capsys, root, "append", t.session_id, "--role", "user", "x").code == 5
        assert run(capsys, root, "append", t.session_id, "--role", "user", "x", "--force").code == 0
        assert run(capsys, root, "append", t.session_id, "--role", "user", "y").code == 0  # the last one was ourselves


def test_undo_takes_yes_as_all_changing_commands_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(root)
    assert run(capsys, root, "append", S, "--role", "user", "five", "--yes").code == 0
    assert run(capsys, root, "undo", "--yes").code == 0
    assert tree_state(root) == before


def test_undo_is_refused_where_somebody_wrote_since(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, root, "append", S, "--role", "user", "five")
    path = next(root.glob(f"projects/*/{S}.jsonl"))
    with path.open("ab") as stream:
        stream.write(b'{"type":"tag","tag":"x"}\n')
    before = path.read_bytes()
    assert run(capsys, root, "undo").code == 6
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "arguments", [["rename", S, "x"], ["append", S, "--role", "user", "five"]], ids=lambda value: value[0]
)
def test_a_line_that_must_be_ended_first_counts(
    arguments: list[str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plan names as many bytes as the file grows by, also where its last line has no end yet."""
    path = next(root.glob(f"projects/*/{S}.jsonl"))
    whole = run(capsys, root, *arguments, "--dry-run", "--json").data["steps"]
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    plan = run(capsys, root, *arguments, "--dry-run", "--json").data["steps"]
    numbers = [int(step.split()[1]) for steps in (whole, plan) for step in steps]
    assert numbers[1] == numbers[0] + 1
    before = path.stat().st_size
    assert run(capsys, root, *arguments).code == 0
    assert path.stat().st_size == before + numbers[1]


def test_appending_says_how_to_take_it_back(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, root, "append", S, "--role", "user", "five")
    number = run(capsys, root, "changes", "--json").data["rows"][0]["number"]
    assert done.err.startswith(f"change {number}; ")
    assert done.out.split() == thread(capsys, root)[-1:]


def test_a_read_only_home_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere; tests/faults covers this with failing system calls")
    path = next(root.glob(f"projects/*/{S}.jsonl"))
    path.chmod(0o400)
    assert run(capsys, root, "rename", S, "x").code == 6


def test_restore_a_file(builder: HomeBuilder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "code" / "a.txt"
    target.parent.mkdir()
    t = builder.session(str(target.parent))
    t.user("go")
    first = t.call(write(str(target), "old\n"))
    t.call(edit(str(target), "old", "new", original="old\n"))
    root = builder.write()
    target.write_text("broken\n")
    refused = run(capsys, root, "files", "last", str(target), "--at", first, "--write")
    assert refused.code == 6
    assert "-broken" in refused.out
    assert target.read_text() == "broken\n"
    assert run(capsys, root, "files", "last", str(target), "--at", first, "--write", "--yes").code == 0
    assert target.read_text() == "old\n"
    assert run(capsys, root, "undo").code == 0
    assert target.read_text() == "broken\n"


class TestTodos:
    def test_odd_changes_are_reported_and_done(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, root, "todo", S, "add", "Write it", "--json").data["id"] == "1"
        assert run(capsys, root, "todo", S, "add", "Test it", "--json").data["id"] == "2"
        odd = run(capsys, root, "todo", S, "set", "1", "completed", "--json")
        assert odd.data["warnings"] == ["task 1: it was never in progress"]
        rows = run(capsys, root, "todos", S, "--json").data["rows"]
        assert [(row["content"], row["status"]) for row in rows] == [("Write it", "completed"), ("Test it", "pending")]
        assert run(capsys, root, "todo", S, "set", "1", "nonsense").code == 2
        assert run(capsys, root, "todo", S, "set", "9", "completed").code == 3
        assert run(capsys, root, "todo", S, "remove", "2").code == 0

    def test_numbers_are_not_used_again(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(capsys, root, "todo", S, "add", "a")
        run(capsys, root, "todo", S, "remove", "1")
        assert run(capsys, root, "todo", S, "add", "b", "--json").data["id"] == "2"

    def test_lists_of_older_clients(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/old", version="2.0.77")
        t.user("x")
        root = builder.write()
        done = run(capsys, root, "todo", t.session_id, "add", "Write it", "--json").data
        assert done["kind"] == "todos"
        assert (root / "todos" / f"{t.session_id}-agent-{t.session_id}.json").is_file()
