"""`recollect list` and `recollect overview`"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.running import run

from recollect.testing import HomeBuilder, build_demo_home

FIELDS = {
    "session_id", "path", "project", "title", "first_prompt", "created", "modified", "lines", "messages", "subagents", "bytes",
    "git_branch", "version", "running",
}  # fmt: skip


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude", version="2.1.325")


def test_rows_have_the_documented_fields(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/app", modified="2026-03-02T10:00Z")
    t.user("First words\nin two lines")
    t.assistant("an answer")
    t.title("A title")
    root = builder.write()
    answer = run(capsys, root, "list", "--json").data
    (row,) = answer["rows"]
    assert set(row) >= FIELDS
    assert row["session_id"] == t.session_id
    assert row["path"] == str(builder.session_path(t))
    assert row["project"] == "/w/app"
    assert row["title"] == "A title"
    assert row["first_prompt"] == "First words\nin two lines"
    assert row["modified"] == "2026-03-02T10:00:00.000Z"
    assert row["lines"] == len(t.lines)
    assert row["messages"] == 2
    assert row["bytes"] == len(t.to_bytes())
    assert row["git_branch"] == "main"
    assert row["version"] == "2.1.325"
    assert row["running"] is False
    assert answer["total"] == 1


def test_jsonl_is_a_row_a_line(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        builder.session(f"/w/{name}").user("hi")
    assert len(run(capsys, builder.write(), "--jsonl", "list").out.splitlines()) == 2


def test_two_projects_in_one_folder_are_shown_apart(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    builder.session("/w/my-app").user("one")
    builder.session("/w/my/app").user("two")
    rows = run(capsys, builder.write(), "list", "--json").data["rows"]
    assert sorted(row["project"] for row in rows) == ["/w/my-app", "/w/my/app"]
    assert len({os.path.dirname(row["path"]) for row in rows}) == 1


def test_worktrees_count_to_their_repository_and_can_be_separated(
    builder: HomeBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    builder.session("/w/app").user("one")
    builder.session("/w/app/.claude/worktrees/fix").user("two")
    root = builder.write()
    assert run(capsys, root, "list", "--project", "/w/app", "--json").data["total"] == 2
    assert run(capsys, root, "list", "--project", "/w/app", "--separate", "--json").data["total"] == 1


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--project", "/w/app"], ["a"]),
        (["--project", "app"], ["a"]),
        (["--branch", "side"], ["b"]),
        (["--since", "2026-03-05"], ["b"]),
        (["--until", "2026-03-05"], ["a"]),
        (["--sort", "title"], ["a", "b"]),
        (["--limit", "1"], ["b"]),
    ],
)
def test_filters(
    builder: HomeBuilder, capsys: pytest.CaptureFixture[str], arguments: list[str], found: list[str]
) -> None:
    builder.session("/w/app", start="2026-03-02T09:00:00Z", modified="2026-03-02T10:00Z").user("a")
    builder.session("/w/lib", git_branch="side", start="2026-03-09T09:00:00Z", modified="2026-03-09T10:00Z").user("b")
    rows = run(capsys, builder.write(), "list", "--json", *arguments).data["rows"]
    assert [row["first_prompt"] for row in rows] == found


def test_running_sessions(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    open_one, closed = builder.session("/w/a"), builder.session("/w/b")
    open_one.user("open")
    closed.user("closed")
    builder.running(os.getpid(), open_one.session_id, "/w/a")
    builder.running(2**22 + 12345, closed.session_id, "/w/b")  # no process has this number: a crash left the file
    rows = run(capsys, builder.write(), "list", "--running", "--json").data["rows"]
    assert [row["first_prompt"] for row in rows] == ["open"]


def test_nothing_fits(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    builder.session("/w/a").user("hi")
    ran = run(capsys, builder.write(), "list", "--project", "/elsewhere")
    assert (ran.code, ran.out) == (1, "")


def test_empty_and_unreadable_files_are_listed_as_such(
    builder: HomeBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    good, empty = builder.session("/w/a"), builder.session("/w/b")
    good.user("fine")
    empty.user("x")
    builder.damage(empty, b"")
    rows = run(capsys, builder.write(), "list", "--json").data["rows"]
    assert {row["session_id"]: row["problem"] for row in rows} == {
        good.session_id: None,
        empty.session_id: "empty file",
    }


def test_a_prompt_beyond_the_first_64_kib_is_found(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.state("mode", mode="x" * 100_000)
    t.user("late " + "y" * 200_000)
    for _ in range(10):
        t.assistant("z" * 200_000)
    row = run(capsys, builder.write(), "list", "--json", "--no-count").data["rows"][0]
    assert row["first_prompt"].startswith("late y")
    assert row["project"] == "/w/a"
    assert row["lines"] is None


def test_overview_of_the_demo_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "claude"
    build_demo_home(root, now=datetime.now(UTC), running_pid=os.getpid())
    told = run(capsys, root, "--json").data
    assert told["sessions"] == 13
    assert told["projects"] == 3
    assert len(told["running"]) == 1
    assert told["expiring"]
    assert told["damage"]["sessions"] == 1
    text = run(capsys, root).out
    assert "13 sessions" in text
    assert "will be deleted by Claude Code within 7 days" in text


def test_overview_says_what_is_in_danger(tmp_path: Path, capsys: pytest.CaptureFixture[str], own_home: Path) -> None:
    root = tmp_path / "claude"
    build_demo_home(root, now=datetime.now(UTC))
    told = run(capsys, root, "--json").data
    count = len(told["expiring"])
    assert count == told["expiring_not_kept"] > 0
    assert not any(item["kept"] for item in told["expiring"])
    assert f"{count} not kept: recollect keep" in run(capsys, root).out
    run(capsys, root, "keep")
    told = run(capsys, root, "--json").data
    assert (len(told["expiring"]), told["expiring_not_kept"]) == (count, 0)
    assert all(item["kept"] for item in told["expiring"])
    assert "; 0 not kept\n" in run(capsys, root).out
    path = next(root.glob(f"projects/*/{told['expiring'][0]['session_id']}.jsonl"))
    times = path.stat()
    with open(path, "ab") as stream:
        stream.write(b"{}\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    told = run(capsys, root, "--json").data
    assert told["expiring_not_kept"] == 1
    assert [item["kept"] for item in told["expiring"]] == [False] + [True] * (count - 1)
    (own_home / "recollect" / "data" / "vault" / "manifest").write_bytes(b"damaged\n")
    assert run(capsys, root, "--json").code == 0


def test_several_homes(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    roots = []
    for name in ("one", "two"):
        builder = HomeBuilder(tmp_path / name)
        builder.session(f"/w/{name}").user(name)
        roots.append(builder.write())
    ran = run(capsys, roots[0], "--home", str(roots[1]), "list", "--json")
    assert ran.data["total"] == 2
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{roots[0]}, {roots[1]}")
    assert run(capsys, None, "list", "--json").data["total"] == 2


def test_the_usual_places(own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, None, "list").code == 3
    for name in (".claude", ".config/claude"):
        builder = HomeBuilder(own_home / name)
        builder.session(f"/w/{name}").user(name)
        builder.write()
    assert run(capsys, None, "list", "--json").data["total"] == 2


def test_a_folder_that_is_no_home_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, tmp_path, "list")
    assert ran.code == 3
    assert "no projects/ folder" in ran.err
    ran = run(capsys, tmp_path / "nowhere", "list", "--json")
    assert ran.code == 3
    assert '"slug": "not-a-home"' in ran.err
