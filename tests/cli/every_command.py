"""One command line for every command, each of which does its work on the scene here: for tests of what holds for all of them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from recollect.cli.main import main
from recollect.testing.demo import DEMO_NOW, build_demo_home

SESSION, WITH_SUBAGENTS, TORN = "6d9e2e53", "ce773264", "7a870939"
#: Goes on until it is interrupted, so it has tests of its own.
ENDLESS = {"watch", "serve"}
CHANGES_HOME = {
    "repair", "restore", "prune", "unbundle", "new", "append", "rename", "tag", "archive", "rewind", "fork", "move", "delete",
    "todo", "undo",
}  # fmt: skip
CHANGES_OWN = {"keep", "bundle", "bookmark", "demo", "export"}


class Everything:
    """A demo home of which a part is kept in a vault, with a change to undo and a bundle to take in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = root / "now"
        self.home = self.now / "claude"
        self.own = self.now / "own"
        self._prepared = root / "prepared"
        self._prepare()

    @property
    def environment(self) -> dict[str, str]:
        own = {f"RECOLLECT_{kind}_DIR": str(self.own / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")}
        return {**os.environ, **own, "CLAUDE_CONFIG_DIR": str(self.home)}

    @property
    def environment_without_path(self) -> dict[str, str]:
        return {name: value for name, value in self.environment.items() if name != "PATH"}

    def _prepare(self) -> None:
        build_demo_home(self.home, now=DEMO_NOW)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            for line in (
                ["--home", str(self.home), "bundle", WITH_SUBAGENTS, "--output", str(self.now / "one.bundle")],
                ["delete", WITH_SUBAGENTS, "--yes"],
                ["keep", "--quiet"],
                ["rename", SESSION, "Shopping"],
            ):
                assert main(line) == 0, line
            (path,) = self.home.glob(f"projects/*/{SESSION}*.jsonl")
            self.message = [row["uuid"] for row in map(json.loads, path.open()) if row.get("type") == "user"][-1]
            (path,) = self.home.glob("projects/*/b90a7926*.jsonl")
            path.write_bytes(path.read_bytes() + b"\n")  # something new to keep
            (kept,) = self.home.glob("projects/*/b8714bfb*.jsonl")
            kept.unlink()  # something to restore
        (self.now / "project").mkdir()
        shutil.copytree(self.now, self._prepared, symlinks=True)

    def reset(self) -> None:
        """Everything as it was prepared, in the same place."""
        shutil.rmtree(self.now)
        shutil.copytree(self._prepared, self.now, symlinks=True)

    def line(self, name: str) -> list[str]:
        """The words of a command, its name first."""
        return [name, *self.lines[name]]

    @property
    def lines(self) -> dict[str, list[str]]:
        return {
            "overview": [],
            "list": [],
            "show": [SESSION],
            "search": ["--regex", "reci.e"],
            "sql": ["SELECT project, count(*) FROM sessions GROUP BY ALL"],
            "index": [],
            "secrets": [],
            "export": [SESSION, "--format", "md", "-o", str(self.now / "exported.md")],
            "thread": [SESSION],
            "tree": [SESSION],
            "subagents": ["a5a05221"],
            "watch": [SESSION, "--from-start"],
            "tools": [SESSION],
            "usage": ["--json"],
            "expensive": [],
            "budget": [],
            "statusline": [],
            "todos": [],
            "history": [],
            "files": [SESSION],
            "plans": [],
            "config": [],
            "flags": [],
            "cat": [SESSION],
            "doctor": [],
            "check": [SESSION],
            "repair": [TORN, "--apply", "--yes"],
            "migrate": [SESSION],
            "keep": [],
            "verify": [],
            "restore": ["b8714bfb"],
            "prune": ["--larger", "1", "--apply", "--yes"],
            "bundle": [SESSION, "--output", str(self.now / "two.bundle")],
            "unbundle": [str(self.now / "one.bundle"), "--yes"],
            "new": ["--project", str(self.now / "project")],
            "append": [SESSION, "--role", "user", "more"],
            "rename": [SESSION, "Another title"],
            "tag": [SESSION, "mine"],
            "bookmark": ["add", SESSION],
            "archive": [SESSION],
            "rewind": [SESSION, self.message],
            "fork": [SESSION],
            "move": ["/home/ada/code/marmalade", "/home/ada/code/jam", "--yes"],
            "split": [],
            "delete": [SESSION, "--yes"],
            "todo": [SESSION, "add", "more"],
            "undo": ["--yes"],
            "changes": [],
            "serve": ["--port", "0"],
            "completion": ["bash"],
            "demo": [str(self.now / "made")],
        }
