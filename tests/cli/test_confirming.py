"""One rule for what takes away or rewrites: asked for on a terminal, refused without one unless --yes is said."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import edit, write

S = "aaaa0000-0000-4000-8000-000000000001"
OLD = "bbbb0000-0000-4000-8000-000000000002"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A session to change, one that needs a repair, one of an old client, a shared folder, and all of it in the vault."""
    target = tmp_path / "a.txt"
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("one", uuid="cccc0000-0000-4000-8000-000000000003")
    t.call(write(str(target), "old\n"))
    t.call(edit(str(target), "old", "new", original="old\n"))
    t.assistant("two")
    old = builder.session("/w/old", session_id=OLD, version="1.0.98", modified="2026-01-02T10:00Z")
    old.user("one")
    subagent = old.subagent("look")
    subagent.user("around")
    subagent.finish("done")
    torn = builder.session("/w/torn", modified="2026-01-02T10:00Z")
    torn.user("one")
    torn.assistant("two")
    builder.damage(torn, torn.to_bytes() + b'{"type":"user","torn')
    for cwd in ("/w/a-b", "/w-a/b"):
        builder.session(cwd, folder="-w-a-b", modified="2026-01-01T00:00Z").user("x")
    root = builder.write()
    target.write_text("mine\n")
    assert run(capsys, root, "keep").code == 0
    return root


DESTRUCTIVE = {
    "delete": ["delete", S],
    "delete a project": ["delete", "--project", "/w/app"],
    "move": ["move", "/w/app", "/w/new"],
    "split": ["split", "-w-a-b", "--project", "/w-a/b", "--name", "b"],
    "files --write": ["files", S, "a.txt", "--at", "start", "--write", "--before"],
    "prune": ["prune", "--larger", "1", "--apply"],
    "repair": ["repair", "--all", "--apply"],
    "migrate": ["migrate", OLD, "--to", "2.1", "--apply"],
    "migrate all": ["migrate", "--all", "--to", "2.1", "--apply"],
    "keep --install": ["keep", "--install", "hook"],
}


def state(root: Path) -> object:
    return tree_state(root), (root.parent / "a.txt").read_bytes() if (root.parent / "a.txt").exists() else None


@pytest.mark.parametrize("name", DESTRUCTIVE)
def test_without_a_terminal_it_needs_yes(name: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = state(root)
    refused = run(capsys, root, *DESTRUCTIVE[name])
    assert refused.code == 6
    assert "not-confirmed" in refused.err and "--yes" in refused.err
    assert state(root) == before
    assert run(capsys, root, *DESTRUCTIVE[name], "--yes").code == 0
    assert state(root) != before


@pytest.mark.parametrize("name", DESTRUCTIVE)
def test_no_means_that_nothing_is_done(
    name: str, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(root)
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    declined = run(capsys, root, *DESTRUCTIVE[name])
    assert declined.code == 6
    assert "nothing was done" in declined.err and "interrupted" not in declined.err
    assert state(root) == before
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert run(capsys, root, *DESTRUCTIVE[name]).code == 0
    assert state(root) != before


def test_one_question_for_all_repairs(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    second = next(root.glob("projects/-w-app/*.jsonl"))
    second.write_bytes(second.read_bytes() + b'{"type":"user","torn')
    os.utime(second, (1_600_000_000, 1_600_000_000))
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))  # a second question would find no answer
    done = run(capsys, root, "repair", "--all", "--apply", "--json")
    assert done.code == 0
    assert [row["change"] for row in done.data["rows"]] == [1, 2]
    assert done.err.count("Repair every session") == 1


def test_what_only_adds_is_done_at_once(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = str(tmp_path / "talk.recollect")
    assert run(capsys, root, "bundle", S, "-o", bundle).code == 0
    assert run(capsys, root, "delete", S, "--yes").code == 0
    for arguments in (["unbundle", bundle], ["append", S, "--role", "user", "x"], ["fork", S], ["rename", S, "T"]):
        assert run(capsys, root, *arguments).code == 0, arguments
    assert run(capsys, root, "repair", "--all", "--fork", "--apply").code == 0


def test_a_restore_over_something_older_is_asked_for(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(root.glob(f"projects/*/{S}.jsonl"))
    os.truncate(path, 20)
    os.utime(path, (1_600_000_000, 1_600_000_000))
    assert run(capsys, root, "restore", S).code == 6
    assert path.stat().st_size == 20
    assert run(capsys, root, "restore", S, "--yes").code == 0
    assert path.stat().st_size > 20


@pytest.mark.parametrize("path", ["/", "//", ""])
def test_the_whole_disk_is_no_project(path: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["delete", "--project", path, "--dry-run"], ["move", path, "/w/x", "--dry-run"]):
        refused = run(capsys, root, *arguments)
        assert refused.code == (2 if path == "" else 6)
        assert refused.out == ""
