"""Subagents whose main transcript is gone: found, listed, and opened, in every layout."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import HomeBuilder

LAYOUTS = ("subagents", "beside", "workflow", "nameless")
S = "aaaa0000-0000-4000-8000-000000000001"


@pytest.fixture(params=LAYOUTS)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("go")
    t.subagent("look for the walrus").finish("no walrus here")
    root = builder.write()
    main = root / "projects" / "-w-app" / f"{S}.jsonl"
    main.unlink()
    (subagent,) = main.with_suffix("").rglob("agent-*.jsonl")
    if request.param == "workflow":
        target = subagent.parent / "workflows" / "run-1" / subagent.name
        target.parent.mkdir(parents=True)
        subagent.rename(target)
    elif request.param != "subagents":
        target = main.parent / subagent.name
        subagent.rename(target)
        for meta in subagent.parent.glob("*.meta.json"):
            meta.unlink()
        if request.param == "nameless":
            target.write_bytes(target.read_bytes().replace(b'"sessionId"', b'"sessionWas"'))
    return root


def printed_commands(out: str) -> list[list[str]]:
    """The arguments of every command that a search prints."""
    lines = (line.partition("recollect ") for line in out.splitlines())
    return [shlex.split(words.partition("  ")[0]) for _, found, words in lines if found]


@pytest.mark.parametrize("mode", [(), ("--regex",), ("--substring",)], ids=" ".join)
def test_every_command_that_search_prints_works(
    root: Path, mode: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    commands = printed_commands(run(capsys, root, "search", *mode, "walrus").out)
    assert commands
    for words in commands:
        ran = run(capsys, None, *words)
        assert ran.code == 0, (words, ran.err)
        assert "walrus" in ran.out


def test_it_is_listed_shown_and_written_out(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(root)
    (row,) = run(capsys, root, "list", "--json").data["rows"]
    assert "main transcript is gone" in row["problem"] and row["subagents"] == 1
    name = row["session_id"]
    (subagent,) = run(capsys, root, "subagents", name, "--json").data["rows"]
    assert "walrus" in run(capsys, root, "show", name).out
    assert "walrus" in run(capsys, root, "show", name, "--subagent", subagent["subagent_id"]).out
    data = Path(subagent["path"]).read_text()
    assert run(capsys, root, "cat", name).out == data
    assert run(capsys, root, "cat", name, "--subagent", subagent["subagent_id"]).out == data
    assert "only subagents are left" in run(capsys, root, "overview").out
    for words in (("thread", name), ("tree", name), ("check", name), ("files", name), ("tools", name), ("todos", name)):
        assert run(capsys, root, *words).code in (0, 1, 3), words
    assert tree_state(root) == before


def test_it_is_not_written_to(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = run(capsys, root, "list", "--json").data["rows"]
    before = tree_state(root)
    for words in (("append", row["session_id"], "--role", "user", "x"), ("rename", row["session_id"], "x"),
                  ("fork", row["session_id"]), ("tag", row["session_id"], "x")):  # fmt: skip
        ran = run(capsys, root, *words)
        assert ran.code in (3, 6), (words, ran.code, ran.err)
    assert tree_state(root) == before


def test_what_the_vault_has_whole_is_opened_from_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    t = builder.session("/w/app", session_id=S, modified="2026-03-02T10:00Z")
    t.user("a whale of a prompt")
    t.subagent("look").finish("done")
    root = builder.write()
    assert run(capsys, root, "keep").code == 0
    os.unlink(root / "projects" / "-w-app" / f"{S}.jsonl")
    (row,) = run(capsys, root, "list", "--json").data["rows"]
    assert row["kept"] is True
    assert "whale" in run(capsys, root, "show", S).out
