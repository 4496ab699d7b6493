"""Reading never writes: bytes, modes and times of the whole home are the same before and after every reading command."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.cli.main import COMMANDS
from recollect.testing import DAMAGES, SECRET, HomeBuilder, build_age, build_demo_home

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)

#: Every reading command with arguments that make it do its work. S stands for a session, A for one of its subagents.
READING: dict[str, list[list[str]]] = {
    "overview": [[]],
    "list": [[], ["--count"], ["--since", "2020-01-01"], ["--sort", "bytes"], ["--running"]],
    "show": [["S"], ["S", "--all", "--thinking", "--tools", "full"], ["S", "--history"], ["S", "--tools", "none"]],
    "thread": [["S"]],
    "tree": [["S"]],
    "subagents": [["S"]],
    "tools": [["S"]],
    "todos": [[], ["S"]],
    "history": [[], ["--grep", "table"]],
    "files": [["S"], ["S", "--diff"]],
    "plans": [[]],
    "config": [[]],
    "flags": [[]],
    "cat": [["S"]],
    "doctor": [[], ["--deep"]],
    "changes": [[]],
    "keep": [[], ["--full"], ["--status"], ["--compact"]],
    "completion": [["bash"]],
    "search": [["the"], ["--substring", "the"], ["--everything", "the"]],
    "secrets": [[], ["--personal", "--min-confidence", "possible"], ["S"]],
    "sql": [["SELECT count(*) FROM messages"]],
    "index": [[], ["--rebuild"]],
    "usage": [[], ["--by", "session"], ["--check"]],
    "expensive": [[]],
    "statusline": [[]],
    "check": [[], ["S"]],
    "repair": [["S"]],
    "migrate": [["--all", "--to", "2.1", "--dry-run"]],
    "budget": [[]],
    "bookmark": [[], ["add", "S"], ["list"]],
}
CHANGING = {
    "new", "append", "rename", "tag", "archive", "rewind", "todo", "undo", "fork", "move", "split", "delete", "demo",
}  # fmt: skip
#: They go on until they are ended; their own tests hold them to the same.
ENDLESS = {"watch", "serve"}
#: Commands that need a vault or a file besides the home; their own tests hold them to the same.
WITH_A_VAULT = {"verify", "restore", "prune", "bundle", "unbundle", "export"}


def test_every_command_is_either_here_or_changing() -> None:
    assert set(READING) | CHANGING | WITH_A_VAULT | ENDLESS >= set(COMMANDS)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "claude"
    build_demo_home(root, now=NOW)
    return root


@pytest.mark.parametrize("name", sorted(READING))
def test_the_demo_home(name: str, demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = sorted(path.stem for path in demo.glob("projects/*/*.jsonl") if not path.stem.startswith("agent-"))
    before = tree_state(demo)
    for arguments in READING[name]:
        for session in sessions if "S" in arguments else [""]:
            for form in ([], ["--json"], ["--jsonl"]):
                ran = run(capsys, demo, *form, name, *[session if item == "S" else item for item in arguments])
                assert ran.code in (0, 1), (arguments, session, ran.err)
                assert SECRET not in ran.out + ran.err
    assert tree_state(demo) == before


@pytest.mark.parametrize("version", ["0.2.126", "2.0.26", "2.0.77", "2.1.9", "2.1.325"])
def test_homes_of_every_age(version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "claude"
    build_age(root, version)
    sessions = [path.stem for path in root.glob("projects/*/*.jsonl") if not path.stem.startswith("agent-")]
    before = tree_state(root)
    for name, forms in READING.items():
        for arguments in forms:
            for session in sessions if "S" in arguments else [""]:
                ran = run(capsys, root, name, *[session if item == "S" else item for item in arguments])
                assert ran.code in (0, 1), (name, arguments, session, ran.err)
                assert SECRET not in ran.out + ran.err
    assert tree_state(root) == before


def test_damaged_sessions_hide_nothing_and_crash_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    names = [name for name in DAMAGES if name not in ("huge-line",)]
    for name in names:
        session = builder.session(f"/w/{name}")
        session.user("hello")
        builder.damage(session, DAMAGES[name].make(3))
    root = builder.write()
    before = tree_state(root)
    listed = run(capsys, root, "--json", "list")
    assert listed.code == 0
    assert listed.data["total"] == len(names)
    for row in listed.data["rows"]:
        for command in (["show"], ["thread"], ["tree"], ["subagents"], ["tools"], ["files"], ["todos"]):
            ran = run(capsys, root, "--json", *command, row["session_id"])
            assert ran.code in (0, 1), (row["path"], command, ran.err)
    assert run(capsys, root, "--json", "doctor").code == 1
    assert tree_state(root) == before
