"""File names that are not UTF-8, anywhere in a home: nothing stops, and what is kept comes back."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.cli.test_orphan_subagents import printed_commands
from tests.running import run

from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"
STRANGE = os.fsdecode(b"caf\xe9\xff")

pytestmark = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are text there")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("find the walrus")
    t.subagent("look for it").finish("no walrus here")
    builder.session("/w/other", modified="2026-03-01T10:00Z").user("another walrus")
    root = builder.write()
    projects = root / "projects"
    plain = projects / "-w-app"
    shutil.copy(plain / f"{S}.jsonl", plain / f"{STRANGE}.jsonl")
    (plain / STRANGE / "subagents").mkdir(parents=True)
    subagents = next((plain / S / "subagents").glob("agent-*.jsonl"))
    shutil.copy(subagents, plain / STRANGE / "subagents" / f"agent-{STRANGE}.jsonl")
    shutil.copy(subagents, plain / f"agent-{STRANGE}.jsonl")
    shutil.copytree(projects / "-w-other", projects / f"-w-{STRANGE}")
    for place, content in (
        (f"plans/{STRANGE}.md", b"# a plan"), (f"todos/{STRANGE}.json", b"[]"), (f"todos/{S}-agent-{STRANGE}.json", b"[]"),
        (f"tasks/{STRANGE}/1.json", b"{}"), (f"tasks/{S}/{STRANGE}.json", b"{}"), (f"file-history/{S}/{STRANGE}", b"x"),
        (f"projects/-w-app/{S}/tool-results/{STRANGE}.txt", b"out"),
    ):  # fmt: skip
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_bytes(content)
    for path in root.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return root


COMMANDS = (
    ("overview",), ("list",), ("list", "--json"), ("list", "--jsonl"), ("search", "walrus"), ("search", "walrus", "--json"),
    ("search", "--regex", "wal.us"), ("search", "--substring", "walrus"), ("usage",), ("usage", "--json"), ("index",),
    ("sql", "select * from sessions"), ("sql", "select path from files"), ("sql", "select * from sessions", "--json"),
    ("doctor",), ("doctor", "--json"), ("check",), ("check", "--json"), ("keep",), ("keep", "--status"), ("verify",),
    ("plans",), ("plans", "--json"), ("todos",), ("todos", "--json"), ("history",), ("tools",), ("subagents", S),
    ("show", S), ("files", S), ("repair", "--all", "--dry-run"), ("migrate", "--dry-run"), ("changes",), ("split",),
)  # fmt: skip


def test_no_command_stops_and_all_it_prints_is_utf_8(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in COMMANDS:
        ran = run(capsys, root, *words)
        assert ran.code != 70, (words, ran.err)
        (ran.out + ran.err).encode("utf-8")


def files_of(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_what_is_kept_is_restored_and_undone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files_of(root)
    assert run(capsys, root, "keep").code == 0
    shutil.rmtree(root / "projects")
    for place in ("plans", "todos", "tasks", "file-history"):
        shutil.rmtree(root / place)
    (root / "projects").mkdir()
    assert run(capsys, root, "restore", "--all", "--yes").code == 0
    after = files_of(root)
    assert {name for name in before if name.startswith("projects")} <= set(after)
    assert all(after[name] == before[name] for name in after)
    assert run(capsys, root, "undo", "--yes").code == 0
    assert not any(name.startswith("projects") for name in files_of(root))


def test_every_command_that_search_prints_opens_its_hit(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in root.rglob(f"agent-{STRANGE}.jsonl"):
        path.unlink()  # copies, whose lines name another agent than their file does
    commands = printed_commands(run(capsys, root, "search", "walrus", "--limit", "50").out)
    assert len(commands) > 4
    for words in commands:
        ran = run(capsys, None, *words)
        assert ran.code == 0, (words, ran.err)


def test_sessions_of_such_names_are_changed_and_undone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files_of(root)
    rows = run(capsys, root, "list", "--json").data["rows"]
    strange = next(row["session_id"] for row in rows if row["session_id"].startswith("caf"))
    for words in (("rename", strange, "A name"), ("tag", strange, "x"), ("delete", strange, "--yes")):
        ran = run(capsys, root, *words)
        assert ran.code == 0, (words, ran.err)
        assert run(capsys, root, "undo", "--yes").code == 0
        assert files_of(root) == before


def test_bundles_carry_such_names(root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bundle = tmp_path / "one.bundle"
    told = run(capsys, root, "bundle", S, "-o", str(bundle))
    assert told.code == 0, told.err
    other = tmp_path / "other"
    (other / "projects").mkdir(parents=True)
    assert run(capsys, other, "unbundle", str(bundle), "--yes").code == 0
    name = f"projects/-w-app/{S}/tool-results/{STRANGE}.txt"
    assert (other / name).read_bytes() == b"out"


def test_a_move_takes_such_names_along(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files_of(root)
    moved = run(capsys, root, "move", "/w/app", "/w/new", "--yes")
    assert moved.code == 0, moved.err
    assert (root / "projects" / "-w-new" / f"{STRANGE}.jsonl").is_file()
    assert run(capsys, root, "undo", "--yes").code == 0
    assert files_of(root) == before


def test_a_home_of_such_a_name(root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    home = tmp_path / STRANGE
    root.rename(home)
    for words in (("search", "walrus"), ("usage",), ("sql", "select count(*) from sessions"), ("keep",), ("overview",)):
        ran = run(capsys, home, *words)
        assert ran.code == 0, (words, ran.err)
    assert run(capsys, home, "rename", S, "A name").code == 0
    assert run(capsys, home, "undo", "--yes").code == 0
